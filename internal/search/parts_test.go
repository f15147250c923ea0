package search_test

import (
	"testing"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/internal/search"
)

// The words of a query are found as parts of others, whatever their case and accents, and in the
// second place whatever marks stand within them.
func TestParts(t *testing.T) {
	for _, c := range []struct{ query, text, as, bare string }{
		{"1.2.3", "tagged v1.2.3-rc.1", "1.2.3", "1.2.3"},
		{"v1.2.3", "tagged 1.2.3", "", "1.2.3"},
		{"1.2.3", "it is 12.3 here", "", ""},
		{"username", "call getUserName()", "UserName", "UserName"},
		{"getUserName", "def get_user_name()", "", "get_user_name"},
		{"a1b2c3d", "commit a1b2c3d4e5f6", "a1b2c3d", "a1b2c3d"},
		{"Bahn?", "die AUTOBAHNRASTSTÄTTE", "BAHN", "BAHN"},
		{"strasse", "in der Hauptstraße 1", "straße", "straße"},
		{"ключ", "КЛЮЧАМИ", "КЛЮЧ", "КЛЮЧ"},
		{"dont", "please don’t ask", "", "don’t"},
		{"utf8", "encoded as UTF-8 there", "", "UTF-8"},
		{"c++", "in C++17 mostly", "C++", "C++"},
		{"🎉", "done 🎉!", "🎉", "🎉"},
		{"👍", "ok 👍🏽", "👍", "👍"},
		{"rast bahn", "Autobahnrasthof", "rast", "rast"},
		{`"bahn rast"`, "Autobahnrasthof", "", ""},
		{`"bahn rast"`, "die bahn rastet", "bahn rast", "bahn rast"},
		{"lost", "nothing here", "", ""},
		{" ?! ", "nothing here?!", "", ""},
	} {
		as, bare := search.PartsOf(c.query)
		for _, p := range []struct {
			search.Parts
			want string
		}{{as, c.as}, {bare, c.bare}} {
			got := ""
			if at := p.FindStringIndex(c.text); at != nil {
				got = c.text[at[0]:at[1]]
			}
			if got != p.want {
				t.Errorf("%q in %q: got %q, want %q", c.query, c.text, got, p.want)
			}
		}
	}
}

func FuzzParts(f *testing.F) {
	f.Add("user name", "getUserName isn’t x²")
	f.Add(`"a b" c`, "A B ﬁ c\xff")
	f.Fuzz(func(t *testing.T, query, text string) {
		as, bare := search.PartsOf(query)
		for _, p := range []search.Parts{as, bare} {
			at := p.FindStringIndex(text)
			if at == nil {
				continue
			}
			if at[0] < 0 || at[0] > at[1] || at[1] > len(text) {
				t.Fatalf("%v of %d bytes", at, len(text))
			}
			if utf8.ValidString(text) && !utf8.ValidString(text[:at[0]]) {
				t.Fatalf("%v parts a letter", at)
			}
		}
	})
}
