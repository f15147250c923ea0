package agent

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
	"github.com/gemini-ctx/ctx/internal/agent/codex"
	"github.com/gemini-ctx/ctx/internal/agent/opencode"
	"github.com/gemini-ctx/ctx/internal/agent/shape"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// of reads the transcripts of an agent as those of a session.
func of[T ~func(string, io.Reader, func(transcript.Step) error) (transcript.Stats, error)](
	session string, read T,
) func(io.Reader, func(transcript.Step) error) (transcript.Stats, error) {
	return func(r io.Reader, emit func(transcript.Step) error) (transcript.Stats, error) {
		return read(session, r, emit)
	}
}

// ofForm is of for an agent whose transcripts have a shape.Form.
func ofForm(
	agent, session string, form func() *shape.Form,
) func(io.Reader, func(transcript.Step) error) (transcript.Stats, error) {
	return func(r io.Reader, emit func(transcript.Step) error) (transcript.Stats, error) {
		return form().Read(agent, session, r, emit)
	}
}

// common are strings that the blocks of Anthropic's API have, and that need not come back.
func common(more ...string) []string {
	return append(more, "user", "assistant", "text", "tool_use", "tool_result", "thinking", "image",
		"base64")
}

// The readers that have tests of their own besides.
var (
	claude = &Format{Dir: "claudecode/testdata", Tree: true,
		Read:  of("", claudecode.ReadAs),
		Write: Write(claudecode.NewWriter), Others: asOthers,
		Pieces: map[string]int{`"type":"tool_use"`: 4, `"type":"tool_result"`: 4}}
	rollouts = &Format{Dir: "codex/testdata",
		Read: codex.Read, Write: Write(codex.NewWriter),
		Others: asOthers,
		Pieces: map[string]int{`"type":"function_call"`: 4, `"type":"function_call_output"`: 4,
			`{"timestamp":"1970-01-01T00:00:00.000Z","type":"session_meta","payload":{"id":"ses_s"`: 1}}
	open = &Format{Dir: "opencode/testdata", Whole: true,
		Read:  opencode.Read,
		Write: Write(opencode.NewWriter), Others: asOthers}
	jsonLines = &Format{Dir: "shape/testdata/jsonl",
		Read: shape.ReadJSONL, Write: Write(shape.NewJSONLWriter),
		Others:  map[string]int{"forgotten": 1},
		Want:    map[string]Expected{"chat.jsonl": {}},
		Dropped: []string{"user", "model", "tool", "system"}}
	qwens = &Format{Dir: "shape/testdata/qwen",
		Read: of("s-1", shape.ReadQwen), Write: Write(shape.NewQwenWriter),
		Others: asOthers, Pieces: map[string]int{`"functionCall":{`: 4, `"functionResponse":{`: 4},
		Want: map[string]Expected{
			"session.jsonl": {Session: "f0000000-0000-4000-9000-000000000001", Version: "0.21.14",
				Kept: map[string]int{"system tide_state": 1}},
		}, Dropped: []string{"assistant", "tool_result", "model"}}
	continues = &Format{Dir: "shape/testdata/continue", Whole: true,
		Read: ofForm(shape.ContinueAgent, "s-1", shape.Continue),
		Want: map[string]Expected{
			"session.json": {Session: "c0000000-0000-4000-8000-000000000001",
				Kept: map[string]int{"role pilot": 1}},
		}, Dropped: []string{"user", "assistant", "thinking", "tool", "text", "imageUrl", "function",
			"data:image/png;base64,iVBORw0KGgo=", "doc", // the state of the editor
			"done", "errored", "generating", "File", "Error", "harbour", // of calls and prompt logs
			`{"filepath":"lamps.txt"}`, `{"command":"false"}`, `{"dirPath":"."}`}}
	tasks = &Format{Dir: "shape/testdata/cline", List: true,
		Read: ofForm(shape.ClineAgent, "1770105600000", shape.Cline),
		Want: map[string]Expected{
			"task.json": {Session: "1770105600000", Kept: map[string]int{"role pilot": 1}},
		}, Dropped: common()}
	gooses = &Format{Dir: "shape/testdata/goose",
		Read: ofForm(shape.GooseAgent, "20260203_1", shape.Goose),
		Want: map[string]Expected{"20260203_1.jsonl": {Session: "20260203_1"}},
		Dropped: []string{"user", "assistant", "text", "toolRequest", "toolResponse", "thinking",
			"image", "success", "error"}}
	crushes = &Format{Dir: "shape/testdata/crush", Whole: true,
		Read: ofForm(shape.CrushAgent, "s-1", shape.Crush),
		Want: map[string]Expected{
			"session.json": {Session: "c0000000-0000-4000-8000-000000000001"},
		}, Dropped: []string{"user", "assistant", "tool", "text", "tool_call", "tool_result", "finish",
			"reasoning", "shell_command", "make", "tool_use", "end_turn", "m-2$$call_2",
			`{"file_path":"lamps.txt"}`, `{"prompt":"Count the lamps"}`}}
	kiros = &Format{Dir: "shape/testdata/kiro",
		Read: ofForm(shape.KiroAgent, "s-1", shape.Kiro),
		Want: map[string]Expected{
			"session.jsonl": {Session: "s-1", Kept: map[string]int{"role TideTable": 1}},
		}, Dropped: []string{"v1", "Prompt", "AssistantMessage", "ToolResults", "toolResult", "toolUse",
			"thinking", "text", "success", "error", "json", "exit status: 0", "north: on\n", "dim\n"}}
	talks = &Format{Dir: "shape/testdata/kirocli", Whole: true,
		Read: ofForm(shape.KiroAgent, "s-1", shape.Kiro),
		Want: map[string]Expected{
			"conversation.json": {Session: "c0000000-0000-4000-8000-000000000003"},
			"pairs.json":        {Session: "c0000000-0000-4000-8000-000000000004"},
		}, Dropped: []string{"Png", "Success", "Error", "1", "r1", "r11", "r13", "r21", "r32", "r36",
			"r41", "r0", "s1", "> Which lamps are lit?", "> Which lamps are lit — 灯?",
			"2026-02-03T09:00:10.250+01:00", "2026-02-03T09:00:20+01:00", // are in UTC
			"2026-02-03T09:00:30+01:00", "2026-02-03T09:00:31+01:00", "2026-02-03T09:00:35+01:00",
			"2026-02-03T09:00:40+01:00"}}
	chats = &Format{Dir: "shape/testdata/vscode", Whole: true,
		Read: ofForm(shape.VSCodeAgent, "s-1", shape.VSCode),
		Want: map[string]Expected{
			"session.json": {Session: "f0000000-0000-4000-8000-000000000001"},
		}, Dropped: []string{"text", "ada", // the account
			"copilot/auto", "copilot/harbour-2", "GitHub Copilot", "panel", "c2ln",
			// of parts of a response
			"mcpServersStarting", "Running tide", "input", "embed", "{}", "thinking",
			"inlineReference", "toolInvocationSerialized", "markdownContent", "terminal",
			"/src/quay/lamps.txt",
			// calls that the model's own arguments tell
			"copilot_readFile", "Reading lamps.txt", "Running make", "call_1__vscode-1",
			`{"filePath":"/src/quay/lamps.txt"}`, `{"query":"south"}`, "I should ", "look.", ".",
			"south: off", "I look at ", "I look at lamps.txt.", "north: on", "\nend",
			"The north one. ", "It is old."}}
	threads = &Format{Dir: "shape/testdata/zed", Whole: true,
		Read: ofForm(shape.ZedAgent, "s-1", shape.Zed),
		Want: map[string]Expected{
			"thread.json": {Session: "d0000000-0000-4000-8000-000000000001"},
			"agent.json": {Session: "d0000000-0000-4000-8000-000000000002",
				Kept: map[string]int{"role Tide": 1}},
			"old.json": {Session: "d0000000-0000-4000-8000-000000000003"},
		}, Dropped: common("done", "json", "context", "assistant", "system", "write", "NotGenerated",
			"2025-05-03T08:30:00Z", "2026-02-03T08:30:00Z", // have milliseconds
			"File", "RedactedThinking", "data",
			"d0000000-0000-4000-9000-000000000001", "d0000000-0000-4000-9000-000000000002",
			"Here are the tool results.", "Resume", // the client's
			`{"path":"quay/lamps.txt"}`, "{}", "north: on\nsouth: off", // are there twice
			// TestZedWords and TestZedThreads have what these become
			"Which lamps of ", " are lit — 灯?", "As in ", ", ", " and ", "The north ", "one.",
			"lamps.txt", "Which lamps — 灯 — are lit?\nlamps.txt\n```\nnorth: on\n```\n"+
				"Look at both.\nI should look.\nThe north one.\nThank you.\nIt is\nBe short.\n")}
	antigravitys = &Format{Dir: "shape/testdata/antigravity",
		Read: of("s-1", shape.ReadAntigravity),
		Want: map[string]Expected{"transcript_full.jsonl": {Session: "s-1",
			Kept: map[string]int{"TIDE_STATE": 1, "TIDE_READING": 1}}},
		Dropped: []string{"MODEL", "PLANNER_RESPONSE", "true"}}
	copilots = &Format{Dir: "shape/testdata/copilot",
		Read: of("s-1", shape.ReadCopilot),
		Want: map[string]Expected{
			"events.jsonl": {Session: "c0000000-0000-4000-8000-000000000001", Version: "1.0.102",
				Kept: map[string]int{"session.tide": 1}},
			"old.jsonl": {Session: "c0000000-0000-4000-8000-000000000002", Version: "0.0.420"},
		}, Dropped: []string{"user.message", "assistant.message", `{"prompt":"count"}`,
			"north: on\n(1 line)"}}
	cursors = &Format{Dir: "shape/testdata/cursor",
		Read: of("s-1", shape.ReadCursor),
		Want: map[string]Expected{
			"editor.jsonl": {Session: "s-1"}, "cli.jsonl": {Session: "s-1",
				Kept: map[string]int{"tide_state": 1, "role pilot": 1}},
		}, Dropped: common()}
	composers = &Format{Dir: "shape/testdata/cursoreditor", Whole: true,
		Read: of("s-1", shape.ReadCursor),
		Want: map[string]Expected{
			"composer.json": {Session: "d0000000-0000-4000-8000-000000000005",
				Kept: map[string]int{"role bubble 7": 1}},
			"inline.json": {Session: "d0000000-0000-4000-8000-000000000006"},
		}, Dropped: []string{"b16", "b13", "agent", "sh", "not sent", "harbour-2", "default",
			"ERROR_TIDE", "completed", "accepted", "rejected", "error", "loading",
			"The line is down", "Try at low water.", // are one text
			"d0000000-0000-4000-8000-000000000005", "call_1", // of a parent
			`{"afterContentId":"c1"}`,
			`{"clientVisibleErrorMessage":"No file","modelVisibleErrorMessage":"sea.txt is not there"}`,
			`{"command":"cat lamps.txt"}`,
			`{"command":"date"}`,
			`{"command":"false"}`,
			`{"command":"rm lamps.txt"}`,
			`{"output":"","rejected":false,"exitCodeV2":1}`,
			`{"output":"","rejected":true}`,
			`{"output":"north: on\n","rejected":false,"exitCodeV2":0}`,
			`{"pattern":"north"}`,
			`{"relativeWorkspacePath":"quay/lamps.txt"}`,
			`{"root":{"children":[{"children":[{"text":"Thank you.","type":"text"}]}]}}`,
			`{"root":{"children":[{"children":[{"text":"Which lamps are lit — 灯?","type":"text"}]}]}}`,
			`{"root":{"children":[{"children":[{"text":"Which lamps are lit?","type":"text"}]}]}}`,
			`{"target_file":"sea.txt"}`,
			`{"term": "til`,
			`{}`,
		}}
	amps = &Format{Dir: "shape/testdata/amp", Whole: true,
		Read: ofForm(shape.AmpAgent, "s-1", shape.Amp),
		Want: map[string]Expected{
			"thread.json": {Session: "T-e0000000-0000-4000-8000-000000000001",
				Kept: map[string]int{"role pilot": 1}},
			"export.json": {Session: "T-e0000000-0000-4000-8000-000000000002"},
		}, Dropped: []string{"user", "assistant", "text", "tool_use", "tool_result", "thinking", "done",
			"/src/quay/lamps.txt", // which file was read is in the call
			"quay", "file:///src/quay", "linux", "lamps.txt:1: on", "log.txt:2: on",
			"local-client", "medium", "2026-02-03T08:00:00.000Z", // of the program
			"file:///src/quay/lamps.txt", "update", "update: lamps.txt (+1/-1)",
			"--- lamps.txt\n+++ lamps.txt\n-south: off\n+south: on\n"}} // in one text
	droids = &Format{Dir: "shape/testdata/droid",
		Read: ofForm(shape.DroidAgent, "s-1", shape.Droid),
		Want: map[string]Expected{
			"session.jsonl": {Session: "d0000000-0000-4000-8000-000000000001",
				Kept: map[string]int{"tide_state": 1, "role pilot": 1}},
		}, Dropped: common("message", "ada")}
	pis = &Format{Dir: "shape/testdata/pi",
		Read: ofForm(shape.PiAgent, "s-1", shape.Pi),
		Want: map[string]Expected{
			"session.jsonl": {Session: "e0000000-0000-4000-8000-000000000001",
				Kept: map[string]int{"tide_state": 1, "role pilot": 1}},
		}, Dropped: []string{"message", "user", "assistant", "toolResult", "text", "toolCall",
			"thinking", "image", "session", "model_change"}}
)

