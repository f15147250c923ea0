package search

import (
	"strings"
	"testing"
)

func TestWordPatterns(t *testing.T) {
	tests := []struct {
		query, text   string
		whole, within bool
	}{
		{"do the same for those", "Do the same for those!", true, true},
		{"do the same for those", "now do the same, for those too", false, true},
		{"do the same", "undo the same", false, false},
		{"what is it", "what it is", false, false},
		{"c'est là", "C’EST LÀ ?", true, true},
		{"a.b (c", "a.b (c", true, true},
		{"a.b", "axb", false, false},
		{strings.Repeat("to be ", 100), strings.Repeat("to be ", 90), true, true},
	}
	for _, tt := range tests {
		whole, within := WordPatterns(tt.query)
		if whole.MatchString(tt.text) != tt.whole || within.MatchString(tt.text) != tt.within {
			t.Errorf("%.20q in %.20q: whole %v, within %v", tt.query, tt.text,
				!tt.whole, !tt.within)
		}
	}
	if whole, within := WordPatterns("?! …"); whole != nil || within != nil {
		t.Error("a text without words has patterns")
	}
}
