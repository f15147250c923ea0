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
		out = appendSentence(out, &list[i])
		if i < len(list)-1 {
			out = append(out, ',')
		}
		out = append(out, '\n')
	}
	return append(out, "]\n"...)
}

func appendSentence(out []byte, s *Sentence) []byte {
	out = append(out, `{"entry":"`...)
	out = append(out, s.Entry.String()...)
	out = append(out, `","seq":`...)
	out = strconv.AppendUint(out, s.Seq, 10)
	if s.Role != "" && s.Role != user {
		out = append(out, `,"role":`...)
		out = appendString(out, s.Role)
	}
	out = append(out, `,"pos":`...)
	out = strconv.AppendInt(out, int64(s.Pos), 10)
	out = append(out, `,"weight":`...)
	out = strconv.AppendInt(out, s.Weight, 10)
	out = append(out, `,"text":`...)
	return append(appendString(out, s.Text), '}')
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
		d := struct {
			Sentence
			Entry string
		}{Sentence: Sentence{Role: user}}
		bad := json.Unmarshal(bytes.TrimSuffix(line, []byte(",")), &d)
		s := d.Sentence
		s.Entry, _ = format.ParseID(d.Entry) // a bad one is another line
		if room = appendSentence(room[:0], &s); len(rest) > 0 {
			room = append(room, ',')
		}
		if bad != nil || !ends || !bytes.Equal(line, room) || s.Text == "" || s.Pos < 0 {
			return nil, 0, fmt.Errorf("%w: sentence %d", errForm, len(list))
		}
		list = append(list, s)
	}
	return list, 0, nil
}

const maxInt = int(^uint(0) >> 1)

// user is the most frequent role, which the encoding omits.
const user = "user"

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