// asOthers is what most writers cannot write of Others as it was said.
var asOthers = map[string]int{"results without a call": 1, "calls answered with an error": 1,
	"forgotten": 1, "thoughts of other models": 1, "parts without a form": 1}

// readers are all of them.
var readers = []*Format{claude, rollouts, open, jsonLines, qwens, continues, tasks, gooses, crushes,
	kiros, talks, chats, threads, antigravitys, copilots, cursors, composers, amps, droids, pis}

func each(t *testing.T, which func(*Format) bool, do func(*testing.T, *Format)) {
	t.Helper()
	for _, f := range readers {
		if which(f) {
			t.Run(f.Dir, func(t *testing.T) {
				t.Parallel()
				do(t, f)
			})
		}
	}
}

// Lines that are torn, damaged or cut off give what is whole.
func TestFixtures(t *testing.T) {
	each(t, func(f *Format) bool { return f.Want != nil && !f.Whole && !f.List },
		func(t *testing.T, f *Format) { f.CheckFixtures(t) })
}

// White space between the tokens of a line of JSON says nothing, nor does a mark of UTF-8 before
// it.
func TestSpacedLines(t *testing.T) {
	each(t, func(f *Format) bool { return !f.Whole && !f.List }, func(t *testing.T, f *Format) {
		for name, data := range f.Fixtures(t) {
			var spaced []byte
			for line := range bytes.Lines(data) {
				var out bytes.Buffer
				if json.Indent(&out, bytes.TrimSpace(line), "", " ") == nil {
					line = append(bytes.ReplaceAll(out.Bytes(), []byte("\n"), nil), '\n')
				}
				spaced = append(append(spaced, "\ufeff"...), line...)
			}
			want, _, _ := f.Steps(t, data)
			if got, _, _ := f.Steps(t, spaced); Trace(got) != Trace(want) {
				t.Errorf("%s: got\n%s\nwant\n%s", name, Trace(got), Trace(want))
			}
		}
	})
}

