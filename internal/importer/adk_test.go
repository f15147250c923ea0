package importer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/adk"
	"github.com/gemini-ctx/ctx/internal/agent/geminicli"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/exporter"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/importer"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/state"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

func exportADK(
	t testing.TB, s *session.Store, name, branch string, o adk.WriteOptions,
) ([]byte, transcript.Written) {
	t.Helper()
	if o.Agent == "" {
		o.Agent = "agent"
	}
	var b bytes.Buffer
	done, err := s.Exporter.ADK(context.Background(), storetest.View(t, s), name, branch, &b,
		exporter.ADKOptions{WriteOptions: o})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), done
}

func importADK(t testing.TB, s *session.Store, in []byte, as string) importer.ImportedADK {
	t.Helper()
	return storetest.Must[importer.ImportedADK](t)(s.Importer.ImportADK(context.Background(),
		bytes.NewReader(in), as, adk.Detect))
}

func importGemini(t testing.TB, s *session.Store) importer.ImportedTranscript {
	t.Helper()
	return storetest.Must[importer.ImportedTranscript](t)(
		s.Importer.ImportTranscript(
			context.Background(), func(emit func(transcript.Step) error) (transcript.Stats, error) {
				return geminicli.ReadAs("", strings.NewReader(geminiTranscript), emit)
			}, ""))
}

// spoken is what a branch says, entry by entry, without ids: those hang on the store.
func spoken(t testing.TB, s *session.Store, name, branch string) []string {
	t.Helper()
	tip := storetest.Must[format.Value](t)(history.Tip(storetest.View(t, s), name, branch))
	var list []string
	for _, shown := range storetest.Must[[]*history.Shown](t)(
		s.Recall.Log(tip.ID, recall.LogOptions{})) {
		e := shown.Entry
		src := ""
		if e.Source != nil && e.Source.Agent != transcript.Own {
			src = e.Source.Agent + " " + e.Source.Session + " " + e.Source.Message
		}
		list = append(list,
			fmt.Sprintf("%s %s/%s %s %q text=%q parts=%s %v %v %d %s", e.Kind, e.Role, e.Author,
				e.Time, e.Invocation, shown.Text, shown.Parts,
				e.Calls, e.Results, e.Tokens, src))
	}
	return list
}

func sameSpoken(t testing.TB, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("entry %d of %d and %d:\n got %s\nwant %s", i, len(got), len(want),
				strings.Join(got[min(i, len(got)):], "\n     "),
				strings.Join(want[min(i, len(want)):], "\n     "))
		}
	}
}

const geminiTranscript = `{"sessionId":"s-1","projectHash":"ab","startTime":"2026-01-02T10:00:00.000Z","lastUpdated":"2026-01-02T10:00:00.000Z","kind":"main"}
{"id":"m1","timestamp":"2026-01-02T10:00:01.000Z","type":"user","content":[{"text":"list the files"}]}
{"id":"n1","timestamp":"2026-01-02T10:00:01.500Z","type":"info","content":"a notice"}
{"id":"m2","timestamp":"2026-01-02T10:00:02.000Z","type":"gemini","content":"I look.","thoughts":[{"subject":"Plan","description":"list","timestamp":"2026-01-02T10:00:02.000Z"}],"tokens":{"input":9,"output":4,"total":13},"model":"gemini-2.5-flash","toolCalls":[{"id":"c1","name":"ls","args":{"dir":"."},"result":[{"functionResponse":{"id":"c1","name":"ls","response":{"output":"a.go"}}}],"status":"success","timestamp":"2026-01-02T10:00:03.000Z"},{"id":"c2","name":"cat","args":{"file":"a.go"},"result":[{"functionResponse":{"id":"c2","name":"cat","response":{"output":"<tool_output_masked>…</tool_output_masked>"}}}],"status":"success","timestamp":"2026-01-02T10:00:03.500Z"}]}
{"id":"m3","timestamp":"2026-01-02T10:00:04.000Z","type":"gemini","content":"There is a.go.","model":"gemini-2.5-flash"}
{"id":"m4","timestamp":"2026-01-02T10:00:05.000Z","type":"user","content":[{"text":"thanks"}]}
{"id":"m5","timestamp":"2026-01-02T10:00:06.000Z","type":"user","content":[{"text":"and bye"}]}
{"id":"m6","timestamp":"2026-01-02T10:00:07.000Z","type":"gemini","content":"","model":"gemini-2.5-pro","toolCalls":[{"id":"c3","name":"exit","args":{},"status":"cancelled","timestamp":"2026-01-02T10:00:08.000Z"}]}
`

