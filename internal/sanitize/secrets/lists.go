package secrets

import (
	_ "embed" // the words
	"strings"
	"sync"
)

// isListed reports whether a word is in a list of lists.txt.
func isListed(list, word string) bool {
	makeLists.Do(func() {
		listed = map[string]map[string]bool{}
		words := map[string]bool{}
		for line := range strings.SplitSeq(listText, "\n") {
			if strings.HasPrefix(line, "#") {
				continue
			}
			for word := range strings.FieldsSeq(line) {
				if name, ok := strings.CutSuffix(word, ":"); ok {
					words = map[string]bool{}
					listed[name] = words
				} else {
					words[word] = true
				}
			}
		}
	})
	return listed[list][word]
}

// isVendor reports whether word is the name of a service that hands out keys.
func isVendor(word string) bool {
	return isListed("vendor", word) || isListed("vendor", strings.TrimSuffix(word, "api"))
}

var (
	listed    map[string]map[string]bool // the words of each list
	makeLists sync.Once
)

//go:embed lists.txt
var listText string
