package adk

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/storetest/thirds"
)

func TestStamps(t *testing.T) {
	for _, c := range []struct {
		in     string
		unit   Unit
		ms     int64
		below  string
		py, js string
	}{
		{"1767348000", Detect, 1767348000000, "", "1767348000.0", "1767348000000"},
		{"1767348000.5", Detect, 1767348000500, "", "1767348000.5", "1767348000500"},
		{"1767348000.123456", Detect, 1767348000123, "456", "1767348000.123456",
			"1767348000123.456"},
		{"1767348000.1234567", Python, 1767348000123, "4567", "1767348000.1234567",
			"1767348000123.4567"},
		{"1767348000123", Detect, 1767348000123, "", "1767348000.123", "1767348000123"},
		{"1767348000123.25", Detect, 1767348000123, "25", "1767348000.12325", "1767348000123.25"},
		{"1.767348000123E9", Detect, 1767348000123, "", "1767348000.123", "1767348000123"},
		{"1.767348e12", Detect, 1767348000000, "", "1767348000.0", "1767348000000"},
		{"5", JavaScript, 5, "", "0.005", "5"},
		{"0", Detect, 0, "", "0.0", "0"},
		{"-1.5", Python, -1500, "", "-1.5", "-1500"},
		{"0.0005", Python, 0, "5", "0.0005", "0.5"},
	} {
		at, below, ok := parseStamp(json.RawMessage(c.in), c.unit)
		if !ok || at.UnixMilli() != c.ms || below != c.below {
			t.Errorf("%s as %q: %d %q %v, want %d %q", c.in, c.unit, at.UnixMilli(), below, ok,
				c.ms, c.below)
		}
		if py, js := string(printStamp(at, below, Python)),
			string(printStamp(at, below, JavaScript)); py != c.py || js != c.js {
			t.Errorf("%s: %s and %s, want %s and %s", c.in, py, js, c.py, c.js)
		}
	}
	for _, bad := range []string{`"1767348000"`, "1e999", "1e400", "-1e-5", "99999999999999999999",
		`{}`, "true", "", "1e-300", "253402300800000"} {
		if at, _, ok := parseStamp(json.RawMessage(bad), Detect); ok {
			t.Errorf("%s is %v", bad, at)
		}
	}
}

