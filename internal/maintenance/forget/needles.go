package forget

import (
	"bytes"
	"encoding/json"
	"slices"
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

// In reports whether the text stands in bytes, or in a string of what these are as JSON.
func (n needle) in(b []byte) bool {
	for _, form := range n {
		if bytes.Contains(b, form) {
			return true
		}
	}
	return n.inStrings(b, maxStrings)
}

// maxStrings is how often a string of JSON is taken for JSON itself.
const maxStrings = 4

func (n needle) inStrings(b []byte, depth int) bool {
	b = bytes.TrimSpace(b)
	if depth == 0 || len(b) == 0 || b[0] != '[' && b[0] != '{' {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(b))
	for {
		token, err := d.Token()
		if err != nil {
			return false
		}
		if s, ok := token.(string); ok &&
			(bytes.Contains([]byte(s), n[0]) || n.inStrings([]byte(s), depth-1)) {
			return true
		}
	}
}
