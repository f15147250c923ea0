package forget

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// needle is a text in the forms in which it may stand in a body.
type needle [][]byte

// needles returns a text as it is, and as JSON writes it, once and twice: a tool may print JSON,
// which is then a string of a message's parts.
func needles(text string) needle {
	n := needle{[]byte(text)}
	for level := []string{text}; len(n) < 9; {
		var next []string
		for _, s := range level {
			for _, html := range []bool{true, false} {
				next = append(next, quoted(s, html))
			}
		}
		before := len(n)
		for _, s := range next {
			if !slices.ContainsFunc(n, func(b []byte) bool { return string(b) == s }) {
				n = append(n, []byte(s))
			}
		}
		if level = next; len(n) == before || len(level) > 4 {
			break
		}
	}
	return n
}

// quoted is a text between the quotes of a JSON string.
func quoted(s string, html bool) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(html)
	if e.Encode(s) != nil {
		return s
	}
	out := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	return string(out[1 : len(out)-1])
}

// in reports whether the text stands in bytes, or in a string of what these are as JSON.
func (n needle) in(b []byte) bool {
	found := slices.ContainsFunc(n, func(form []byte) bool { return bytes.Contains(b, form) })
	if !found {
		text := string(n[0])
		jsonvalue.Texts(b, func(s string) { found = found || strings.Contains(s, text) })
	}
	return found
}
