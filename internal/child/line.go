package child

import (
	"strings"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/sanitize"
)

// OneLine makes a text from outside fit to be shown to people: without secrets, control characters
// and line ends, at most most bytes and an ellipsis.
func OneLine(s string, most int) string {
	s = s[:min(len(s), 8*most)]
	clean, _, err := sanitize.Text([]byte(sanitize.Shown(s)))
	if err != nil {
		return ""
	}
	s = strings.Join(strings.Fields(string(clean)), " ")
	if len(s) <= most {
		return s
	}
	cut := most
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
