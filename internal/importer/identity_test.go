package importer_test

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/adk"
	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/durable/durabletest"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/importer"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// cameBy is a conversation in one of the forms in which it can come.
type cameBy struct {
	how  string // the name of the form, or adk-events
	text []byte
}

// take imports a conversation.
func (c *cameBy) take(t testing.TB, s *session.Store, as string) importer.Tally {
	t.Helper()
	if c.how == adk.Agent {
		return importADK(t, s, c.text, as).Tally
	}
	row, _ := catalog.Named(c.how)
	return storetest.Must[importer.ImportedTranscript](t)(
		s.Importer.ImportTranscript(
			context.Background(), func(emit func(transcript.Step) error) (transcript.Stats, error) {
				return row.Read("", bytes.NewReader(c.text), emit)
			}, as)).Tally
}

// exportsOf are exports of a session in all forms that have a writer.
func exportsOf(t testing.TB, s *session.Store, name string) (list []cameBy) {
	t.Helper()
	for _, row := range catalog.All() {
		if row.Write == nil {
			continue
		}
		id := storetest.Must[string](t)(
			s.Exporter.OriginOf(storetest.View(t, s), name, history.MainBranch, row.Source))
		if id == "" {
			id = row.NewID(row.Name, s.ID, name)
		}
		var b bytes.Buffer
		o := transcript.WriteOptions{Session: id, Home: s.Exporter.TranscriptHome(name), Dir: "/p",
			Keeps: catalog.Keeps}
		storetest.Must[transcript.Written](t)(s.Exporter.Transcript(context.Background(),
			storetest.View(t, s), name, history.MainBranch, 0, false,
			transcript.Origin{Agent: row.Source, Session: id}, row.Write(&b, o), nil))
		list = append(list, cameBy{row.Name, b.Bytes()})
	}
	out, _ := exportADK(t, s, name, history.MainBranch, adk.WriteOptions{})
	return append(list, cameBy{adk.Agent, out})
}

// anotherStore makes a store that has another id and key than those that others make.
func anotherStore(t testing.TB) *session.Store {
	e := storetest.Env(durabletest.TempDir(t), nil)
	e.Random = strings.NewReader(strings.Repeat("other randomness", 8))
	return storetest.Init(t, e)
}

// mainSessions counts the messages of each session that is no subagent's. Some forms have no place
// for a note without words.
func mainSessions(t testing.TB, s *session.Store) map[string]int {
	t.Helper()
	said := map[string]int{}
	for _, ref := range storetest.View(t, s).Names("sessions/") {
		name, branch, _ := history.BranchOfRef(ref)
		if branch == history.MainBranch && !strings.Contains(name, ".") {
			said[name] = len(slices.DeleteFunc(spoken(t, s, name, branch),
				func(line string) bool { return !strings.HasPrefix(line, "message ") }))
		}
	}
	return said
}

// A conversation that came to a store in one form is known there in every other form: its own
// transcript, and what another store exports.
func TestIdentity(t *testing.T) {
	for _, of := range []struct{ form, file string }{
		{"claude-code", "claudecode/testdata/session.jsonl"},
		{"codex", "codex/testdata/rollout.jsonl"},
		{"opencode", "opencode/testdata/session.json"},
		{"gemini-cli", "geminicli/testdata/turn.jsonl"},
		{"qwen", "shape/testdata/qwen/session.jsonl"},
		{"droid", "shape/testdata/droid/session.jsonl"},
		{"pi", "shape/testdata/pi/session.jsonl"},
		{adk.Agent, "adk/testdata/session.json"},
		{"", ""},
	} {
		t.Run("of "+of.form, func(t *testing.T) {
			t.Parallel()
			s, name := storetest.Create(t), "w"
			var ways []cameBy
			if of.form == "" {
				storetest.Say(t, s, name, "user", "purple elephants")
				storetest.Say(t, s, name, "model", "grey zebras")
			} else {
				text, err := os.ReadFile(filepath.Join("../agent", of.file))
				if err != nil {
					t.Fatal(err)
				}
				own := cameBy{of.form, text}
				own.take(t, s, "")
				ways = append(ways, own)
				name = slices.Collect(maps.Keys(mainSessions(t, s)))[0]
			}
			ways = append(ways, exportsOf(t, s, name)...)
			for _, first := range ways {
				to := anotherStore(t)
				first.take(t, to, "")
				want := mainSessions(t, to)
				for _, way := range ways {
					done := way.take(t, to, "")
					again := way.how == of.form // it may tell of older versions
					amended := done.Amended > 0 && !again
					if got := mainSessions(t, to); !maps.Equal(got, want) || amended {
						t.Errorf("by %s, then by %s: %v, want %v; %d amended", first.how, way.how,
							got, want, done.Amended)
					}
				}
			}
		})
	}
}