// A transcript goes through events into another store and is the same there; a second time, in
// either store and in either unit, nothing is new.
func TestC3_ADKThroughStores(t *testing.T) {
	a, b := storetest.Create(t), storetest.Create(t)
	importGemini(t, a)
	storetest.Say(t, a, "s-1", "user", "said to ctx itself")
	js, done := exportADK(t, a, "s-1", history.MainBranch, adk.WriteOptions{})
	py, _ := exportADK(t, a, "s-1", history.MainBranch, adk.WriteOptions{Unit: adk.Python})
	lines, _ := exportADK(t, a, "s-1", history.MainBranch, adk.WriteOptions{Lines: true})
	if done.Changed[transcript.ChangedCalls] != 1 || done.Messages != 10 || done.Records != 10 {
		t.Errorf("%+v", done)
	}
	first := importADK(t, b, js, "")
	if first.Session != "s-1" || first.Messages != 9 || first.Notes != 1 ||
		first.Known+first.Amended != 0 {
		t.Errorf("%+v", first)
	}
	sameSpoken(t, spoken(t, b, "s-1", history.MainBranch), spoken(t, a, "s-1", history.MainBranch))
	for name, in := range map[string][]byte{"js": js, "py": py, "lines": lines} {
		for _, s := range []*session.Store{a, b} {
			before := storetest.View(t, s).Number
			again := importADK(t, s, in, "s-1")
			if again.Known != 10 || again.Messages+again.Notes+again.Amended+again.Rewinds != 0 ||
				storetest.View(t, s).Number != before {
				t.Errorf("%s: %+v", name, again)
			}
		}
	}
	if back, _ := exportADK(t, b, "s-1", history.MainBranch,
		adk.WriteOptions{}); !bytes.Equal(back, js) {
		t.Errorf("other bytes:\n%s\n%s", back, js)
	}
	// The transcript itself brings nothing new either.
	if again := importGemini(t, b); again.Messages+again.Notes+again.Amended != 0 {
		t.Errorf("%+v", again)
	}
	// In another session it is a conversation of its own.
	if other := importADK(t, a, js, "other"); other.Messages != 9 || other.Session != "other" {
		t.Errorf("%+v", other)
	}
	storetest.Check(t, a)
	storetest.Check(t, b)
}

// What ADK wrote, with a rewind in it, comes in once, and goes out as it is now.
func TestADKSession(t *testing.T) {
	in := storetest.Must[[]byte](t)(
		os.ReadFile(filepath.Join("..", "agent", "adk", "testdata", "session.json")))
	s := storetest.Create(t)
	first := importADK(t, s, in, "")
	if first.Session != "harbour-7" || first.Messages != 6 || first.Notes != 5 ||
		first.Rewinds != 1 || first.Stats.Passed["partial"] != 1 {
		t.Errorf("%+v", first)
	}
	tip := storetest.View(t, s).Get(history.RefName("harbour-7", history.MainBranch))
	again := importADK(t, s, in, "")
	if again.Messages+again.Notes+again.Amended+again.Rewinds != 0 || again.Known != 12 ||
		storetest.View(t, s).Get(history.RefName("harbour-7", history.MainBranch)) != tip {
		t.Errorf("%+v", again)
	}
	out, _ := exportADK(t, s, "harbour-7", history.MainBranch, adk.WriteOptions{Unit: adk.Python})
	for _, gone := range []string{"aaaaaaa6", "aaaaaaa7", "aaaaaaa8", "rewindBefore", "partial"} {
		if bytes.Contains(out, []byte(gone)) {
			t.Errorf("%s is in what is left", gone)
		}
	}
	other := storetest.Create(t)
	importADK(t, other, out, "")
	sameSpoken(t, spoken(t, other, "harbour-7", history.MainBranch),
		spoken(t, s, "harbour-7", history.MainBranch))
	// No model sees what is kept with messages.
	view := storetest.Must[[]*history.Shown](t)(s.Recall.Log(tip.ID, recall.LogOptions{}))
	for _, shown := range view {
		if strings.Contains(shown.Text, "adk") || strings.Contains(shown.Text, "stateDelta") {
			t.Errorf("%s shows %q", shown.ID, shown.Text)
		}
	}
	storetest.Check(t, s)
}

