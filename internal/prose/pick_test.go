package prose

import (
	"strings"
	"testing"
)

func TestPicks(t *testing.T) {
	for prompt, want := range map[string]string{
		"A for all calls via go-git. Direct requests should do B instead.": "A B",
		"option 2":                            "2",
		"2":                                   "2",
		"let's go with option B, please":      "B",
		"fix 1, and 3":                        "1 3",
		"add a fix for #2 and #4":             "2 4",
		"A test first, then the code":         "",
		"wait 5 minutes and 10 seconds":       "10",
		"1 and then 3":                        "1 3",
		"I think it is fine":                  "",
		"yes":                                 "",
		"do 1 and 2 and 3 and 4 and 5":        "1 2 3 4",
		"upgrade it to version 2 of the tool": "",
	} {
		if got := strings.Join(Picks(prompt), " "); got != want {
			t.Errorf("%s: got %q, want %q", prompt, got, want)
		}
	}
	for line, want := range map[string]bool{"1. One": true, "B) two": true, "c. Three": true,
		"Z. Nine": false, "Begin": false, "a": false, "A test": false} {
		if got := IsMarked(line); got != want {
			t.Errorf("%q is marked: %v", line, got)
		}
	}
	for _, c := range []struct {
		line, mark string
		want       bool
	}{
		{"A | `git-sync/0.5.0` | keeps the name", "A", true},
		{"2. Read it once", "2", true}, {"**2. Read it once**", "2", true},
		{"Option B: the server", "B", true}, {"**Option B** — the server", "B", true},
		{"20. Read it once", "2", false}, {"A test", "A", false}, {"2 of them", "2", false},
	} {
		if got := IsPicked(c.line, c.mark); got != c.want {
			t.Errorf("%q, %s: got %v", c.line, c.mark, got)
		}
	}
}
