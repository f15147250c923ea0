package geminicli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

func TestDamage(t *testing.T) {
	a, b := user("a", `"1"`), user("b", `"2"`)
	said := "message user a text=\"1\"\nmessage user b text=\"2\"\n"
	first := "message user a text=\"1\"\n"
	tests := []struct {
		name, in, want string
		skipped        map[string]int
	}{
		{"blank lines", header + "\n\n" + a + "\n \t\r\n" + b + "\r\n", said, nil},
		{"bad lines", lines("{", a, "nonsense", `{"id":`, b), said,
			map[string]int{transcript.SkipBadJSON: 3}},
		{"no line feed at the end", lines(a) + b, said, nil},
		{"a torn tail", lines(a) + b[:len(b)-1], first, map[string]int{transcript.SkipTornTail: 1}},
		{"a torn header", header[:len(header)-1], "", map[string]int{transcript.SkipTornTail: 1}},
		{"glued records", lines(header + a + b), said, nil},
		{"a record after a torn one", lines(a, `{"id":"x","type":"us`+b), said,
			map[string]int{transcript.SkipBadJSON: 1}},
		{"two after a torn one", lines(`{"id":"x","toolCalls":[{"id":"y","ar` + a + b), said,
			map[string]int{transcript.SkipBadJSON: 1}},
		{"a record before a torn one", lines(a + `{"id":"b","type":"user","content":"2`), first,
			map[string]int{transcript.SkipBadJSON: 1}},
		{"nul runs", header + "\n\x00\x00\x00" + a + "\n\x00\n" + b + "\n\x00\x00", said,
			map[string]int{transcript.SkipNULRun: 3}},
		{"nuls inside a word",
			lines("{\"id\":\"a\",\"type\":\"us\x00\x00er\",\"content\":\"\x001\"}"), first,
			map[string]int{transcript.SkipNULRun: 2}},
		{"nuls in a document", "{\"sessionId\":\"s\",\x00\x00\"messages\":[" + a + "\x00]}\x00",
			first, map[string]int{transcript.SkipNULRun: 3}},
		{"unknown records", lines(header, a, `[1]`, `7`, `{"x":1}`, `{"id":"q"}`, set("3")), first,
			map[string]int{transcript.SkipUnknown: 5}},
		{"bytes that are not UTF-8", lines(user("a", "\"\xff1\xfe\xfe\"")),
			"message user a text=\"\uFFFD1\uFFFD\"\n", nil},
		{"a message in strange types",
			lines(
				`{"id":"a","type":"user","content":[[{"text":"1"}],null,7,{}],"timestamp":3,"displayContent":{"x":[]}}`,
				`{"id":"g","type":"gemini","content":{"text":5},"thoughts":[7,{}],"toolCalls":{"id":1},"tokens":null}`),
			first + "message model g parts=[{\"text\":5}]\n", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			steps, stats := readAll(t, []byte(test.in))
			if got := trace(steps); got != test.want {
				t.Errorf("got:\n%swant:\n%s", got, test.want)
			}
			if stats.Skipped == nil || !maps.Equal(stats.Skipped, test.skipped) {
				t.Errorf("skipped %v, want %v", stats.Skipped, test.skipped)
			}
		})
	}
}

func TestStats(t *testing.T) {
	in := lines(header,
		`{"$set":{"messages":[`+user("e", `"<session_context></session_context>"`)+
			`],"summary":"one"}}`,
		user("a", `[{"text":"1"},{"text":"<hook_context></hook_context>"}]`), gemini("g", `""`),
		modelC1, user("t", resultC1), user("t", maskedC1),
		`{"$set":{"summary":"two","kind":"subagent","sessionId":"other"}}`, rewindTo("a"),
		rewindTo("?"), `{"id":"i","type":"info","content":"x"}`)
	_, got := readAll(t, []byte(in+"torn"))
	want := transcript.NewStats()
	want.Session, want.Records, want.Unknown, want.Bytes = "s", 11, 1, int64(len(in))
	want.Passed = map[string]int{passedRepeated: 1, passedMasked: 1, passedEmpty: 1,
		passedEnvironment: 1, passedHook: 1}
	want.Skip(transcript.SkipTornTail, 1)
	want.After = []json.RawMessage{[]byte(`{"summary":"two"}`)} // the title
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestLongLine reads lines through a limit of 40 bytes: MaxLine is too large for a quick test.
func TestLongLine(t *testing.T) {
	long := strings.Repeat("x", 100)
	in := "short\n" + long + "\n" + strings.Repeat("\x00", 100) + "tail\n" + long
	s := newReplay(func(transcript.Step) error { return nil })
	lr := transcript.NewLineReader(bufio.NewReaderSize(strings.NewReader(in), 16), 40, 0)
	var ends []int64
	for {
		l, err := lr.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if cap(l.Text) > 256 {
			t.Errorf("kept %d bytes", cap(l.Text))
		}
		ends = append(ends, l.End)
		if err := s.line(l); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := fmt.Sprint(ends), "[6 107 212 312]"; got != want {
		t.Errorf("lines end at %s, want %s", got, want)
	}
	want := map[string]int{transcript.SkipBadJSON: 2, SkipLongLine: 1, transcript.SkipNULRun: 1,
		transcript.SkipTornTail: 1}
	if !maps.Equal(s.stats.Skipped, want) {
		t.Errorf("skipped %v, want %v", s.stats.Skipped, want)
	}
}

func TestErrors(t *testing.T) {
	for _, in := range []string{lines(header, user("a", `"1"`)),
		`{"sessionId":"s","messages":[` + user("a", `"1"`) + `]}`} {
		stop := errors.New("stop")
		emitted := 0
		_, err := ReadAs("", strings.NewReader(in),
			func(transcript.Step) error { emitted++; return stop })
		if err != stop || emitted != 1 {
			t.Errorf("emit failed: %v, %d messages", err, emitted)
		}
		broken := io.MultiReader(strings.NewReader(in[:len(in)-2]), iotest.ErrReader(stop))
		if _, err := ReadAs("", broken,
			func(transcript.Step) error { return nil }); !errors.Is(err, stop) ||
			err.Error() != "read transcript: stop" {
			t.Errorf("reading failed: %v", err)
		}
	}
}

// TestNormal has spellings of the same content, and one of another.
func TestNormal(t *testing.T) {
	same := []string{
		`[{"text":"a"},{"x":{"n":1,"m":[0,100]}}]`,
		`["a",{"x":{"m":[-0,1e2],"n":1.0}}]`,
		`[ {"text":"","thoughtSignature":"z"}, {"text":"\u0061"}, {"x":{"n":1,"m":[0.0,100]},"thoughtSignature":"q"} ]`,
	}
	want := normalParts(parseContent([]byte(same[0])))
	for _, spelling := range same {
		if got := normalParts(parseContent([]byte(spelling))); !bytes.Equal(got, want) {
			t.Errorf("%s: %s, want %s", spelling, got, want)
		}
	}
	if got := normalParts(
		parseContent([]byte(`[{"text":"a"},{"x":{"n":2,"m":[0,100]}}]`))); bytes.Equal(got, want) {
		t.Errorf("other content: %s", got)
	}
}
