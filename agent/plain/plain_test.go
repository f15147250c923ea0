package plain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/agent/transcript"
	"github.com/gemini-ctx/ctx/agent/transcript/transcripttest"
	"github.com/gemini-ctx/ctx/format"
)

var kit = transcripttest.Format{
	Read: Read,
	Write: func(items []transcript.Item, o transcript.WriteOptions) ([]byte, transcript.Written, error) {
		var b bytes.Buffer
		w := NewWriter(&b, o)
		for _, it := range items {
			if err := w.Add(it); err != nil {
				return nil, transcript.Written{}, err
			}
		}
		done, err := w.Close()
		return b.Bytes(), done, err
	},
}

func lines(list ...string) string { return strings.Join(list, "\n") + "\n" }

func TestLines(t *testing.T) {
	deep := strings.Repeat("[", 200) + strings.Repeat("]", 200)
	for _, c := range []struct {
		name, in, want string
		skipped        map[string]int
	}{
		{"our own words", lines(`{"id":"1","role":"user","text":"a <b>","time":"2026-02-03T08:00:00.000Z"}`, `{"id":"2","role":"model","author":"x","parts":[{"functionCall":{"id":"c","name":"ls","args":{}}}]}`,
			`{"id":"3","role":"system","note":true,"text":"n","tokens":4}`), "message user 1 \"a <b>\"\nmessage model 2 call c ls {}\nnote system 3 \"n\" tokens=4\n", nil},
		{"those of chat programs", lines(`{"uuid":"1","role":"human","content":"a","created_at":1770105600}`,
			`{"uuid":"2","role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"ls","arguments":"{\"d\":1}"}}],"model":"m"}`,
			`{"uuid":"3","role":"tool","tool_call_id":"c","content":[{"type":"text","text":"o"},"k"]}`),
			"message user 1 \"a\"\nmessage model 2 call c ls {\"d\":1}\nmessage tool 3 result c ls \"ok\"\n", nil},
		{"partial", lines(`{"id":"1","role":"model","text":"a","partial":true}`, `{"id":"1","role":"model","text":"ab"}`), "message model 1 \"ab\"\n", nil},
		{"no messages", lines(`7`, `{"role":"king","text":"a"}`, `{"role":"user"}`, `{"id":"1","role":"user","text":"a"}`), "message user 1 \"a\"\n", map[string]int{transcript.SkipUnknown: 3}},
		{"two on a line, one of them torn", lines(`{"id":"0","role":"us{"id":"1","role":"user","text":"a"}`), "message user 1 \"a\"\n", map[string]int{transcript.SkipBadJSON: 1}},
		{"a torn tail", `{"id":"1","role":"user","text":"a"}` + "\n" + `{"id":"2","ro`, "message user 1 \"a\"\n", map[string]int{transcript.SkipTornTail: 1}},
		{"nested too deep", lines(`{"role":"user","text":"a","x":` + deep + `}`), "", map[string]int{transcript.SkipDeep: 1}},
	} {
		steps, _, stats := kit.Steps(t, []byte(c.in))
		if got := transcripttest.Trace(steps); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.name, got, c.want)
		}
		if !maps.Equal(stats.Skipped, c.skipped) {
			t.Errorf("%s: skipped %v, want %v", c.name, stats.Skipped, c.skipped)
		}
		for cut := 0; cut < len(c.in); cut += 7 {
			kit.Check(t, []byte(c.in), cut)
		}
	}
}

// Messages without a name have one that is the same in a file that has grown.
func TestNames(t *testing.T) {
	in := lines(`{"role":"user","text":"a"}`, `{"role":"user","text":"a"}`, `{"role":"user","text":"b"}`)
	steps, _, _ := kit.Steps(t, []byte(in))
	names := map[string]bool{}
	for _, st := range steps {
		names[st.Message.Origin.Message] = true
	}
	if len(names) != 3 {
		t.Errorf("%v", names)
	}
	kit.Check(t, []byte(in), 30)
}