// What ADK wrote is kept, field by field, and comes out as it went in: but for what every event
// has, what was rewound, and pieces.
func TestC3_foreignRoundTrip(t *testing.T) {
	in := sample(t)
	steps, now, stats := readAll(t, in, ReadOptions{})
	if stats.Records != 11 || stats.Passed[passedPartial] != 1 || stats.Session != "harbour-7" ||
		stats.Unknown+stats.Odd != 0 || len(stats.Skipped) != 0 {
		t.Errorf("%+v", stats)
	}
	if len(stats.Kept) != 1 || stats.Kept["modelVersion"] != 1 {
		t.Errorf("kept %v", stats.Kept)
	}
	if n := slices.IndexFunc(steps,
		func(s transcript.Step) bool { return s.Kind == transcript.KindRewind }); n < 0 ||
		steps[n].RewindTo.Message != "aaaaaaa6" {
		t.Errorf("rewind %d: %+v", n, steps)
	}
	var told []string
	for _, m := range now {
		note := ""
		if m.Note {
			note = " note"
		}
		told = append(told,
			fmt.Sprintf("%s %s/%s%s %d", m.Origin.Message, m.Role, m.Author, note, m.Tokens))
	}
	want := []string{
		"aaaaaaa1 user/ 0", "aaaaaaa2 model/desk 31", "aaaaaaa3 tool/desk 0",
		"aaaaaaa4 model/desk 5", "aaaaaaa5 system/desk note 0",
		"aaaaaaa9 system/ note 0", "aaaaaab1 user/ 0", "#session system/ note 0",
	}
	if !slices.Equal(told, want) {
		t.Errorf("%q\nwant %q", told, want)
	}
	if now[0].Text != "When is high water at the east pier?" || now[0].Invocation != "e-1" ||
		now[0].Parts != nil {
		t.Errorf("%s", show(now[0]))
	}
	for _, unit := range []Unit{Python, JavaScript} {
		out, done := writeAll(t, now, WriteOptions{Session: "harbour-7", Unit: unit})
		if done.Changed[transcript.ChangedCalls] != 0 ||
			done.Changed[transcript.ChangedOrphans] != 0 {
			t.Errorf("%+v", done)
		}
		_, again, stats := readAll(t, out, ReadOptions{})
		sameAll(t, again, now)
		if stats.Records != 7 || len(stats.Skipped) > 0 {
			t.Errorf("%+v", stats)
		}
		if twice, _ := writeAll(t, again,
			WriteOptions{Session: "harbour-7", Unit: unit}); !bytes.Equal(twice, out) {
			t.Errorf("other bytes:\n%s\n%s", twice, out)
		}
		lines, _ := writeAll(t, now, WriteOptions{Session: "harbour-7", Unit: unit, Lines: true})
		_, again, _ = readAll(t, lines, ReadOptions{Session: "harbour-7"})
		sameAll(t, again, now[:len(now)-1])
		for _, field := range []string{
			`"id":"harbour-7","appName":"tide_desk","userId":"ada","state":{"user:language":"en","app:version":3,"berth":"C4"}`,
			`"thoughtSignature":"c2ln"`, `"metres":1.50`,
			`"stateDelta":{"berth":"C4","temp:try":1},"artifactDelta":{"chart.png":2}`,
			`"transferToAgent":"pilot"`,
			`"longRunningToolIds":["adk-c2"]`, `"branch":"desk.pilot"`, `"promptTokenCount":90`,
			`"finishReason":"STOP"`, `"customMetadata":{"a2a":{"task":"t-1"}}`,
			`"modelVersion":"gemini-2.5-flash"`, `"turnComplete":true`,
			`"stateDelta":{"last":"none"}`,
		} {
			if !bytes.Contains(out, []byte(field)) {
				t.Errorf("no %s in %s", field, out)
			}
		}
		if bytes.Contains(out, []byte(`"ctx":{`)) {
			t.Error("an event of ADK needs no hints")
		}
	}
	if py, _ := writeAll(t, now, WriteOptions{Session: "harbour-7", Unit: Python}); !bytes.Contains(
		py, []byte(`"timestamp":1767348001.123456,`)) {
		t.Error("microseconds are lost")
	}
}

// The forms that an input may have give the same messages.
func TestForms(t *testing.T) {
	a := `{"id":"e1","invocationId":"i","author":"user","timestamp":1767348000000,"content":{"role":"user","parts":[{"text":"one"}]}}`
	b := `{"invocationId":"i","author":"bot","timestamp":1767348001000,"content":{"role":"model","parts":[{"text":"two"}]},"id":"e2"}`
	_, want, _ := readAll(t, []byte(a+"\n"+b+"\n"), ReadOptions{Session: "s"})
	if len(want) != 2 || want[1].Author != "bot" || want[1].Role != "model" ||
		want[0].Origin != (transcript.Origin{Agent: Agent, Session: "s", Message: "e1"}) {
		t.Fatalf("%v", want)
	}
	for _, in := range []string{
		a + "\n" + b,
		"\xef\xbb\xbf" + a + "\r\n\n  " + b + "\r\n",
		"[" + a + "," + b + "]",
		" [\n" + a + ",\n" + b + "\n]\n",
		`{"events":[` + a + "," + b + `]}`,
		`{"id":"s","appName":"ctx","userId":"user","state":{},"events":[` + a + "," + b +
			`],"lastUpdateTime":1767348001000}`,
		`{"events":[` + a + "," + b + `],"lastUpdateTime":1767348001,"id":"s"}`,
		`{"session":{"id":"s","events":[` + a + "," + b + `]}}`,
		`{"session":{"id":"s"},"events":[` + a + "," + b + `]}`,
	} {
		_, got, stats := readAll(t, []byte(in), ReadOptions{Session: "s"})
		sameAll(t, got, want)
		if stats.Session != "s" || len(stats.Skipped)+len(stats.Kept) > 0 {
			t.Errorf("%s: %+v", in, stats)
		}
	}
}

