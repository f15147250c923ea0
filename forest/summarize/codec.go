package summarize

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/format"
)

// Media is the media type of what Encode writes.
const Media = "application/vnd.ctx.extract+json"

// Encode returns list as the body of a stored summary: a JSON array with one sentence a line, in the order of list, ended by
// a newline:
//
//	[
//	{"entry":"<64 digits>","seq":3,"pos":0,"weight":1250,"text":"Use port 5433."},
//	{"entry":"<64 digits>","seq":9,"pos":2,"weight":800,"text":"It is 16.2."}
//	]
//
// In strings only the quote, the backslash and the control characters below U+0020 are escaped, as \n, \r, \t or \u00xx with
// small digits. A byte that is not UTF-8 becomes U+FFFD. Equal lists have equal encodings.
func Encode(list []Sentence) []byte {
	out := []byte("[\n")
	for i, s := range list {
		out = append(out, `{"entry":"`...)
		out = append(out, s.Entry.String()...)
		out = append(out, `","seq":`...)
		out = strconv.AppendUint(out, s.Seq, 10)
		out = append(out, `,"pos":`...)
		out = strconv.AppendInt(out, int64(s.Pos), 10)
		out = append(out, `,"weight":`...)
		out = strconv.AppendInt(out, s.Weight, 10)
		out = append(out, `,"text":`...)
		out = appendString(out, s.Text)
		out = append(out, '}')
		if i < len(list)-1 {
			out = append(out, ',')
		}
		out = append(out, '\n')
	}
	return append(out, "]\n"...)
}

// Decode reads what Encode writes and nothing else: other keys, their order, spaces, escapes and forms of numbers are
// refused, as are an empty text and a negative position. An empty array gives nil.
func Decode(b []byte) ([]Sentence, error) {
	if len(b) > format.MaxBody {
		return nil, fmt.Errorf("extract has %d bytes, %d is the most", len(b), format.MaxBody)
	}
	var lines []struct {
		Entry  string `json:"entry"`
		Seq    uint64 `json:"seq"`
		Pos    int    `json:"pos"`
		Weight int64  `json:"weight"`
		Text   string `json:"text"`
	}
	if err := json.Unmarshal(b, &lines); err != nil {
		return nil, fmt.Errorf("extract: %w", err)
	}
	var list []Sentence
	for i, l := range lines {
		id, err := format.ParseID(l.Entry)
		if err != nil {
			return nil, fmt.Errorf("extract: sentence %d: %w", i, err)
		}
		if l.Text == "" || l.Pos < 0 {
			return nil, fmt.Errorf("extract: sentence %d: no text or bad position", i)
		}
		list = append(list, Sentence{Entry: id, Seq: l.Seq, Pos: l.Pos, Weight: l.Weight, Text: l.Text})
	}
	if !bytes.Equal(Encode(list), b) {
		return nil, errors.New("extract is not in its one encoding")
	}
	return list, nil
}

func appendString(out []byte, s string) []byte {
	const digits = "0123456789abcdef"
	out = append(out, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		case r == '\n':
			out = append(out, `\n`...)
		case r == '\r':
			out = append(out, `\r`...)
		case r == '\t':
			out = append(out, `\t`...)
		case r < ' ':
			out = append(out, '\\', 'u', '0', '0', digits[r>>4], digits[r&15])
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return append(out, '"')
}
