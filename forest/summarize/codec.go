package summarize

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/format"
)

// Media is the media type of the output of Encode.
const Media = "application/vnd.ctx.extract+json"

// Encode returns list as the body of a stored summary: a JSON array with one sentence per line, in
// the order of list, and a newline at its end:
//
//	[
//	{"entry":"<64 digits>","seq":3,"pos":0,"weight":1250,"text":"Use port 5433."},
//	{"entry":"<64 digits>","seq":9,"role":"tool","pos":2,"weight":800,"text":"It is 16.2."}
//	]
//
// The role is omitted if it is user or unknown. In strings only the quote, the backslash and the
// control characters below U+0020 are escaped, as \n, \r, \t or \u00xx with lower-case digits. A
// byte that is not UTF-8 becomes U+FFFD. Equal lists have equal encodings.
func Encode(list []Sentence) []byte {
	out := []byte("[\n")
	for i := range list {
		s := list[i].stored()
		if out = s.Append(out); i < len(list)-1 {
			out = append(out, ',')
		}
		out = append(out, '\n')
	}
	return append(out, "]\n"...)
}

// stored returns a sentence as a line has it.
func (s *Sentence) stored() format.Sentence {
	line := format.Sentence{Entry: s.Entry, Seq: s.Seq, Pos: int64(s.Pos), Weight: s.Weight,
		Text: []byte(valid(s.Text)), Plain: true}
	if s.Role != "" && s.Role != user {
		line.Role = format.AppendEscaped(nil, []byte(valid(s.Role)))
	}
	return line
}

// valid returns a text with U+FFFD for each byte that is not UTF-8.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.Map(func(r rune) rune { return r }, s)
}

// Decode decodes the output of Encode and refuses everything else: other keys, another order,
// spaces, other escapes and forms of numbers, an empty text and a negative position. An empty array
// gives nil.
func Decode(b []byte) ([]Sentence, error) {
	list, _, err := DecodeSome(b, maxInt)
	return list, err
}

// errForm says that a list is not what Encode makes.
var errForm = errors.New("extract is not in its one encoding")

// DecodeSome is Decode for the beginning of a list. It stops after the sentence with which the
// texts reach most bytes. unread is the number of sentences after it, which are not checked.
func DecodeSome(b []byte, most int) (list []Sentence, unread int, err error) {
	if len(b) > format.MaxBody {
		return nil, 0, fmt.Errorf("extract has %d bytes, %d is the most", len(b), format.MaxBody)
	}
	rest, begins := bytes.CutPrefix(b, []byte("[\n"))
	rest, ends := bytes.CutSuffix(rest, []byte("]\n"))
	if !begins || !ends {
		return nil, 0, errForm
	}
	var room []byte
	for size := 0; len(rest) > 0; size += len(list[len(list)-1].Text) {
		if size >= most {
			return list, max(1, bytes.Count(rest, []byte("\n"))), nil
		}
		var line []byte
		line, rest, ends = bytes.Cut(rest, []byte("\n"))
		d, ok := format.ParseSentence(bytes.TrimSuffix(line, []byte(",")))
		s := Sentence{Entry: d.Entry, Seq: d.Seq, Role: user, Pos: int(d.Pos), Weight: d.Weight,
			Text: string(format.Unescaped(d.Text))}
		if d.Role != nil {
			s.Role = string(format.Unescaped(d.Role))
		}
		d = s.stored()
		if room = d.Append(room[:0]); len(rest) > 0 {
			room = append(room, ',')
		}
		if !ok || !ends || !bytes.Equal(line, room) || s.Text == "" || s.Pos < 0 {
			return nil, 0, fmt.Errorf("%w: sentence %d", errForm, len(list))
		}
		list = append(list, s)
	}
	return list, 0, nil
}

const maxInt = int(^uint(0) >> 1)

// user is the most frequent role, which the encoding omits.
const user = "user"