// What is said is what the traces beside the fixtures say.
func TestTraces(t *testing.T) {
	each(t, func(f *Format) bool { return f.Want != nil },
		func(t *testing.T, f *Format) { f.CheckTraces(t, f.Want, f.Dropped...) })
}

// A document that is cut off, or of anybody else, says nothing, and that is counted.
func TestNone(t *testing.T) {
	each(t, func(f *Format) bool { return f.Whole && f.Write == nil },
		func(t *testing.T, f *Format) {
			for name, data := range f.Fixtures(t) {
				f.CheckErrors(t, string(data))
				if steps, _, stats := f.Steps(t, data[:len(data)/2]); len(steps) > 0 ||
					stats.Skipped[transcript.SkipBadJSON] != 1 {
					t.Errorf("%s: %d steps of a half, %v", name, len(steps), stats.Skipped)
				}
			}
			for _, in := range []string{`{"messages":[]}`, `{"history":[]}`} {
				_, _, stats := f.Steps(t, []byte(in))
				if stats.Skipped[transcript.SkipUnknown] != 1 {
					t.Errorf("%s: skipped %v", in, stats.Skipped)
				}
			}
		})
}

// A list that is cut off gives the messages that are whole.
func TestCutOff(t *testing.T) {
	each(t, func(f *Format) bool { return f.List }, func(t *testing.T, f *Format) {
		for name, data := range f.Fixtures(t) {
			whole, _, _ := f.Steps(t, data)
			for cut := 1; cut < len(data)-2; cut += 97 {
				steps, _, stats := f.Steps(t, data[:cut])
				if len(steps) > len(whole) || len(stats.Skipped) != 1 ||
					Trace(steps) != Trace(whole[:len(steps)]) {
					t.Fatalf("%s up to %d: %d steps, %v", name, cut, len(steps), stats.Skipped)
				}
			}
		}
	})
}

