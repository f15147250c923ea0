package repo_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/repo"
)

// TestConfigPatterns gives the user's own patterns of secrets, and some that cannot be or from
// where they are not taken.
func TestConfigPatterns(t *testing.T) {
	w := newWorld(t)
	c := w.init().Config
	if got, err := c.Get("sanitize.extra"); err != nil || got.Value != "[]" ||
		len(c.Sanitize.Extra) > 0 {
		t.Errorf("without a setting: %v, %v", got, err)
	}
	user := filepath.Join(w.home, "config.toml")
	w.env.UserConfig = user
	w.write(user, "[sanitize]\nextra = [\"acme-{X12}\", \"{d6}-corp-({h16})\"]\n")
	if got := w.open().Config.Sanitize.Extra; !slices.Equal(got,
		[]string{"acme-{X12}", "{d6}-corp-({h16})"}) {
		t.Errorf("got %q", got)
	}
	for text, want := range map[string]string{
		`extra = ["a{n20}"]`:   "three characters in a row",
		`extra = ["acme{n3}"]`: "its runs have 3 characters",
		`extra = "acme{n20}"`:  "not an array of strings",
		`extra = ["acme-` + strings.Repeat("x", 200) + `{n20}"]`: "more than 200 bytes",
		`extra = [` + strings.Repeat(`"acme-{n20}",`, 257) + `]`: "more than 256 patterns",
	} {
		w.write(user, "[sanitize]\n"+text+"\n")
		if _, err := repo.Open(w.env); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want %q", text, err, want)
		}
	}
	w.write(user, "")
	w.env.Overrides = []string{`sanitize.extra=["acme-{n20}"]`}
	if _, err := repo.Open(w.env); err == nil ||
		!strings.Contains(err.Error(), "own config file only") {
		t.Errorf("from the command line: %v", err)
	}
}
