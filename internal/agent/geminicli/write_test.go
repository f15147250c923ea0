package geminicli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
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

// items are the messages of a conversation as a writer takes them.
func items(list []transcript.Message) []transcript.Item {
	made, answered := map[string]bool{}, map[string]bool{}
	out := make([]transcript.Item, len(list))
	for i, m := range list {
		out[i].Message = m
		for _, c := range m.Calls {
			made[c.ID] = true
		}
		for _, id := range m.Results {
			answered[id] = true
			out[i].Orphan = out[i].Orphan || !made[id]
		}
	}
	for i, m := range list {
		for _, c := range m.Calls {
			if !answered[c.ID] {
				out[i].Open = append(out[i].Open, c.ID)
			}
		}
	}
	return out
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
		out, _ := write(t, items(list),
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
	out, done := write(t, items(conversationOf(steps)), transcript.WriteOptions{
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