// What others said is written, and comes back; what cannot be written as it was is counted.
func TestOthers(t *testing.T) {
	writes := func(f *Format) bool { return f.Write != nil }
	o := transcript.WriteOptions{Session: "ses_s", Dir: "/p", Title: "t"}
	each(t, writes, func(t *testing.T, f *Format) {
		f.CheckWritten(t, Others())
		out, done, err := f.Write(Items(Others()), o)
		if err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(done.Changed, f.Others) || done.Messages != 13 || done.Notes != 1 {
			t.Errorf("%+v", done)
		}
		for piece, n := range f.Pieces { // every call has a result
			if got := strings.Count(string(out), piece); got < n {
				t.Errorf("%d times %s in\n%s", got, piece, out)
			}
		}
		f.CheckSeveral(t, o)
	})
}

// Every reader has fixtures, and a row.
func TestRows(t *testing.T) {
	dirs, err := filepath.Glob("*/testdata")
	if err != nil {
		t.Fatal(err)
	}
	shaped, err := filepath.Glob("shape/testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	// These have other forms
	own := []string{"adk/testdata", "geminicli/testdata", "markdown/testdata", "shape/testdata"}
	for _, dir := range append(dirs, shaped...) {
		if !slices.Contains(own, dir) &&
			!slices.ContainsFunc(readers, func(f *Format) bool { return f.Dir == dir }) {
			t.Errorf("%s has no row", dir)
		}
	}
}

func FuzzAmp(f *testing.F)         { amps.FuzzFixtures(f) }
func FuzzAntigravity(f *testing.F) { antigravitys.FuzzFixtures(f) }
func FuzzCline(f *testing.F)       { tasks.FuzzFixtures(f) }
func FuzzContinue(f *testing.F)    { continues.FuzzFixtures(f) }
func FuzzCopilot(f *testing.F)     { copilots.FuzzFixtures(f) }
func FuzzCursor(f *testing.F)      { cursors.FuzzFixtures(f) }
func FuzzComposers(f *testing.F)   { composers.FuzzFixtures(f) }
func FuzzDroid(f *testing.F)       { droids.FuzzFixtures(f) }
func FuzzGoose(f *testing.F)       { gooses.FuzzFixtures(f) }
func FuzzCrush(f *testing.F)       { crushes.FuzzFixtures(f) }
func FuzzKiro(f *testing.F)        { kiros.FuzzFixtures(f) }
func FuzzKiroCLI(f *testing.F)     { talks.FuzzFixtures(f) }
func FuzzPi(f *testing.F)          { pis.FuzzFixtures(f) }
func FuzzQwen(f *testing.F)        { qwens.FuzzFixtures(f) }
func FuzzVSCode(f *testing.F)      { chats.FuzzFixtures(f, changes) }
func FuzzZed(f *testing.F)         { threads.FuzzFixtures(f) }
