package view

import (
	"encoding/json"
	"strings"
	"unicode"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/sanitize"
)

// escapeQuoted escapes a quotation so that it contains no tag, no heading and no entity of its own:
// it escapes a less-than sign that could begin a tag, an ampersand that could begin an entity, and
// code fences. It removes what nobody sees. Everything else stays, such as commands and
// comparisons, because people search for these words.
func escapeQuoted(s string) string {
	s = sanitize.Shown(s)
	if !strings.ContainsAny(s, "<&`") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '<' && opens(s[i+1:]):
			b.WriteString("&lt;")
		case s[i] == '&' && isEntity(s[i+1:]):
			b.WriteString("&amp;")
		case strings.HasPrefix(s[i:], "```"):
			b.WriteString("'''")
			i += len("```") - 1
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// opens reports whether a less-than sign before s could begin a tag. No name begins with a digit,
// but lines of the block do: see unlisted.
func opens(s string) bool {
	if rest := strings.TrimLeft(s, "0123456789"); len(rest) < len(s) {
		return strings.HasPrefix(rest, " ")
	}
	return s != "" && (isAlnum(s[0]) || s[0] == '/' || s[0] == '!' || s[0] == '?' || s[0] >= 0x80)
}

// isEntity reports whether an ampersand before s would be read as the start of an entity.
func isEntity(s string) bool {
	n := 0
	for n < len(s) && n < 10 && (isAlnum(s[n]) || s[n] == '#') {
		n++
	}
	return n > 0 && n < len(s) && s[n] == ';'
}

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// Escape escapes a quotation as the block does, for quotations in other places.
func Escape(s string) string { return escapeQuoted(s) }

// NameText is nameText for other places.
func NameText(name string) string { return nameText(name) }

// oneLine makes a sentence one line, so that a quotation cannot begin a line of the block.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// nameText is the name of a session or of an author as it stands in a line of ours. A name that may
// be read as more than a name, such as a sentence, is quoted.
func nameText(name string) string {
	plain := strings.Count(name, " ") < 3
	for _, c := range name {
		plain = plain && (unicode.In(c, unicode.L, unicode.Mn, unicode.Mc, unicode.N) ||
			strings.ContainsRune(" -_.,@+/~()#'", c))
	}
	if plain {
		return name
	}
	return `"` + strings.ReplaceAll(sanitize.Line(name), `"`, "'") + `"`
}

// tidy removes blank lines and spaces at the ends of lines.
func tidy(s string) string {
	var lines []string
	for l := range strings.SplitSeq(s, "\n") {
		if l = strings.TrimRight(l, " \t\r"); strings.TrimSpace(l) != "" {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines, "\n")
}

// encode writes v as JSON on one line. The values here hold strings, numbers and JSON that was read
// before, so they can all be written.
func encode(v any) string { return string(jsonvalue.Encode(v)) }

// innerJSON returns s as a JSON string without its quotes, as a piece of a longer string.
func innerJSON(s string) string {
	q := encode(s)
	return q[1 : len(q)-1]
}

// compact takes the white space out of JSON. What is not JSON is returned as it is.
func compact(raw json.RawMessage) string { return string(jsonvalue.Compact(raw)) }
