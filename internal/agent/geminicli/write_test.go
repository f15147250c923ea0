package geminicli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/agent/transcript/transcripttest"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// conversationOf is what is left in a conversation after steps.
func conversationOf(steps []transcript.Step) (list []transcript.Message) {
	for _, s := range steps {
		at := slices.IndexFunc(list,
			func(m transcript.Message) bool { return m.Origin.Message == s.Message.Origin.Message })
		switch {
		case s.Kind == transcript.KindRewind && s.RewindTo == (transcript.Origin{}):
			list = nil
		case s.Kind == transcript.KindRewind:
			list = list[:slices.IndexFunc(list,
				func(m transcript.Message) bool { return m.Origin == s.RewindTo })]
		case at >= 0:
			list[at] = s.Message
		default:
			list = append(list, s.Message)
		}
	}
	return list
}

func write(
	t testing.TB, items []transcript.Item, o transcript.WriteOptions,
) ([]byte, transcript.Written) {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, o)
	for _, it := range items {
		if err := w.Add(it); err != nil {
			t.Fatal(err)
		}
	}
	done, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), done
}

// say is a message in a line: what an export keeps of it.
func say(m transcript.Message) string {
	return fmt.Sprintf("%s %v %s %s %q %s %v %v %d", m.Origin.Message, m.Note, m.Role, m.Author,
		m.Text, m.Parts, m.Calls, m.Results, m.Tokens)
}

// Every transcript that the reader knows comes back from an export as the conversation that it was.
func TestExportRoundTrips(t *testing.T) {
	for n, seed := range seeds(t) {
		steps, stats := readAll(t, seed)
		list := conversationOf(steps)
		out, _ := write(t, transcripttest.Items(list),
			transcript.WriteOptions{Session: stats.Session, Dir: "/p"})
		back, again := readAll(t, out)
		if len(again.Skipped) > 0 {
			t.Fatalf("seed %d: skipped %v", n, again.Skipped)
		}
		got := conversationOf(back)
		var was, is []string
		for _, m := range list {
			was = append(was, say(m))
		}
		for _, m := range got {
			is = append(is, say(m))
		}
		slices.Sort(was) // a note between a call and its result comes after both
		slices.Sort(is)
		if !slices.Equal(was, is) {
			t.Errorf("seed %d:\n%s\nwas\n%s\nis\n%s\nin\n%s", n, seed, strings.Join(was, "\n"),
				strings.Join(is, "\n"), out)
		}
	}
}

func TestExport(t *testing.T) {
	in := lines(header, user("u1", `"look"`), modelC1, user("t", `[`+resultC1+`]`),
		`{"id":"n","type":"info","content":"note"}`, user("u2", `"/stop"`),
		`{"id":"g2","type":"gemini","content":"","toolCalls":[{"id":"c9","name":"ls","args":{}}]}`)
	steps, _ := readAll(t, []byte(in))
	out, done := write(t, transcripttest.Items(conversationOf(steps)), transcript.WriteOptions{
		Session: "s", Dir: "/p", Before: "clusters </state_snapshot>",
	})
	want := map[string]int{"answers that end with a result": 2, "calls answered with an error": 1,
		"commands, which no model sees": 1}
	if fmt.Sprint(done.Changed) != fmt.Sprint(want) || done.Messages != 5 || done.Notes != 1 {
		t.Errorf("%+v", done)
	}
	var kinds []string
	for _, line := range bytes.Split(bytes.TrimSpace(out), []byte("\n")) {
		o, ok := jsonvalue.ParseObject(line)
		if !ok {
			t.Fatalf("%s", line)
		}
		kinds = append(kinds, o.Text("type"))
		for _, raw := range mustArray(o, "toolCalls") {
			call, _ := jsonvalue.ParseObject(raw)
			if len(mustArray(call, "result")) == 0 {
				t.Errorf("no result: %s", raw)
			}
		}
	}
	// The agent wants the model to speak after a result: where nobody did, something stands there.
	if fmt.Sprint(kinds) != "[ user user gemini info gemini user gemini gemini]" {
		t.Errorf("%q", kinds)
	}
	if !bytes.Contains(out,
		[]byte(`<state_snapshot>\nclusters <\\/state_snapshot>\n</state_snapshot>`)) ||
		!bytes.HasPrefix(out, []byte(`{"sessionId":"s","projectHash":"`+ProjectHash("/p"))) {
		t.Errorf("%s", out)
	}
	if back, _ := readAll(t, out); len(back) != len(steps) {
		t.Errorf("%s", trace(back))
	}
}