// others are messages as other agents and people say them.
func others() []transcript.Message {
	from := func(agent, id string) transcript.Origin {
		return transcript.Origin{Agent: agent, Session: "s-1", Message: id}
	}
	list := []transcript.Message{
		{Origin: from("gemini-cli", "m1"), Role: "user", Author: "Ada Lovelace", Text: "list the files"},
		{Origin: from("gemini-cli", "m2"), Role: "model", Author: "gemini-2.5-flash", Tokens: 4, Invocation: "i-1"},
		{Origin: from("gemini-cli", "result:c 1"), Role: "tool"},
		{Origin: from("gemini-cli", "m3"), Note: true, Role: "system", Text: "a notice"},
		{Origin: from(transcript.Own, strings.Repeat("5", 64)), Role: "system", Text: "be brief"},
		{Origin: from(transcript.Own, strings.Repeat("6", 64)), Role: "user", Text: ""},
		{Origin: from("jsonl", "7"), Role: "tool", Text: "lost", Results: []string{"c9"}},
		{Origin: from("jsonl", "8"), Role: "model", Text: "calling", Calls: []format.Call{{ID: "c7", Tool: "look up"}}},
		{Origin: from("jsonl", "9"), Role: "user", Text: "gone", Gone: "forgotten"},
		{Origin: from("jsonl", "10"), Role: "user", Text: "on"},
		{Origin: from("codex", "11"), Role: "model", Author: "gpt-x"},
		{Origin: from("codex", "12"), Role: "model", Author: "gpt-x"},
		{Origin: from("codex", "13"), Role: "tool"},
		{Origin: from("codex", "14"), Role: "tool"},
	}
	list[10].SetParts([]json.RawMessage{[]byte(`{"functionCall":{"args":{},"id":"p1","name":"ls"}}`)})
	list[11].SetParts([]json.RawMessage{[]byte(`{"functionCall":{"args":{},"id":"p2","name":"ls"}}`)})
	list[12].SetParts([]json.RawMessage{[]byte(`{"functionResponse":{"id":"p1","name":"ls","response":{"output":"1"}}}`)})
	list[13].SetParts([]json.RawMessage{[]byte(`{"functionResponse":{"id":"p2","name":"ls","response":{"output":"2"}}}`)})
	list[1].SetParts([]json.RawMessage{
		[]byte(`{"text":"**Plan** look","thought":true}`), []byte(`{"text":"I look."}`), []byte(`{"functionCall":{"args":{"dir":"."},"id":"c 1","name":"ls"}}`),
		[]byte(`{"executableCode":{"code":"1+1"}}`),
	})
	list[2].SetParts([]json.RawMessage{[]byte(`{"functionResponse":{"id":"c 1","name":"ls","response":{"files":["a","b"]}}}`), []byte(`{"inlineData":{"data":"AA==","mimeType":"application/pdf"}}`)})
	return list
}
func TestOthers(t *testing.T) {
	kit.CheckWritten(t, others())
	_, done, err := kit.Write(transcripttest.Items(others()), transcript.WriteOptions{})
	if err != nil || fmt.Sprint(done.Changed) != "map[forgotten:1]" || done.Records != 14 {
		t.Errorf("%v %+v", err, done)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(lines(`{"id":"1","role":"user","text":"a"}`, `{"role":"assistant","content":["x"],"tool_calls":[{"id":"c","function":{"name":"n","arguments":"{}"}}]}`)), uint(20))
	if out, _, err := kit.Write(transcripttest.Items(others()), transcript.WriteOptions{Session: "s", Home: &transcript.Home{Store: "a", Session: "b"}}); err == nil {
		f.Add(out, uint(1000))
	}
	f.Fuzz(func(t *testing.T, data []byte, cut uint) { kit.Check(t, data, int(cut%(1<<30))) })
}
