package tokens

import (
	"strings"
	"testing"
)

// TestTable checks that every form of the table can be searched, and has a source.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Table() {
		if s.Class == "" || s.Source == "" || seen[s.Pattern] {
			t.Errorf("%+v has no class or source, or is there twice", s)
		}
		seen[s.Pattern] = true
		if a := anchorOf(s.Pattern); len(a.text) < 2 {
			t.Errorf("%s: nothing to look for", s.Pattern)
		}
		if err := Check(s.Pattern); err != nil && err != errNoAnchor &&
			!strings.Contains(err.Error(), "visible") && !s.Sure {
			t.Errorf("%s: %v", s.Pattern, err)
		}
	}
}