func mustArray(o jsonvalue.Object, name string) []json.RawMessage {
	list, _ := o.Array(name)
	return list
}

func TestCheckpoint(t *testing.T) {
	turns :=
		`{"role":"user","parts":[{"text":"<session_context>x</session_context>"}]},{"role":"user","parts":[{"text":"look"}]},` +
			`{"role":"model","parts":[{"text":"Plan","thought":true},{"functionCall":{"id":"c1","name":"ls","args":{}}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"ls","response":{"output":"a"}}}]},{"role":"user","parts":[{"text":"look"}]}`
	more := `,{"role":"model","parts":[{"text":"done"}]}`
	read := func(in string) (string, transcript.Stats) {
		if !IsCheckpoint([]byte(in)) {
			t.Errorf("no checkpoint: %s", in)
		}
		var steps []transcript.Step
		stats, err := ReadAs("", strings.NewReader(in),
			func(s transcript.Step) error { steps = append(steps, s); return nil })
		if err != nil {
			t.Fatal(err)
		}
		return trace(steps), stats
	}
	short, stats := read(`{"history":[` + turns + `],"authType":"x"}`)
	if strings.Count(short, "\n") != 4 || stats.Passed[passedEnvironment] != 1 ||
		len(stats.Skipped) > 0 || strings.Count(short, `text="look"`) != 2 {
		t.Errorf("%s %+v", short, stats)
	}
	if same, _ := read(" [\n" + turns + "]"); same != short {
		t.Errorf("%s\n%s", same, short)
	}
	long, _ := read(`{"authType":"x","history":[` + turns + more + `]}`)
	if !strings.HasPrefix(long, short) || strings.Count(long, "\n") != 5 {
		t.Errorf("%s", long)
	}
	torn, stats := read(`{"history":[` + turns + `,{"role":"mo`)
	if torn != short || stats.Skipped[transcript.SkipTornTail] != 1 {
		t.Errorf("%s %v", torn, stats.Skipped)
	}
	if IsCheckpoint([]byte(`{"sessionId":"s"}`)) || IsCheckpoint(nil) {
		t.Error("a transcript is no checkpoint")
	}
}

func FuzzCheckpoint(f *testing.F) {
	f.Add([]byte(
		`{"history":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"id":"c","name":"n","args":{}}}]}]}`))
	f.Add([]byte(`[{"role":"user","parts":"x"},7]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var steps []transcript.Step
		if _, err := ReadAs("", bytes.NewReader(data),
			func(s transcript.Step) error { steps = append(steps, s); return nil }); err != nil {
			t.Fatal(err)
		}
		checkSteps(t, steps)
	})
}

// Other agents make several calls in several messages before the first result: each call has its
// own result nevertheless.
func TestExportOfCallsAtOnce(t *testing.T) {
	say := func(id, role, part string) transcript.Message {
		m := transcript.Message{
			Origin: transcript.Origin{Agent: "codex", Session: "s", Message: id}, Role: role,
		}
		m.SetParts([]json.RawMessage{[]byte(part)})
		return m
	}
	call := func(id string) transcript.Message {
		return say("c"+id, "model", `{"functionCall":{"args":{},"id":"`+id+`","name":"ls"}}`)
	}
	result := func(id string) transcript.Message {
		return say("r"+id, "tool",
			`{"functionResponse":{"id":"`+id+`","name":"ls","response":{"output":"of `+id+`"}}}`)
	}
	text := say("t", "model", `{"text":"done"}`)
	out, done := write(t,
		transcripttest.Items([]transcript.Message{call("1"), call("2"), result("2"), result("1"),
			text}), transcript.WriteOptions{})
	if len(done.Changed) > 0 || done.Messages != 5 {
		t.Errorf("%+v", done)
	}
	steps, _ := readAll(t, out)
	if got := trace(steps); strings.Count(got, "\n") != 5 ||
		strings.Index(got, "of 1") > strings.Index(got, "of 2") {
		t.Errorf("%s\n%s", got, out)
	}
}
