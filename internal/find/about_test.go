package find

import "testing"

func TestFileNames(t *testing.T) {
	for _, c := range []struct {
		file, text string
		want       bool
	}{
		{"lamps/wick.go", "never touch wick.go", true},
		{"lamps/wick.go", "`lamps/wick.go`: leave it.", true},
		{"lamps/wick.go", "see /src/p/lamps/wick.go:12", true},
		{"/elsewhere/lamps/wick.go", "lamps/wick.go stays", true},
		{"lamps/oil/can.go", "all of lamps/oil/ is made by a program", true},
		{"lamps/oil/can.go", `lamps\oil is made by a program`, true},
		{".golangci.yaml", "add it to .golangci.yaml", true},
		{"lamps/wick.go", "lamps are lit, and so is wick", false},
		{"lamps/wick.go", "wick.go.orig and candlewick.go", false},
		{"lamps/wick.go", "tables/wick.go", false},
		{"docs/a.md", "docs are fine", false},
		{"lamps/wick.go", "", false},
	} {
		if got := fileNamed(c.file).in(c.text); got != c.want {
			t.Errorf("%q in %q: %t", c.file, c.text, got)
		}
	}
}