// pumpInGemini is a transcript with the ids that Gemini CLI gives, by which it knows copies.
const pumpInGemini = `{"sessionId":"4bedd741-fc5b-45bb-821d-8091140532f0","kind":"main"}
{"id":"24a3d6bd-3b4c-47b7-ab46-23ab9b107f5a","timestamp":"2026-01-02T10:31:58.646Z","type":"user",` +
	`"content":[{"text":"At what pressure does the pump run?"}]}
{"id":"212a2e16-9392-4dac-a5c0-3b9e19cf1dd2","timestamp":"2026-01-02T10:31:58.685Z",` +
	`"type":"gemini","content":"","toolCalls":[{"id":"read_1","name":"read_file","args":{},` +
	`"status":"success","result":[{"functionResponse":{"id":"read_1","name":"read_file",` +
	`"response":{"output":"42 bar"}}}]}]}
{"id":"9029b6d9-4b67-4192-b021-c756711cecec","timestamp":"2026-01-02T10:31:58.719Z",` +
	`"type":"gemini","content":"It runs at 42 bar."}
`

// Gemini CLI goes on from an export in a session of its own: it copies the records with their
// hints, but for those that no model sees. What is said then comes back into the session of the
// export.
func TestIdentityOfCopiedRecords(t *testing.T) {
	for form, file := range map[string]string{
		"claude-code": "claudecode/testdata/session.jsonl",
		"codex":       "codex/testdata/rollout.jsonl",
		"opencode":    "opencode/testdata/session.json",
		"gemini-cli":  "",
	} {
		s := storetest.Create(t)
		text := []byte(pumpInGemini)
		if file != "" {
			var err error
			if text, err = os.ReadFile(filepath.Join("../agent", file)); err != nil {
				t.Fatal(err)
			}
		}
		(&cameBy{form, text}).take(t, s, "")
		before := mainSessions(t, s)
		name := slices.Collect(maps.Keys(before))[0]
		ways := exportsOf(t, s, name)
		export := ways[slices.IndexFunc(ways,
			func(c cameBy) bool { return c.how == "gemini-cli" })]
		var b bytes.Buffer
		for line := range bytes.Lines(export.text) {
			switch {
			case b.Len() == 0:
				b.WriteString(`{"sessionId":"77777777-0000-4000-8000-000000000007","kind":"main"}` +
					"\n" + `{"id":"import-1795861920762","type":"info",` +
					`"content":"Imported session from /p/w.jsonl"}` + "\n")
			case !bytes.Contains(line, []byte(`"type":"info"`)):
				b.Write(line)
			}
		}
		b.WriteString(`{"id":"11111111-2222-4333-8444-555555555555","type":"user",` +
			`"timestamp":"2027-01-01T00:00:00.000Z","content":[{"text":"goes on"}]}` + "\n")
		for range 2 {
			(&cameBy{"gemini-cli", b.Bytes()}).take(t, s, "")
		}
		before[name]++
		if got := mainSessions(t, s); !maps.Equal(got, before) {
			t.Errorf("from %s: %v, want %v", form, got, before)
		}
	}
}

// A session of another store that happens to have the name of one here stays apart from it, in
// whatever form it comes.
func TestIdentityOfNamesakes(t *testing.T) {
	here, there := storetest.Create(t), anotherStore(t)
	storetest.Say(t, here, "work", "user", "purple elephants")
	storetest.Say(t, there, "work", "user", "grey zebras")
	for _, way := range exportsOf(t, there, "work") {
		way.take(t, here, "")
		way.take(t, here, "")
	}
	if got := spoken(t, here, "work", history.MainBranch); len(got) != 1 {
		t.Errorf("%q", got)
	}
	apart := 0
	for _, ref := range storetest.View(t, here).Names("sessions/") {
		if name, branch, _ := history.BranchOfRef(ref); strings.HasPrefix(name, "work.") {
			apart += len(spoken(t, here, name, branch))
		}
	}
	if apart != 1 {
		t.Errorf("%d messages of the other store, want 1", apart)
	}
}