// What somebody changes in an exported event is a newer version of its message, whoever said it
// first.
func TestADKAmends(t *testing.T) {
	s := storetest.Create(t)
	importGemini(t, s)
	own := storetest.Say(t, s, "s-1", "user", "the words of ctx itself")
	out, _ := exportADK(t, s, "s-1", history.MainBranch, adk.WriteOptions{})
	masked := bytes.ReplaceAll(out, []byte(`{"output":"a.go"}`), []byte(`{"output":"<masked>"}`))
	masked = bytes.ReplaceAll(masked, []byte("the words of ctx itself"), []byte("other words"))
	done := importADK(t, s, masked, "")
	if done.Amended != 2 || done.Messages != 0 || done.Known != 8 {
		t.Errorf("%+v", done)
	}
	if again := importADK(t, s, masked, ""); again.Amended+again.Messages != 0 {
		t.Errorf("%+v", again)
	}
	if got := storetest.Must[*history.Shown](t)(s.History.Latest(storetest.View(t, s),
		own)); got.Text != "other words" || got.Entry.Amends != own {
		t.Errorf("%+v", got.Entry)
	}
	if back, _ := exportADK(t, s, "s-1", history.MainBranch,
		adk.WriteOptions{}); !bytes.Equal(back, masked) {
		t.Errorf("other bytes:\n%s\n%s", back, masked)
	}
	storetest.Check(t, s)
}

// A secret that an event carries is taken out before anything is written, in fields that are only
// kept, too.
func TestADKSanitized(t *testing.T) {
	const secret = "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY"
	in := fmt.Sprintf(`{"id":"e1","author":"bot","invocationId":"i","timestamp":1767348000000,"content":{"role":"model","parts":[{"text":"key %s"}]},`+
		`"actions":{"stateDelta":{"k":"%s"}},"unknown":"%s"}`, secret, secret, secret)
	s := storetest.Create(t)
	done := importADK(t, s, []byte(in), "s")
	if done.Messages != 1 || len(done.Redacted) == 0 {
		t.Fatalf("%+v", done)
	}
	if again := importADK(t, s, []byte(in), "s"); again.Known != 1 {
		t.Errorf("%+v", again)
	}
	out, _ := exportADK(t, s, "s", history.MainBranch, adk.WriteOptions{})
	// The state that the event sets, too
	if bytes.Contains(out, []byte(secret)) || bytes.Count(out, []byte("[REDACTED:")) != 4 {
		t.Errorf("%s", out)
	}
}