// Damage is counted and read around.
func TestDamage(t *testing.T) {
	event := func(id string) string {
		return fmt.Sprintf(`{"id":%q,"author":"user","content":{"parts":[{"text":"x"}]}}`, id)
	}
	deep := strings.Repeat("[", 300) + strings.Repeat("]", 300)
	for _, c := range []struct {
		name, in string
		ids      string
		skipped  string
	}{
		{"nothing", "", "", "map[]"},
		{"white space", " \n\t", "", "map[]"},
		{"a torn line", event("a") + "\n" + event("b")[:30] + "\n" + event("c") + "\n", "a c",
			"map[bad json:1]"},
		{"a torn first line", event("a")[:9] + "\n" + event("b") + "\n", "b", "map[bad json:1]"},
		{"a torn tail", event("a") + "\n" + event("b")[:30], "a", "map[torn tail:1]"},
		{"zeros", event("a") + "\n\x00\x00\x00" + event("b") + "\x00\n", "a b", "map[nul run:2]"},
		{"not JSON", "hello\n" + event("a") + "\n", "a", "map[bad json:1]"},
		{"other JSON", "5\n[]\n{}\n" + event("a") + "\n\"x\"\n", "a", "map[not an event:4]"},
		{"no event in a list", "[5,null,{}," + event("a") + "]", "a", "map[not an event:3]"},
		{"a list that breaks off", "[" + event("a") + "," + event("b")[:20], "a",
			"map[torn tail:1]"},
		{"a session that breaks off", `{"id":"s","events":[` + event("a") + ",", "a",
			"map[torn tail:1]"},
		{"a session after its events", `{"id":"s","events":[` + event("a") + `],"state`, "a",
			"map[torn tail:1]"},
		{"bad element", `{"events":[` + event("a") + `,{"id":x},` + event("b") + `]} extra`, "a b",
			"map[bad json:2]"},
		{"commas", "[,," + event("a") + ",]", "a", "map[bad json:2]"},
		{"no UTF-8", strings.Replace(event("a?"), "?", "\xff\xff", 1) + "\n", "a\uFFFD", "map[]"},
		{"too deep", `{"id":"d","author":"user","content":` + deep + "}\n" + event("a") + "\n", "a",
			"map[nested too deep:1]"},
		{"sessions in sessions",
			strings.Repeat(`{"session":`, 50) + `{"events":[` + event("a") + "]}" +
				strings.Repeat("}", 50), "", "map[not an event:1]"},
	} {
		_, now, stats := readAll(t, []byte(c.in), ReadOptions{Session: "s"})
		var ids []string
		for _, m := range now {
			if !IsSession(m.Origin) {
				ids = append(ids, m.Origin.Message)
			}
		}
		if got := strings.Join(ids, " "); got != c.ids || fmt.Sprint(stats.Skipped) != c.skipped {
			t.Errorf("%s: %q %v, want %q %s", c.name, got, stats.Skipped, c.ids, c.skipped)
		}
	}
}

// A field that is not of its kind is kept as it is, and counted.
func TestWrongKinds(t *testing.T) {
	for _, in := range []string{
		`{"id":5,"author":"bot","content":{"role":"model","parts":[{"text":"x"}]}}`,
		`{"id":"a","author":"bot","content":"hello"}`,
		`{"id":"a","author":"bot","content":{"role":"model","parts":["x",{"text":"y"}]}}`,
		`{"id":"a","author":"bot","content":{"role":"model","parts":{"text":"y"}}}`,
		`{"id":"a","author":"bot","content":{"role":"model","parts":[{"text":"x","text":"y"}]}}`,
		`{"id":"a","author":{"name":"bot"},"content":{"parts":[{"text":"y"}]}}`,
		`{"id":"a","author":"bot","actions":[1],"content":{"parts":[{"text":"y"}]}}`,
		`{"id":"a","author":"bot","customMetadata":7,"content":{"parts":[{"text":"y"}]}}`,
		`{"id":"a","author":"bot","invocationId":["i"],"content":{"parts":[{"text":"y"}]}}`,
		`{"id":"a","author":"bot","timestamp":"noon","content":{"parts":[{"text":"y"}]}}`,
		`{"id":"a","author":"bot","longRunningToolIds":{"x":1},"content":{"parts":[{"text":"y"}]}}`,
	} {
		_, now, stats := readAll(t, []byte(in+"\n"), ReadOptions{Session: "s"})
		if len(now) != 1 || stats.Odd == 0 {
			t.Errorf("%s: %d messages, %+v", in, len(now), stats)
			continue
		}
		now[0].Time = noon // an entry has one always
		out, _ := writeAll(t, now, WriteOptions{Session: "s", Lines: true})
		_, again, _ := readAll(t, out, ReadOptions{Session: "s"})
		if again[0].Time.IsZero() {
			again[0].Time = noon
		}
		sameAll(t, again, now)
	}
}

