package jsonl

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/history"
)

// FuzzReadLine reads any line: what is taken is a message that the store takes, too.
func FuzzReadLine(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"a":1}`, `{"a":"b","c":["d",{"e":"}"}],"f":-1.5e3 , "g" : null}`,
		`{"a\"b":"c\\","\u0064":"\\\""}`,
		`{"role":"user","text":"caf\u00e9 \ud83d\ude00 \ud800","source":"irc:5"}`,
		"{\"a\":\"\xe9\"}", `[1]`, `{`, `null`, ``, `{"a":1}x`,
	} {
		f.Add([]byte(seed))
	}
	f.Add([]byte(
		`{"role":"model","parts":[ {"text": "a"} ],"time":"2026-01-02T10:00:00Z","author":"x","invocation":"y","z":0}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r := &MessageReader{Session: "s", Unknown: map[string]int{}}
		got := r.Read(1, line)
		m := got.Message
		if got.Skip == nil && !got.Partial &&
			(m.Role == "" || len(m.Text) > history.MaxMessage ||
				m.Parts != nil && !json.Valid(m.Parts) || m.Parts != nil && m.Text != "") {
			t.Errorf("%q is taken as %+v", line, m)
		}
	})
}

// letters gives so many times the letter x.
func letters(n int64) io.Reader { return io.LimitReader(xs{}, n) }

type xs struct{}

func (xs) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestLongLines(t *testing.T) {
	const head, tail = `{"role":"user","text":"`, "\"}\n"
	in := io.MultiReader(
		strings.NewReader(head), letters(16<<20), strings.NewReader(tail), // the longest message
		strings.NewReader(head), letters(16<<20+1), strings.NewReader(tail), // one byte more
		// More than a line may have
		strings.NewReader(head), letters(MaxLine), strings.NewReader(tail),
		strings.NewReader(head), letters(3*MaxLine), strings.NewReader(tail),
		strings.NewReader(head), letters(1), strings.NewReader(tail),
		strings.NewReader(head), letters(MaxLine),
	)
	out := make(chan Chunk)
	go ReadChunks(in, &MessageReader{Unknown: map[string]int{}}, out, make(chan struct{}))
	var got []string
	for c := range out {
		for _, l := range c.lines {
			got = append(got, fmt.Sprintf("%d %d %v", l.Number, len(l.Message.Text), l.Skip))
		}
		if c.err != nil {
			break
		}
	}
	want := []string{"1 16777216 <nil>",
		"2 16777217 message of 16777217 bytes: 16777216 is the most",
		"3 0 line of more than 64 MiB", "4 0 line of more than 64 MiB", "5 1 <nil>",
		"6 0 line of more than 64 MiB"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
