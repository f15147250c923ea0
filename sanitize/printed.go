package sanitize

import (
	"bytes"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/sanitize/secrets"
)

// Prints says whether what a command prints is a secret of which nothing but the command says so.
// Its method Values returns the secrets in what the command printed.
type Prints = secrets.Prints

// PrintedBy says what a simple command prints: nothing but a secret, as `pass show` does, or what
// it is given the name of, as `printenv DB_PASSWORD` does, or other things.
func PrintedBy(words []string) Prints { return secrets.PrintedBy(words) }

// Known returns a text, or JSON, with a marker in place of each of some values that are known to be
// secrets. It returns b itself if it has none of them.
func Known(b []byte, values []string) ([]byte, []Finding) {
	var t tally
	values = slices.SortedFunc(slices.Values(values), func(a, b string) int {
		return len(b) - len(a) // one may be in another
	})
	for _, v := range values {
		inJSON := strings.Trim(string(jsonvalue.Encode(v)), `"`)
		for _, form := range []string{v, inJSON} {
			if n := bytes.Count(b, []byte(form)); n > 0 && form != "" {
				b = bytes.ReplaceAll(b, []byte(form), []byte(secrets.Marker("password")))
				t.add("password", n)
			}
		}
	}
	return b, t.findings()
}
