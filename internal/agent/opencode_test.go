package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gemini-ctx/ctx/internal/agent/opencode"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

func openSession(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("opencode/testdata/session.json")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

const conversation = `message user msg_01 "Which lamps are <b>lit</b>?" media image/png iVBORw0KGgo=
message model msg_02 thought "I should look." call toolu_1 read {"filePath": "lamps.txt"} call toolu_2 task {"prompt": "count"} tokens=40
message tool msg_02/prt_023/result result toolu_1 read "north: on"
message tool msg_02/prt_024/result result toolu_2 task "no lamps" failed
message model msg_02/prt_026 "The north one."
note system msg_03 "Lamps were counted."
message user msg_04 "Leave it on"
message model msg_05 "I am sti"
`

func openTrace(steps []transcript.Step) string {
	_, rest, _ := strings.Cut(Trace(steps), "\"Harbour lights\"\n")
	return strings.ReplaceAll(rest, `":"`, `": "`)
}

func TestOpencodeDocument(t *testing.T) {
	steps, replay, stats := open.Steps(t, openSession(t))
	if got := openTrace(steps); got != conversation {
		t.Errorf("got\n%s\nwant\n%s", got, conversation)
	}
	if len(stats.Skipped) > 0 || stats.Session != "ses_01" ||
		fmt.Sprint(stats.Spawned) != "[{toolu_2 ses_02}]" {
		t.Errorf("%+v", stats)
	}
	out, _, err := open.Write(Items(replay.Threads[""]),
		transcript.WriteOptions{Session: "ses_01"})
	if err != nil {
		t.Fatal(err)
	}
	var was, now struct{ Messages []json.RawMessage }
	if json.Unmarshal(openSession(t), &was) != nil || json.Unmarshal(out, &now) != nil {
		t.Fatalf("%s", out)
	}
	if bytes.Contains(out, []byte(`"ctx"`)) || len(now.Messages) != 5 {
		t.Errorf("%s", out)
	}
	for i := range now.Messages[:2] {
		if !jsonvalue.Same(was.Messages[i], now.Messages[i]) {
			t.Errorf("was %s\nis  %s", jsonvalue.Canonical(was.Messages[i]),
				jsonvalue.Canonical(now.Messages[i]))
		}
	}
	open.Check(t, openSession(t), 0)
}

// storage is a document as the files of a storage directory.
func storage(t testing.TB, doc []byte) fstest.MapFS {
	t.Helper()
	var d struct {
		Info     json.RawMessage
		Messages []struct {
			Info  json.RawMessage
			Parts []json.RawMessage
		}
	}
	if err := json.Unmarshal(doc, &d); err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{"session/p1/ses_01.json": {Data: d.Info}}
	for _, m := range d.Messages {
		id := jsonvalue.AsObject(m.Info).Text("id")
		files[path.Join("message", "ses_01", id+".json")] = &fstest.MapFile{Data: m.Info}
		for _, p := range m.Parts {
			files[path.Join("part", id, jsonvalue.AsObject(p).Text("id")+".json")] =
				&fstest.MapFile{Data: p}
		}
	}
	return files
}

func TestOpencodeStorage(t *testing.T) {
	files := storage(t, openSession(t))
	read := func() (string, transcript.Stats) {
		var steps []transcript.Step
		stats, err := opencode.ReadStorage(files, "session/p1/ses_01.json",
			func(st transcript.Step) error {
				steps = append(steps, st)
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
		return openTrace(steps), stats
	}
	if got, _ := read(); got != conversation {
		t.Errorf("got\n%s\nwant\n%s", got, conversation)
	}
	// What is damaged is counted, and the rest is there.
	files["message/ses_01/msg_03.json"] = &fstest.MapFile{Data: []byte(`{"id":"msg_03","ro`)}
	files["part/msg_01/prt_012.json"] = &fstest.MapFile{}
	files["part/msg_02/prt_028.json"] = &fstest.MapFile{Data: []byte("\x00\x00{}\x00")}
	files["message/ses_01/msg_04.json"].Mode = 0o200 | os.ModeIrregular
	got, stats := read()
	want := strings.Replace(strings.Replace(conversation, " media image/png iVBORw0KGgo=", "", 1),
		"note system msg_03 \"Lamps were counted.\"\n", "", 1)
	if got != want || stats.Skipped[transcript.SkipBadJSON] != 2 ||
		stats.Skipped[transcript.SkipNULRun] != 1 {
		t.Errorf("%v\n%s", stats.Skipped, got)
	}
	if _, err := opencode.ReadStorage(files, "session/p1/none.json",
		func(transcript.Step) error { return nil }); err == nil {
		t.Error("a session that is not there")
	}
}

func record(id, role, text string) string {
	return fmt.Sprintf(
		`{"info":{"id":%q,"role":%q,"time":{"created":1770105601000,"completed":1}},"parts":[{"id":"p","type":"text","text":%q}]}`, id, role, text)
}

func TestOpencodeDamage(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	deep := strings.Repeat("[", 200) + strings.Repeat("]", 200)
	head := `{"info":{"id":"s"},"messages":[`
	one, two := record("a", "user", "1"), record("b", "assistant", "2")
	for _, c := range []struct {
		name, in, want string
		skipped        map[string]int
	}{
		{"whole", head + one + "," + two + "]}", "1 2", nil},
		{"a list", "[" + one + "," + two + "]", "1 2", nil},
		{"torn", head + one + "," + two[:40], "1", map[string]int{transcript.SkipTornTail: 1}},
		{"torn after a message", head + one + "," + two + ",", "1 2",
			map[string]int{transcript.SkipTornTail: 1}},
		{"empty", "", "", map[string]int{transcript.SkipTornTail: 1}},
		{"damaged", head + one + ",nonsense," + two + "]}", "1 2",
			map[string]int{transcript.SkipBadJSON: 1}},
		{"something after it", head + one + "]}{", "1", map[string]int{transcript.SkipBadJSON: 1}},
		{"nul runs", head + one + "\x00\x00,\x00" + two + "]}", "1 2",
			map[string]int{transcript.SkipNULRun: 2}},
		{"no messages", head + `7,{},{"info":{"id":"x"}},` + one + "]}", "1",
			map[string]int{transcript.SkipUnknown: 3}},
		{"nested too deep",
			head + `{"info":{"id":"x","role":"user"},"parts":` + deep + "}," + one + "]}", "1",
			map[string]int{transcript.SkipDeep: 1}},
		{"a megabyte", head + record("a", "user", long) + "]}", long, nil},
		{"the session after its messages",
			`{"messages":[` + one + "," + two + `],"info":{"id":"s"}}`, "1 2", nil},
		{"taken back",
			`{"info":{"id":"s","revert":{"messageID":"b"}},"messages":[` + one + "," + two + "]}",
			"1", nil},
		{"another form", `"x"`, "", map[string]int{transcript.SkipBadJSON: 1}},
		{"strange types",
			`{"info":7,"messages":[{"info":{"id":"a","role":"user","time":7},"parts":[7,{"type":"text","text":1},{"type":"tool","state":3},{"type":"file"}]}]}`, "",
			map[string]int{transcript.SkipUnknown: 1}},
	} {
		_, replay, stats := open.Steps(t, []byte(c.in))
		var words []string
		for _, m := range replay.Threads[""] {
			for _, p := range transcript.PartsOf(&m) {
				if p.Kind == transcript.PartText {
					words = append(words, p.Text)
				}
			}
		}
		if got := strings.Join(words, " "); got != c.want {
			t.Errorf("%s: %.300q, want %.300q", c.name, got, c.want)
		}
		if !maps.Equal(stats.Skipped, c.skipped) {
			t.Errorf("%s: skipped %v, want %v", c.name, stats.Skipped, c.skipped)
		}
		if c.name != "taken back" {
			open.Check(t, []byte(c.in), 0)
		}
	}
}

func TestOpencodeErrors(t *testing.T) { open.CheckErrors(t, "["+record("a", "user", "1")+"]") }

func TestOpencodeOthers(t *testing.T) {
	open.CheckWritten(t, Others())
	out, done, err := open.Write(Items(Others()),
		transcript.WriteOptions{Session: "ses_s", Dir: "/p", Title: "t"})
	if err != nil || !json.Valid(out) {
		t.Fatalf("%v %s", err, out)
	}
	want := map[string]int{"results without a call": 1, "calls answered with an error": 1,
		"forgotten": 1, "thoughts of other models": 1, "parts without a form": 1}
	if !maps.Equal(done.Changed, want) || done.Messages != 13 || done.Notes != 1 {
		t.Errorf("%+v", done)
	}
	// The ids grow, as opencode orders by them.
	var doc struct {
		Messages []struct {
			Info struct{ ID string }
		}
	}
	if err := json.Unmarshal(out, &doc); err != nil || len(doc.Messages) < 8 {
		t.Fatalf("%v %s", err, out)
	}
	for i := 1; i < len(doc.Messages); i++ {
		if doc.Messages[i].Info.ID <= doc.Messages[i-1].Info.ID {
			t.Errorf("%s after %s", doc.Messages[i].Info.ID, doc.Messages[i-1].Info.ID)
		}
	}
	empty, _, err := open.Write(nil, transcript.WriteOptions{Session: "ses_s"})
	if err != nil || !json.Valid(empty) {
		t.Errorf("%v %s", err, empty)
	}
}

func FuzzOpencode(f *testing.F) {
	f.Add(openSession(f))
	if second, err := os.ReadFile("opencode/testdata/second.json"); err == nil {
		f.Add(second)
	}
	f.Add([]byte("[" + record("a", "user", "1") + "," + record("b", "assistant", "2") + "]"))
	f.Add(
		[]byte(`{"info":{"id":"s","revert":{"messageID":"b"}},"messages":[` +
			record("b", "user", "2") + "]}"))
	if out, _, err := open.Write(Items(Others()),
		transcript.WriteOptions{Session: "s",
			Home: &transcript.Home{Store: "a", Session: "b"}}); err == nil {
		f.Add(out)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		open.Check(t, data, 0)
		_, _ = opencode.ReadStorage(fstest.MapFS{"session/p/s.json": {Data: data},
			"message/s/m.json": {Data: data}, "part/m/p.json": {Data: data}}, "session/p/s.json",
			func(transcript.Step) error { return nil })
	})
}

// The document of opencode 2.x.
func TestOpencodeSecondShape(t *testing.T) {
	data, err := os.ReadFile("opencode/testdata/second.json")
	if err != nil {
		t.Fatal(err)
	}
	steps, replay, stats := open.Steps(t, data)
	want := `message user msg_a2 "Which lamps are <b>lit</b>?" media image/png iVBORw0KGgo=
note system msg_a3 "The tide is low."
message model msg_a4 thought "I should look." "I look." call call_1 read {"path": "lamps.txt"} call call_2 bash {"command": "false"} tokens=40
message tool msg_a4/msg_a4/2/result result call_1 read "north: on"
message tool msg_a4/msg_a4/3/result result call_2 bash "exit 1" failed
message model msg_a4/msg_a4/4
note system msg_a5 "ls" "lamps.txt"
note system msg_a6 "Lamps were counted."
message user msg_a8 "Leave it on"
message model msg_a9 "I am sti"
`
	if got := openTrace(steps); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if len(stats.Skipped) > 0 ||
		!maps.Equal(stats.Kept, map[string]int{"message tide-turned": 1, "part tide-mark": 1}) ||
		stats.Version != "2.0.3" {
		t.Errorf("%+v", stats)
	}
	for _, m := range replay.Threads[""] {
		if m.Role == "model" && m.Author != "harbour-1" {
			t.Errorf("author %q", m.Author)
		}
	}
	open.Check(t, data, 0)
	var doc struct{ Messages []json.RawMessage }
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	// Every string of the messages that are finished comes back.
	line := jsonvalue.Encode(map[string]any{"info": map[string]string{"id": "ses_02", "title": "t"},
		"messages": doc.Messages[:8]})
	open.CheckKept(t, line, "tool", "assistant", "compaction", "file", "reasoning", "text",
		"data:", ";base64,")
}

// What a person says when refusing a call is the person's message, and no word of the tool.
func TestOpencodeRefusal(t *testing.T) {
	const lead = "The user rejected permission to use this specific tool call"
	doc := func(first, second string) []byte {
		return fmt.Appendf(nil, `{"info": {"id": "ses_01", "slug": "calm", "projectID": "p1",
			"directory": "/src", "title": "Harbour lights", "version": "1.1.40",
			"time": {"created": 1770105600000, "updated": 1770105610000}}, "messages": [
			{"info": {"id": "msg_01", "sessionID": "ses_01", "role": "assistant",
				"time": {"created": 1770105602000}}, "parts": [
				{"id": "prt_01", "sessionID": "ses_01", "messageID": "msg_01", "type": "tool",
					"callID": "c1", "tool": "bash", "state": {"status": "error",
					"time": {"start": 1770105602000, "end": 1770105602000},
					"input": {"command": "rm a"}, "error": %q}},
				{"id": "prt_02", "sessionID": "ses_01", "messageID": "msg_01", "type": "tool",
					"callID": "c2", "tool": "bash", "state": {"status": "error",
					"time": {"start": 1770105602000, "end": 1770105602000},
					"input": {"command": "rm b"}, "error": %q}}]}]}`, first, second)
	}
	const calls = `message model msg_01 call c1 bash {"command": "rm a"} ` +
		`call c2 bash {"command": "rm b"}` + "\n"
	for _, c := range []struct{ first, second, want string }{
		{lead + " with the following feedback: keep a, it is mine", lead + ".", calls +
			`message tool msg_01/prt_01/result result c1 bash "` + lead +
			` with the following feedback:" failed` + "\n" +
			`message tool msg_01/prt_02/result result c2 bash "` + lead + `." failed` + "\n" +
			`message user msg_01/prt_01/said "keep a, it is mine"` + "\n"},
		{"no such file: feedback: none", "exit 1", calls +
			`message tool msg_01/prt_01/result result c1 bash "no such file: feedback: none" failed` +
			"\n" + `message tool msg_01/prt_02/result result c2 bash "exit 1" failed` + "\n"},
	} {
		steps, replay, _ := open.Steps(t, doc(c.first, c.second))
		if got := openTrace(steps); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
		out, _, err := open.Write(Items(replay.Threads[""]),
			transcript.WriteOptions{Session: "ses_01"})
		var was, now struct{ Messages []json.RawMessage }
		if err != nil || json.Unmarshal(doc(c.first, c.second), &was) != nil ||
			json.Unmarshal(out, &now) != nil || len(now.Messages) != 1 ||
			!jsonvalue.Same(was.Messages[0], now.Messages[0]) {
			t.Errorf("%v: %s", err, out)
		}
	}
}
