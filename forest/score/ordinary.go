package score

import (
	_ "embed" // the table
	"slices"
	"strconv"
	"strings"
	"sync"
)

// ordinaryText holds the terms of the words in ordinary_test.go, in order, each in eight digits: a
// process would need longer to look at the words than to append a message.
//
//go:embed ordinary.txt
var ordinaryText string

var ordinary struct {
	once  sync.Once
	terms []uint32
}

// isOrdinary reports whether a term does not separate topics where people work on programs or talk
// about them. The units so far show which terms are common only after a while; the table serves
// until then.
func isOrdinary(key uint32) bool {
	ordinary.once.Do(func() {
		for line := range strings.Lines(ordinaryText) {
			n, _ := strconv.ParseUint(strings.TrimSpace(line), 16, 32) // a test has looked
			ordinary.terms = append(ordinary.terms, uint32(n))
		}
	})
	_, found := slices.BinarySearch(ordinary.terms, key)
	return found
}
