package script_test

import (
	"testing"

	"github.com/gemini-ctx/ctx/internal/script"
)

// Where each command `here` of a script runs.
func TestPlace(t *testing.T) {
	for _, c := range []struct{ begins, script, want string }{
		{"", "here", ""},
		{"", "cd a && here; cd b && here; cd /c; here", "a a/b /c"},
		{"/w", "cd a; here; cd ..; here", "/w/a /w"},
		{"", "cd /tmp/x && here; cd - ; here", "/tmp/x "},
		{"/w", "cd a; cd b; cd - && here; cd - && here", "/w/a /w/a/b"},
		{"", "pushd a; here; pushd b; popd; here; popd; here", "a a "},
		{"/w", "(cd /tmp; here); here", "/tmp /w"},
		{"", "cd -P a; here; cd -- b; here", "a a/b"},
		{"/w", "cd; here; popd; here", "/w /w"},
	} {
		p, got := script.From(c.begins, script.Join), ""
		for _, one := range script.Read(c.script) {
			if len(one.Words) > 0 && !p.Go(one.Words) && one.Words[0] == "here" {
				got += " " + p.Dir
			}
		}
		if got != " "+c.want {
			t.Errorf("%q: in%s, want %s", c.script, got, c.want)
		}
	}
}