// The events of a fork say in which branch they were said, belong to the invocation of their
// prompt, and each call has its own result though both branches call theirs the same.
func TestADKForks(t *testing.T) {
	ctx := context.Background()
	s := storetest.Create(t)
	add := func(branch string, m conversation.Message) {
		t.Helper()
		if _, _, err := s.Conversation.Append(ctx, "f", branch, []conversation.Message{m},
			conversation.AppendOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	parts := func(role, part string) conversation.Message {
		return conversation.Message{Role: role, Parts: json.RawMessage("[" + part + "]")}
	}
	call := func(dir string) string {
		return fmt.Sprintf(`{"functionCall":{"id":"c","name":"ls","args":{"dir":%q}}}`, dir)
	}
	answer := func(said string) string {
		return fmt.Sprintf(`{"functionResponse":{"id":"c","name":"ls","response":{"output":%q}}}`,
			said)
	}
	add("main", conversation.Message{Role: "user", Text: "a question"})
	storetest.Must[conversation.Forked](t)(s.Conversation.Fork(ctx, "f", "main",
		[]string{"left", "right"}, conversation.ForkOptions{}))
	add("left", parts("model", call("l")))
	add("right", parts("model", call("r")))
	add("right", parts("tool", answer("of the right")))
	storetest.Must[conversation.Forked](t)(s.Conversation.Fork(ctx, "f", "left",
		[]string{"deep.er"}, conversation.ForkOptions{}))
	add("deep.er", conversation.Message{Role: "user", Text: "a prompt inside"})
	add("deep.er", parts("model", call("deep down")))

	type seen struct{ branch, author, text, invocation string }
	read := func(branch string) (list []seen) {
		t.Helper()
		out, _ := exportADK(t, s, "f", branch, adk.WriteOptions{})
		var doc struct {
			Events []struct {
				ID, Branch, Author, InvocationID string
				Content                          struct {
					Parts []struct {
						Text             string
						FunctionCall     *struct{ ID string }
						FunctionResponse *struct {
							Response map[string]string
						}
					}
				}
			}
		}
		if err := json.Unmarshal(out, &doc); err != nil {
			t.Fatal(err)
		}
		called := map[string]string{}
		for _, e := range doc.Events {
			if len(e.Content.Parts) == 0 {
				t.Fatalf("no content: %s", out)
			}
			p := e.Content.Parts[0]
			if p.FunctionCall != nil {
				called[e.Branch] = e.ID
			}
			if p.FunctionResponse != nil && e.ID != called[e.Branch]+"#resp" {
				t.Errorf("result %s in branch %s is not of %s", e.ID, e.Branch, called[e.Branch])
			}
			if p.FunctionCall != nil {
				p.Text = "call"
			}
			if p.FunctionResponse != nil {
				p.Text = "result " + p.FunctionResponse.Response["output"] +
					p.FunctionResponse.Response["error"]
			}
			list = append(list, seen{e.Branch, e.Author, p.Text, e.InvocationID})
		}
		return list
	}
	inv := adk.InvocationID("f",
		storetest.Must[[]*history.Shown](t)(
			s.Recall.Log(
				storetest.Must[format.Value](t)(history.Tip(storetest.View(t, s), "f", "main")).ID,
				recall.LogOptions{}))[0].ID.String())
	// An open child, inside another one.
	want := []seen{
		{"", "user", "a question", inv}, {"left", "agent", "call", inv},
		{"left", "agent", "result no result was recorded", inv},
		{"left.deep%2Eer", "user", "a prompt inside", inv},
		{"left.deep%2Eer", "agent", "call", inv},
		{"left.deep%2Eer", "agent", "result no result was recorded", inv},
	}
	if got := read("deep.er"); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	storetest.Must[conversation.Joined](t)(s.Conversation.Join(ctx, "f", "left",
		[]string{"deep.er"}, conversation.JoinOptions{}))
	add("left", parts("tool", answer("of the left")))
	storetest.Must[conversation.Joined](t)(s.Conversation.Join(ctx, "f", "main",
		[]string{"left", "right"}, conversation.JoinOptions{}))
	add("main", conversation.Message{Role: "model", Text: "together"})
	add("main", conversation.Message{Role: "user", Text: "another question"})
	got := read("main")
	next := got[len(got)-1].invocation
	want = []seen{
		{"", "user", "a question", inv}, {"left", "agent", "call", inv},
		{"left", "agent", "result no result was recorded", inv},
		{"left.deep%2Eer", "user", "a prompt inside", inv},
		{"left.deep%2Eer", "agent", "call", inv},
		{"left.deep%2Eer", "agent", "result no result was recorded", inv},
		{"left", "agent", "result of the left", inv},
		{"right", "agent", "call", inv}, {"right", "agent", "result of the right", inv},
		{"", "agent", "together", inv}, {"", "user", "another question", next},
	}
	want = slices.Delete(want, 2, 3) // its result is there now
	if !slices.Equal(got, want) || next == inv {
		t.Errorf("%q\nwant %q", got, want)
	}
	if again := importADK(t, s, must2(exportADK(t, s, "f", history.MainBranch, adk.WriteOptions{})),
		""); again.Messages+again.Amended != 0 {
		t.Errorf("%+v", again)
	}
	// What came from a fork is kept where there is none.
	add = func(branch string, m conversation.Message) {
		t.Helper()
		if _, _, err := s.Conversation.Append(ctx, "g", branch, []conversation.Message{m},
			conversation.AppendOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	add("main", conversation.Message{Role: "user", Text: "a question"})
	storetest.Must[conversation.Forked](t)(s.Conversation.Fork(ctx, "g", "main",
		[]string{"left", "right"}, conversation.ForkOptions{}))
	add("left", parts("model", call("l")))
	add("left", parts("tool", answer("of the left")))
	add("right", conversation.Message{Role: "user", Text: "to the right"})
	add("right", conversation.Message{Role: "model", Text: "said there"})
	storetest.Must[conversation.Joined](t)(s.Conversation.Join(ctx, "g", "main",
		[]string{"left", "right"}, conversation.JoinOptions{}))
	out, _ := exportADK(t, s, "g", history.MainBranch, adk.WriteOptions{})
	b := storetest.Create(t)
	if done := importADK(t, b, out, ""); done.Messages != 5 {
		t.Errorf("%+v", done)
	}
	if back, _ := exportADK(t, b, "g", history.MainBranch,
		adk.WriteOptions{}); !bytes.Equal(back, out) {
		t.Errorf("other bytes:\n%s\n%s", back, out)
	}
}

func must2(b []byte, _ transcript.Written) []byte { return b }

// A token set is in the metadata only where somebody asks for it, and is derived: an import does
// not read it.
func TestADKTokens(t *testing.T) {
	s := storetest.Create(t)
	storetest.Say(t, s, "s", "user", "x")
	storetest.Must[conversation.Forked](t)(s.Conversation.Fork(context.Background(), "s",
		history.MainBranch, []string{"a", "b"}, conversation.ForkOptions{}))
	if _, _, err := s.Conversation.Append(context.Background(), "s", "b",
		[]conversation.Message{{Role: "model", Text: "y"}},
		conversation.AppendOptions{}); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	_, err := s.Exporter.ADK(context.Background(), storetest.View(t, s), "s", "b", &b,
		exporter.ADKOptions{WriteOptions: adk.WriteOptions{Agent: "a"}, Tokens: true})
	if err != nil ||
		!strings.Contains(b.String(), `"customMetadata":{"ctx":{"v":1,"branchTokens":[2]}}`) {
		t.Errorf("%v %s", err, b.String())
	}
	other := storetest.Create(t)
	if done := importADK(t, other, b.Bytes(), ""); done.Messages != 2 {
		t.Errorf("%+v", done)
	}
	if out, _ := exportADK(t, other, "s", history.MainBranch,
		adk.WriteOptions{}); strings.Contains(string(out), "branchTokens") {
		t.Errorf("%s", out)
	}
}

// An import that a rewind of the store's own has gone past does not bring back what left.
func TestADKAfterRewind(t *testing.T) {
	in := storetest.Must[[]byte](t)(
		os.ReadFile(filepath.Join("..", "agent", "adk", "testdata", "session.json")))
	s := storetest.Create(t)
	importADK(t, s, in, "h")
	tip := storetest.Must[format.Value](t)(history.Tip(storetest.View(t, s), "h",
		history.MainBranch))
	list := storetest.Must[[]*history.Shown](t)(s.Recall.Log(tip.ID, recall.LogOptions{}))
	storetest.Must[conversation.Rewound](t)(s.Conversation.Rewind(context.Background(), "h",
		history.MainBranch, list[1].ID, conversation.RewindOptions{}))
	before := storetest.View(t, s).Number
	again := importADK(t, s, in, "h")
	if again.Messages+again.Notes+again.Amended+again.Rewinds != 0 ||
		storetest.View(t, s).Number != before {
		t.Errorf("%+v", again)
	}
	if out, done := exportADK(t, s, "h", history.MainBranch,
		adk.WriteOptions{}); done.Messages != 1 || bytes.Contains(out, []byte("gauge")) {
		t.Errorf("%+v %s", done, out)
	}
}

// C8, C10: an export shows what a mask shows where it is asked to. What comes back shortened, here,
// is no newer version of the original; elsewhere it is all there is.
func TestC8_ADKMasked(t *testing.T) {
	s := storetest.Create(t, storetest.LowGate...)
	in := `{"id":"e1","invocationId":"i","author":"user","timestamp":1767348000000,"content":{"role":"user","parts":[{"text":"read it"}]}}
{"id":"e2","invocationId":"i","author":"bot","timestamp":1767348001000,"content":{"role":"model","parts":[{"functionCall":{"id":"a1","name":"read_file","args":{}}}]}}
{"id":"e3","invocationId":"i","author":"bot","timestamp":1767348002000,"content":{"role":"user","parts":[{"functionResponse":{"id":"a1","name":"read_file","response":{"output":"` + storetest.LongOutput(1) + `"}}}]}}
`
	importADK(t, s, []byte(in), "s")
	_, own := storetest.CallTool(t, s, 1, storetest.LongOutput(2))
	storetest.Say(t, s, "s", "model", "done")
	if done := storetest.MaskAll(t, s); len(done.Parts) != 2 {
		t.Fatalf("%+v", done)
	}
	write := func(masked bool) []byte {
		t.Helper()
		var b bytes.Buffer
		_, err := s.Exporter.ADK(context.Background(), storetest.View(t, s), "s",
			history.MainBranch, &b,
			exporter.ADKOptions{WriteOptions: adk.WriteOptions{Agent: "agent"}, Masked: masked})
		if err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	whole, short := write(false), write(true)
	if bytes.Count(short, []byte("<tool_output_masked>")) != 2 ||
		bytes.Contains(whole, []byte("masked")) ||
		!bytes.Contains(whole, []byte(storetest.LongOutput(2))) {
		t.Fatalf("%s\n%s", whole, short)
	}
	before := storetest.View(t, s).Number
	for _, in := range [][]byte{whole, short} {
		if again := importADK(t, s, in, ""); again.Known != 6 ||
			again.Amended+again.Messages != 0 || storetest.View(t, s).Number != before {
			t.Errorf("%+v", again)
		}
	}
	if storetest.ExpandedText(t, s, own) != storetest.LongOutput(2) {
		t.Error("the original is lost")
	}
	// A mask that was taken back is no reason to take its short form for new words.
	storetest.Must[conversation.Undone](t)(s.Conversation.Undo(context.Background(), "s"))
	before = storetest.View(t, s).Number
	if again := importADK(t, s, short, ""); again.Known != 6 || again.Amended != 0 ||
		storetest.View(t, s).Number != before {
		t.Errorf("after the mask was taken back: %+v", again)
	}
	b := storetest.Create(t)
	importADK(t, b, short, "")
	if back, _ := exportADK(t, b, "s", history.MainBranch,
		adk.WriteOptions{}); !bytes.Equal(back, short) {
		t.Errorf("other bytes:\n%s\n%s", back, short)
	}
	storetest.Check(t, s)
}

// The state of a session of ADK is the state of the session here, both ways; the events that
// brought it do not take back what was set since.
func TestADKState(t *testing.T) {
	const event = `{"id":"e1","invocationId":"i","author":"user","content":{"role":"user","parts":[{"text":"x"}]},"actions":{"stateDelta":{"turns":2,"temp:x":1}},"timestamp":1767348000000}`
	for name, c := range map[string]struct{ in, want string }{
		"of the session": {`{"id":"s","appName":"shop","userId":"ada","state":{"turns":3,"app:v":1,"user:l":"en","temp:x":1},"events":[` + event + `]}`, `{"app:v":1,"turns":3,"user:l":"en"}`},
		"of the events":  {event, `{"turns":2}`},
		"none":           {`{"id":"s","events":[]}`, ""},
	} {
		s := storetest.Create(t)
		importADK(t, s, []byte(c.in), "s")
		names := state.Names{Session: "s", App: "shop", User: "ada"}
		if c.want == "" {
			if got, _ := s.State.Get(storetest.View(t, s), names); len(got) > 0 {
				t.Errorf("%s: %v", name, got)
			}
			continue
		}
		if got := string(
			storetest.Must[[]byte](t)(
				state.Encode(
					storetest.Must[[]state.Pair](t)(
						s.State.Get(storetest.View(t, s), names))))); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		storetest.Must[state.Done](t)(s.State.Set(context.Background(),
			names,
			[]state.Change{{Pair: state.Pair{Key: "turns",
				Value: []byte("9")}}}))
		number := storetest.View(t, s).Number
		importADK(t, s, []byte(c.in), "s")
		if storetest.View(t, s).Number != number {
			t.Errorf("%s: imported again, something was written", name)
		}
		if out, _ := exportADK(t, s, "s", history.MainBranch,
			adk.WriteOptions{}); !bytes.Contains(out, []byte(`"turns":9`)) {
			t.Errorf("%s: %s", name, out)
		}
		storetest.Check(t, s)
	}
}