func TestC2_rewinds(t *testing.T) {
	line := func(id, invocation, more string) string {
		return fmt.Sprintf(`{"id":%q,"invocationId":%q,"author":"user"%s}`, id, invocation, more) +
			"\n"
	}
	said := `,"content":{"parts":[{"text":"x"}]}`
	steps, now, stats := readAll(t,
		[]byte(line("a", "1", said)+line("b", "2", said)+line("c", "2", said)+
			line("r", "3", `,"actions":{"rewindBeforeInvocationId":"2"}`)+
			line("d", "4", said)+line("r2", "5", `,"actions":{"rewindBeforeInvocationId":"2"}`)),
		ReadOptions{Session: "s"})
	if len(steps) != 6 || len(now) != 3 || now[1].Origin.Message != "d" || stats.Unknown != 1 {
		t.Fatalf("%+v %+v", now, stats)
	}
	if r := steps[3]; r.Kind != transcript.KindRewind || r.RewindTo.Message != "b" ||
		r.Message.Origin.Message != "rewind:r" {
		t.Errorf("%+v", r)
	}
	// The one that finds nothing stays what it is.
	if !now[2].Note || !strings.Contains(string(now[2].Parts), "rewindBeforeInvocationId") {
		t.Errorf("%s", show(now[2]))
	}
}

// conversation is one of each: what C.3 of a transcript can be, as a session has it.
func conversation() []transcript.Message {
	gemini := func(m transcript.Message, key string) transcript.Message {
		m.Origin = transcript.Origin{Agent: "gemini-cli", Session: "s-1", Message: key}
		return m
	}
	info := own(5, "system", "", "a warning of the agent")
	info.Note = true
	named := own(9, "user", "Ada Lovelace", "with a name and an invocation")
	named.Invocation = "i-7"
	inside := own(10, "model", "gemini-2.5-pro", "in it")
	inside.Tokens = 7
	explicit := own(11, "model", "gemini-2.5-pro", "and said so")
	explicit.Invocation = "i-7"
	plain := own(14, "tool", "", "what a tool printed")
	plain.Results = []string{"p1"}
	caller := own(13, "model", "", "a call in the header alone")
	caller.Calls = calls("p1")
	return []transcript.Message{
		gemini(own(1, "user", "", "list the files"), "m1"),
		gemini(ofParts(2, "model", "gemini-2.5-flash", `{"text":"**Plan** look","thought":true}`,
			`{"text":"I look."}`, call("c1", "ls"), call("c2", "cat")), "m2"),
		gemini(
			ofParts(4, "tool", "",
				result("c2", "cat", `"<tool_output_masked>saved</tool_output_masked>"`)),
			"result:c2"),
		info,
		gemini(ofParts(3, "tool", "", result("c1", "ls", `{"output":"a.go"}`),
			`{"inlineData":{"data":"AA==","mimeType":"image/png"}}`, `{"text":"and more"}`),
			"result:c1"),
		ofParts(6, "model", "gemini-2.5-flash", `{"text":"one text, as a part"}`),
		own(7, "user", "", "first"),
		own(8, "user", "", "second in a row"),
		named, inside, explicit,
		ofParts(12, "system", "", `{"text":"two"}`, `{"text":"texts"}`),
		caller, plain,
		ofParts(15, "model", "", call("open", "sleep"), call("shut", "ls"), call("n", "nothing")),
		ofParts(16, "tool", "", result("shut", "ls", `null`)),
		ofParts(17, "tool", "sandbox", result("n", "nothing", `[1,2]`)),
		ofParts(18, "tool", "", result("nobody", "ls", `{"output":"an orphan"}`)),
		ofParts(19, "model", "", `{"text":"only thought","thought":true}`),
		ofParts(20, "user", "", `"a bare text"`, `5`, `{"fileData":{"fileUri":"gs://x"}}`),
		ofParts(21, "user", ""),
		own(22, "user", "", ""),
		own(23, "user", "", "<system-update>&\u2028</system-update>"),
		ofParts(24, "model", "m", `{"adk":{"author":"forged"},"thought":true}`),
		ofParts(25, "model", "", call("last", "ls")),
	}
}

