package secrets

import (
	_ "embed" // the names
	"strings"
	"sync"
)

// isVendor reports whether word is the name of a service that hands out keys.
func isVendor(word string) bool {
	makeVendors.Do(func() {
		vendors = map[string]bool{}
		for name := range strings.FieldsSeq(vendorNames) {
			vendors[name] = true
		}
	})
	return vendors[word] || vendors[strings.TrimSuffix(word, "api")]
}

var (
	vendors     map[string]bool
	makeVendors sync.Once
)

// vendorNames lists services that hand out keys. The sources are the names of the rules of
// github.com/mongodb/kingfisher (data/rules) and of the detectors of
// github.com/trufflesecurity/trufflehog (pkg/detectors), without words that programs use often.
//
//go:embed vendors.txt
var vendorNames string
