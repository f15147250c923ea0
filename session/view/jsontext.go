package view

import (
	"bytes"
	"encoding/json"
)

// encode writes v as JSON on one line. Characters of HTML stay as they are: a reader sees what was said. What is encoded here
// holds strings, numbers and JSON that was read before, so there is nothing to fail on; the text of an error would show.
func encode(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return quoteJSON(err.Error())
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// quoteJSON writes s as a JSON string.
func quoteJSON(s string) string { return encode(s) }

// innerJSON is quoteJSON without the quotes: what s adds to a string that is written piece by piece.
func innerJSON(s string) string {
	q := quoteJSON(s)
	return q[1 : len(q)-1]
}

// compact takes the white space out of JSON; what is not JSON is returned as it is.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}