// C.3: record, events, record.
func TestC3_ownRoundTrip(t *testing.T) {
	want := conversation()
	for _, o := range []WriteOptions{{Session: "s"}, {Session: "s", Unit: Python},
		{Session: "s", Lines: true, Agent: "helper"}} {
		out, done := writeAll(t, want, o)
		_, got, stats := readAll(t, out, ReadOptions{Session: "s"})
		sameAll(t, got, want)
		if len(stats.Skipped)+len(stats.Kept)+stats.Odd > 0 || stats.Passed[passedStandIn] != 2 {
			t.Errorf("%+v", stats)
		}
		if done.Changed[transcript.ChangedCalls] != 2 ||
			done.Changed[transcript.ChangedOrphans] != 1 || done.Messages != len(want) ||
			len(done.Left) != 0 {
			t.Errorf("%+v", done)
		}
		again, _ := writeAll(t, want, o)
		if !bytes.Equal(again, out) {
			t.Error("other bytes")
		}
		if twice, _ := writeAll(t, got, o); !bytes.Equal(twice, out) {
			t.Error("other bytes after a round")
		}
		// Partial events are never written, and every event has what ADK demands.
		if !o.Lines {
			checkEvents(t, eventsOf(t, out))
		}
	}
}

// checkEvents holds events to what ADK expects of a history.
func checkEvents(t *testing.T, list []map[string]any) {
	t.Helper()
	ids, open := map[string]bool{}, map[string]bool{}
	for _, e := range list {
		id, _ := e["id"].(string)
		if id == "" || ids[id] || e["invocationId"] == "" || e["author"] == "" ||
			e["partial"] != nil {
			t.Errorf("%v", e)
		}
		ids[id] = true
		for name := range e {
			if !isField(name) {
				t.Errorf("%s: field %q", id, name)
			}
		}
		content, _ := e["content"].(map[string]any)
		parts, _ := content["parts"].([]any)
		for _, p := range parts {
			p, ok := p.(map[string]any)
			if !ok {
				t.Errorf("%s: part %v", id, p)
			}
			if c, ok := p["functionCall"].(map[string]any); ok {
				open[c["id"].(string)] = true
			}
			if r, ok := p["functionResponse"].(map[string]any); ok {
				if !open[r["id"].(string)] {
					t.Errorf("%s: a response without a call: %v", id, r)
				}
				if _, ok := r["response"].(map[string]any); !ok && r["response"] != nil {
					t.Errorf("%s: response %v", id, r["response"])
				}
				delete(open, r["id"].(string))
			} else if len(open) > 0 && content["role"] == "user" && p["inlineData"] == nil &&
				p["text"] != "and more" {
				t.Errorf("%s: calls %v are open", id, open)
			}
			if p["thought"] != nil {
				t.Errorf("%s: a thought: %v", id, p)
			}
		}
	}
	if len(open) > 0 {
		t.Errorf("calls %v stay open", open)
	}
}

