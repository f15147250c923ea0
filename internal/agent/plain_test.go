package agent

import (
	"maps"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

func TestPlainLines(t *testing.T) {
	deep := strings.Repeat("[", 200) + strings.Repeat("]", 200)
	for _, c := range []struct {
		name, in, want string
		skipped        map[string]int
	}{
		{"our own words",
			lines(`{"id":"1","role":"user","text":"a <b>","time":"2026-02-03T08:00:00.000Z"}`,
				`{"id":"2","role":"model","author":"x","parts":[{"functionCall":{"id":"c","name":"ls","args":{}}}]}`,
				`{"id":"3","role":"system","note":true,"text":"n","tokens":4}`),
			"message user 1 \"a <b>\"\nmessage model 2 call c ls {}\nnote system 3 \"n\" " +
				"tokens=4\n", nil},
		{"those of chat programs",
			lines(`{"uuid":"1","role":"human","content":"a","created_at":1770105600}`,
				`{"uuid":"2","role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"ls","arguments":"{\"d\":1}"}}],"model":"m"}`,
				`{"uuid":"3","role":"tool","tool_call_id":"c","content":[{"type":"text","text":"o"},"k"]}`),
			"message user 1 \"a\"\nmessage model 2 call c ls {\"d\":1}\nmessage tool 3 result c " +
				"ls \"ok\"\n", nil},
		{"partial",
			lines(`{"id":"1","role":"model","text":"a","partial":true}`,
				`{"id":"1","role":"model","text":"ab"}`), "message model 1 \"ab\"\n", nil},
		{"no messages",
			lines(`7`, `{"role":"king","text":"a"}`, `{"role":"user"}`,
				`{"id":"1","role":"user","text":"a"}`), "message user 1 \"a\"\n",
			map[string]int{transcript.SkipUnknown: 3}},
		{"a member twice",
			lines(`{"role":"user","parts":[{"text":"a","text":"b"}]}`,
				`{"id":"1","role":"user","parts":[{"text":"a","Text":"b"}]}`),
			"message user 1 \"a\"\n", map[string]int{transcript.SkipUnknown: 1}},
		{"two on a line, one of them torn",
			lines(`{"id":"0","role":"us{"id":"1","role":"user","text":"a"}`),
			"message user 1 \"a\"\n", map[string]int{transcript.SkipBadJSON: 1}},
		{"a torn tail", `{"id":"1","role":"user","text":"a"}` + "\n" + `{"id":"2","ro`,
			"message user 1 \"a\"\n", map[string]int{transcript.SkipTornTail: 1}},
		{"nested too deep", lines(`{"role":"user","text":"a","x":` + deep + `}`), "",
			map[string]int{transcript.SkipDeep: 1}},
	} {
		steps, _, stats := jsonLines.Steps(t, []byte(c.in))
		if got := Trace(steps); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.name, got, c.want)
		}
		if !maps.Equal(stats.Skipped, c.skipped) {
			t.Errorf("%s: skipped %v, want %v", c.name, stats.Skipped, c.skipped)
		}
		for cut := 0; cut < len(c.in); cut += 7 {
			jsonLines.Check(t, []byte(c.in), cut)
		}
	}
}

// Messages without a name have one that is the same in a file that has grown.
func TestPlainNames(t *testing.T) {
	in := lines(`{"role":"user","text":"a"}`, `{"role":"user","text":"a"}`,
		`{"role":"user","text":"b"}`)
	steps, _, _ := jsonLines.Steps(t, []byte(in))
	names := map[string]bool{}
	for _, st := range steps {
		names[st.Message.Origin.Message] = true
	}
	if len(names) != 3 {
		t.Errorf("%v", names)
	}
	jsonLines.Check(t, []byte(in), 30)
}

func FuzzJSONL(f *testing.F) {
	f.Add(
		[]byte(lines(`{"id":"1","role":"user","text":"a"}`,
			`{"role":"assistant","content":["x"],"tool_calls":[{"id":"c","function":{"name":"n","arguments":"{}"}}]}`)), uint(20))
	if out, _, err := jsonLines.Write(Items(Others()),
		transcript.WriteOptions{Session: "s",
			Home: &transcript.Home{Store: "a", Session: "b"}}); err == nil {
		f.Add(out, uint(1000))
	}
	f.Fuzz(func(t *testing.T, data []byte, cut uint) { jsonLines.Check(t, data, int(cut%(1<<30))) })
}

func TestPlainErrors(t *testing.T) { jsonLines.CheckErrors(t, lines(`{"role":"user","text":"a"}`)) }
