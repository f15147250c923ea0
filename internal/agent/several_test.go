package agent

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Several are messages whose parts say several things each, and one whose members have names in
// another case, which mean nothing.
func Several() []transcript.Message {
	list := []transcript.Message{
		{Role: "user", Text: "go on"},
		{Role: "model"},
		{Role: "tool"},
		{Role: "tool"},
		{Role: "model"},
	}
	for i := range list {
		list[i].Origin = transcript.Origin{Agent: "gemini-cli", Session: "s-1",
			Message: "m" + string(rune('1'+i))}
	}
	list[1].SetParts(
		[]json.RawMessage{[]byte(
			`{"functionCall":{"args":{"dir":"x"},"id":"c1","name":"tapir"},"text":"zebra"}`)})
	list[2].SetParts([]json.RawMessage{
		[]byte(
			`{"functionCall":{"args":{},"id":"c2","name":"lemur"},"functionResponse":{"id":"c1","name":"tapir","response":{"output":"giraffe"}}}`),
	})
	list[3].SetParts(
		[]json.RawMessage{[]byte(
			`{"functionResponse":{"id":"c2","name":"lemur","response":{"output":"ibex"}}}`)})
	list[4].SetParts(
		[]json.RawMessage{[]byte(
			`{"FunctionCall":{"id":"c3","name":"none"},"Thought":true,"text":"okapi"}`)})
	return list
}

// CheckSeveral checks that a writer loses nothing of Several, and that a reader gets them back.
func (f *Format) CheckSeveral(t testing.TB, o transcript.WriteOptions) {
	t.Helper()
	list := Several()
	for i, want := range []int{0, 1, 1, 0, 0} {
		if len(list[i].Calls) != want {
			t.Fatalf("message %d has calls %v", i, list[i].Calls)
		}
	}
	f.CheckWritten(t, list)
	out, _, err := f.Write(Items(list), o)
	if err != nil {
		t.Fatal(err)
	}
	plain := withoutHints(t, out)
	for _, word := range []string{"zebra", "tapir", "giraffe", "lemur", "ibex", "okapi"} {
		if !strings.Contains(plain, word) {
			t.Errorf("%s is lost in\n%s", word, plain)
		}
	}
}

// withoutHints is a transcript without what is there for ctx alone.
func withoutHints(t testing.TB, out []byte) string {
	var b strings.Builder
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var v any
		if err := d.Decode(&v); err == io.EOF {
			return b.String()
		} else if err != nil {
			t.Fatal(err)
		}
		dropHints(v)
		b.Write(jsonvalue.Encode(v))
	}
}

func dropHints(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, transcript.HintName)
		for _, in := range v {
			dropHints(in)
		}
	case []any:
		for _, in := range v {
			dropHints(in)
		}
	}
}