// C.3: which event has what, by the rules of the table.
func TestC3_eventsByTheTable(t *testing.T) {
	out, _ := writeAll(t, conversation(), WriteOptions{Session: "s", Agent: "helper"})
	events := eventsOf(t, out)
	by := map[string]map[string]any{}
	var order []string
	for _, e := range events {
		by[e["id"].(string)] = e
		order = append(order, e["id"].(string))
	}
	if !slices.Equal(order[:5],
		[]string{"m1", "m2", "m2#resp", fmt.Sprintf("%064d", 5), "m2#resp-2"}) {
		t.Errorf("%q", order)
	}
	if e := by["m2"]; e["author"] != "helper" ||
		e["customMetadata"].(map[string]any)["model"] != "gemini-2.5-flash" {
		t.Errorf("%v", e)
	}
	if by["m1"]["author"] != "user" || by["m3"] != nil {
		t.Errorf("%v", by["m1"])
	}
	// What follows from an event is not said again in its metadata.
	for id, want := range map[string]string{
		"m1":      `{"ctx":{"from":{"agent":"gemini-cli","message":"m1","session":"s-1"},"v":1}}`,
		"m2#resp": `{"ctx":{"of":[{"at":0,"count":1,"from":{"agent":"gemini-cli","message":"result:c2","session":"s-1"},"parts":[{"functionResponse":{"id":"c2","name":"cat","response":"<tool_output_masked>saved</tool_output_masked>"}}]}],"v":1}}`,
		"m2": `{"ctx":{"from":{"agent":"gemini-cli","message":"m2","session":"s-1"},"hidden":[{"at":0,"part":{"text":"**Plan** look","thought":true}}],"v":1},` +
			`"model":"gemini-2.5-flash"}`,
		fmt.Sprintf("%064d", 6):  `{"ctx":{"listed":true,"v":1},"model":"gemini-2.5-flash"}`,
		fmt.Sprintf("%064d", 9):  `{"ctx":{"author":"Ada Lovelace","invocation":"i-7","v":1}}`,
		fmt.Sprintf("%064d", 12): `{"ctx":{"role":"system","v":1}}`,
	} {
		if got := string(jsonvalue.Encode(by[id]["customMetadata"])); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
	note := by[fmt.Sprintf("%064d", 5)]
	if note["content"] != nil || note["customMetadata"] == nil {
		t.Errorf("a note reaches a model: %v", note)
	}
	if by["m1"]["invocationId"] != InvocationID("s", "m1") ||
		by["m2"]["invocationId"] != by["m1"]["invocationId"] {
		t.Error("a turn is an invocation")
	}
	first, second := by[fmt.Sprintf("%064d", 7)], by[fmt.Sprintf("%064d", 8)]
	if first["invocationId"] == second["invocationId"] {
		t.Error("two messages of a user in a row are two invocations")
	}
	if e := by[fmt.Sprintf("%064d", 10)]; e["invocationId"] != "i-7" ||
		fmt.Sprint(e["usageMetadata"]) != "map[candidatesTokenCount:7]" {
		t.Errorf("%v", e)
	}
	// All responses of one message in one event, in the order of its calls; the one that never came
	// is an error.
	responses := by[fmt.Sprintf("%064d#resp", 15)]["content"].(map[string]any)
	var ids []string
	for _, p := range responses["parts"].([]any) {
		r := p.(map[string]any)["functionResponse"].(map[string]any)
		ids = append(ids, r["id"].(string))
	}
	if responses["role"] != "user" || !slices.Equal(ids, []string{"open", "shut", "n"}) {
		t.Errorf("%v", responses)
	}
	if !bytes.Contains(out,
		[]byte(
			`{"functionResponse":{"id":"open","name":"sleep","response":{"error":"no result was recorded"}}}`)) {
		t.Errorf("no error for the open call: %s", out)
	}
	if !bytes.Contains(out, []byte(`"timestamp":1772625602250`)) {
		t.Error("times are milliseconds")
	}
}

// What an application adds to an event of ours stays with it.
func TestAddedFields(t *testing.T) {
	list := []transcript.Message{own(1, "user", "", "hello"), own(2, "model", "m", "hi")}
	out, _ := writeAll(t, list, WriteOptions{Session: "s"})
	more := bytes.ReplaceAll(out, []byte(`"stateDelta":{}`), []byte(`"stateDelta":{"seen":true}`))
	_, got, _ := readAll(t, more, ReadOptions{})
	if len(got) != 2 || got[0].Origin != list[0].Origin ||
		!bytes.Contains(got[0].Parts,
			[]byte(`{"text":"hello"},{"adk":{"actions":{"stateDelta":{"seen":true}}}`)) {
		t.Fatalf("%s", show(got[0]))
	}
	again, _ := writeAll(t, got, WriteOptions{Session: "s"})
	if !bytes.Equal(again, more) {
		t.Errorf("\n%s\n%s", again, more)
	}
}

// Messages of a fork carry its branches as ADK names them.
func TestBranches(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b, WriteOptions{Session: "s", Agent: "a"})
	for i, path := range [][]string{nil, {"left"}, {"left", "v1.2"}, {"50%"}} {
		m := own(i+1, "model", "", "x")
		if err := w.Add(transcript.Item{Message: m, Turn: "i", Path: path, Number: i,
			Caller: -1}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var got []any
	for _, e := range eventsOf(t, b.Bytes()) {
		got = append(got, e["branch"])
	}
	if fmt.Sprint(got) != "[<nil> left left.v1%2E2 50%25]" {
		t.Errorf("%v", got)
	}
	_, list, _ := readAll(t, b.Bytes(), ReadOptions{})
	if !strings.Contains(string(list[2].Parts), `{"adk":{"branch":"left.v1%2E2"},"thought":true}`) {
		t.Errorf("%s", show(list[2]))
	}
	again, _ := writeAll(t, list, WriteOptions{Session: "s", Agent: "a"})
	for i, e := range eventsOf(t, again) {
		if e["branch"] != got[i] {
			t.Errorf("branch %v, want %v", e["branch"], got[i])
		}
	}
}

// A forgotten message is no message when it comes back, and its calls stay paired.
func TestGone(t *testing.T) {
	gone := own(2, "model", "", "")
	gone.Gone, gone.Calls = "forgotten", calls("c")
	list := []transcript.Message{own(1, "user", "", "x"), gone,
		ofParts(3, "tool", "", result("c", "ls", `{"output":"y"}`))}
	out, done := writeAll(t, list, WriteOptions{Session: "s"})
	checkEvents(t, eventsOf(t, out))
	_, got, stats := readAll(t, out, ReadOptions{})
	sameAll(t, got, []transcript.Message{list[0], list[2]})
	if done.Changed[transcript.ChangedForgotten] != 1 || stats.Passed[passedStandIn] != 1 ||
		!bytes.Contains(out, []byte("[forgotten]")) {
		t.Errorf("%+v %+v %s", done, stats, out)
	}
}

// Random messages come back as they were.
func TestRandomRoundTrip(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		want := randomMessages(r)
		out, _ := writeAll(t, want,
			WriteOptions{Session: "s", Unit: []Unit{Python, JavaScript}[r.IntN(2)]})
		_, got, _ := readAll(t, out, ReadOptions{})
		sameAll(t, got, want)
		if again, _ := writeAll(t, got, WriteOptions{Session: "s", Unit: Python}); len(again) == 0 {
			t.Fatal("nothing")
		}
	}
}

func randomMessages(r *rand.Rand) (list []transcript.Message) {
	words := []string{"a", "", "two words", "\u00e9\u2028<&>", "[forgotten]"}
	roles := []string{"user", "model", "tool", "system"}
	id := func() string { return fmt.Sprintf("c%d", r.IntN(6)) }
	for n := range 1 + r.IntN(14) {
		role := roles[r.IntN(4)]
		m := own(n+1, role, "", words[r.IntN(len(words))])
		if r.IntN(3) > 0 {
			var parts []string
			for range r.IntN(4) {
				parts = append(parts, []string{
					`{"text":"t"}`, `{"text":"","thought":true}`, call(id(), "ls"),
					result(id(), "ls", `{"output":"o"}`), result(id(), "ls", `"bare"`),
					result(id(), "ls", `{"result":1}`), `{"text":"t","extra":[1,2.50]}`, `"bare"`,
					`null`, `{"functionCall":{"name":"idless"}}`,
				}[r.IntN(10)])
			}
			m = ofParts(n+1, role, "", parts...)
		}
		if r.IntN(3) == 0 {
			m.Origin = transcript.Origin{Agent: []string{"gemini-cli", "jsonl", Agent}[r.IntN(3)],
				Session: []string{"s", "t"}[r.IntN(2)], Message: fmt.Sprintf("k%d", n)}
		}
		m.Author = []string{"", "", "bot", "user", "Ada"}[r.IntN(5)]
		m.Note = r.IntN(6) == 0
		m.Invocation = []string{"", "", "i1", "i2"}[r.IntN(4)]
		if r.IntN(4) == 0 {
			m.Tokens = uint64(r.IntN(3))
		}
		if r.IntN(8) == 0 && m.Parts == nil {
			m.Calls, m.Results = calls("h1", "h2"), []string{"h1"}
		}
		list = append(list, m)
	}
	return list
}

// An event that is too long costs no more memory than one that is just short enough.
func TestMemory(t *testing.T) {
	const size = 128 << 20
	for _, around := range thirds.Of(t, [][2]string{{"", "\n"}, {`{"id":"s","events":[`, "]}"}}) {
		long := io.MultiReader(
			strings.NewReader(around[0]+`{"id":"x","author":"user","content":{"parts":[{"text":"`),
			io.LimitReader(letters{}, size),
			strings.NewReader(`"}]}}`+around[1]))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		stats, err := Read(long, ReadOptions{Session: "s"},
			func(transcript.Step) error { return nil })
		runtime.ReadMemStats(&after)
		if err != nil || stats.Skipped[SkipLong] != 1 || stats.Records != 0 {
			t.Fatalf("%v %+v", err, stats)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 7*MaxEvent {
			t.Errorf("%d bytes for an event of %d", got, size)
		}
	}
}

type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// A line of a megabyte is read; an input that fails says so, after what was read of it.
func TestReading(t *testing.T) {
	big := `{"id":"a","author":"user","content":{"parts":[{"text":"` + strings.Repeat("x", 1<<20) +
		`"}]}}` + "\n"
	_, now, _ := readAll(t, []byte(big+big[:30]), ReadOptions{Session: "s"})
	if len(now) != 1 || len(now[0].Text) != 1<<20 {
		t.Errorf("%d messages", len(now))
	}
	n := 0
	_, err := Read(io.MultiReader(strings.NewReader(big), iotest.ErrReader(io.ErrClosedPipe)),
		ReadOptions{Session: "s"}, func(transcript.Step) error { n++; return nil })
	if err == nil || err.Error() != "read transcript: io: read/write on closed pipe" || n != 1 {
		t.Errorf("%v after %d", err, n)
	}
	_, err = Read(strings.NewReader(big), ReadOptions{},
		func(transcript.Step) error { return io.ErrNoProgress })
	if err != io.ErrNoProgress {
		t.Errorf("%v", err)
	}
}

// A call that takes its time is not answered for; a question of the runtime to the person is a
// note, and content again on the way out.
func TestWaiting(t *testing.T) {
	in := `{"id":"a","invocationId":"i","author":"bot","timestamp":1767348000000,"content":{"role":"model","parts":[{"functionCall":{"id":"slow","name":"build"}}]},"longRunningToolIds":["slow"]}
{"id":"b","invocationId":"i","author":"bot","timestamp":1767348001000,"content":{"role":"model","parts":[{"functionCall":{"id":"ask","name":"adk_request_confirmation"}}]}}
{"id":"c","invocationId":"i","author":"user","timestamp":1767348002000,"content":{"role":"user","parts":[{"functionResponse":{"id":"ask","name":"adk_request_confirmation","response":{"confirmed":true}}}]}}
{"id":"d","invocationId":"i","author":"user","timestamp":1767348003000,"content":{"role":"user","parts":[{"functionResponse":{"id":"slow","name":"build","response":{"status":"still at it"}}},{"text":"and?"}]}}
`
	_, now, _ := readAll(t, []byte(in), ReadOptions{Session: "s"})
	var told []string
	for _, m := range now {
		told = append(told, fmt.Sprintf("%s %v", m.Role, m.Note))
	}
	if !slices.Equal(told, []string{"model false", "model true", "tool true", "tool false"}) {
		t.Fatalf("%q", told)
	}
	for _, part := range [][]transcript.Message{now, now[:3]} {
		out, done := writeAll(t, part, WriteOptions{Session: "s", Lines: true})
		if done.Changed[transcript.ChangedCalls] != 0 ||
			done.Changed[transcript.ChangedOrphans] != 0 ||
			bytes.Contains(out, []byte(transcript.NoResult)) ||
			bytes.Contains(out, []byte("customMetadata")) {
			t.Errorf("%+v %s", done, out)
		}
		_, again, _ := readAll(t, out, ReadOptions{Session: "s"})
		sameAll(t, again, part)
	}
}
