package agent

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

func queue(operation, content, version string) string {
	member := ""
	if content != "" {
		member = fmt.Sprintf(`,"content":%q`, content)
	}
	return fmt.Sprintf(
		`{"type":"queue-operation","operation":%q,"timestamp":"2026-02-03T08:00:01.000Z","sessionId":"s","version":%q%s}`, operation, version, member)
}

func attached(id, parent, mode, prompt string) string {
	return fmt.Sprintf(
		`{"type":"attachment","uuid":%q,"parentUuid":%q,"sessionId":"s","attachment":{"type":"queued_command","prompt":%q,"commandMode":%q},"timestamp":"2026-02-03T08:00:01.000Z"}`, id, parent, prompt, mode)
}

func model(id, parent, text string) string {
	return fmt.Sprintf(
		`{"parentUuid":%q,"sessionId":"s","type":"assistant","message":{"role":"assistant","id":"m-%s","content":[{"type":"text","text":%q}]},"uuid":%q,"timestamp":"2026-02-03T08:00:02.000Z"}`, parent, id, text, id)
}

// What the user types while the agent works is a message of the user, once, whatever record says
// it.
func TestClaudeQueuedPrompts(t *testing.T) {
	const (
		older, newer = "2.1.42", "2.1.197"
		taskBegan    = `{"task_id":"b1","tool_use_id":"t","description":"Run the tests"}`
		taskEnded    = "<task-notification>x</task-notification>\n" +
			"Read the output file to retrieve the result: /t/b1.output"
	)
	bare := func(mode, prompt string) string {
		return strings.Replace(attached("", "", mode, prompt), `"uuid":"","parentUuid":"",`, "", 1)
	}
	of := func(answer, block string) string {
		return regexp.MustCompile(`"id":"m-."`).ReplaceAllString(block, `"id":"`+answer+`"`)
	}
	for _, c := range []struct {
		name, in string
		want     []string // what was said, with the role of messages and "note"
	}{
		{"removed, in an older version",
			lines(user("a", "", "1"), queue("enqueue", "typed", older), queue("remove", "", older),
				model("b", "a", "2")),
			[]string{"user 1", "user typed", "model 2"}},
		{"said as a record",
			lines(user("a", "", "1"), queue("enqueue", "typed", older), queue("dequeue", "", older),
				model("b", "a", "2"), user("c", "b", "typed")),
			[]string{"user 1", "model 2", "user typed"}},
		{"removed, and said as a record",
			lines(user("a", "", "1"), queue("enqueue", "typed", older), queue("remove", "", older),
				model("b", "a", "2"), user("c", "b", "typed")),
			[]string{"user 1", "model 2", "user typed"}},
		{"an attachment",
			lines(user("a", "", "1"), model("b", "a", "2"), attached("c", "b", "prompt", "typed"),
				model("d", "c", "3")),
			[]string{"user 1", "model 2", "user typed", "model 3"}},
		{"the queue and an attachment",
			lines(user("a", "", "1"), queue("enqueue", "typed", newer), queue("remove", "", newer),
				attached("c", "a", "prompt", "typed"), model("d", "c", "3")),
			[]string{"user 1", "user typed", "model 3"}},
		{"an attachment without an id",
			lines(user("a", "", "1"), model("b", "a", "2"), bare("prompt", "typed"),
				model("d", "b", "3")),
			[]string{"user 1", "model 2", "user typed", "model 3"}},
		{"the queue and an attachment without an id",
			lines(user("a", "", "1"), queue("enqueue", "typed", newer), queue("remove", "", newer),
				bare("prompt", "typed"), model("d", "a", "3")),
			[]string{"user 1", "user typed", "model 3"}},
		{"a notice in an attachment without an id",
			lines(user("a", "", "1"), bare("task-notification", "<task-notification>done"),
				model("b", "a", "2")),
			[]string{"user 1", "note <task-notification>done", "model 2"}},
		{"an attachment that is still to come",
			lines(user("a", "", "1"), queue("enqueue", "typed", newer), queue("remove", "", newer)),
			[]string{"user 1"}},
		{"an attachment that comes after the answer that was being written",
			lines(user("a", "", "1"), model("b", "a", "2"), queue("enqueue", "typed", newer),
				queue("remove", "", newer), of("m-b", model("c", "b", "3")),
				of("m-b", model("d", "c", "4"))),
			[]string{"user 1", "model 2", "model 3", "model 4"}},
		{"no attachment came",
			lines(user("a", "", "1"), queue("enqueue", "typed", newer), queue("remove", "", newer),
				user("b", "a", "2"), model("c", "b", "3")),
			[]string{"user 1", "user typed", "user 2", "model 3"}},
		{"still waiting", lines(user("a", "", "1"), queue("enqueue", "typed", older)),
			[]string{"user 1"}},
		{"taken back",
			lines(user("a", "", "1"), queue("enqueue", "typed", older),
				queue("popAll", "typed", older), model("b", "a", "2")),
			[]string{"user 1", "model 2"}},
		{"a notice of the agent",
			lines(user("a", "", "1"),
				attached("c", "a", "task-notification", "<task-notification>done"),
				queue("enqueue", "<agent-notification>x", older),
				queue("remove", "", older), model("b", "a", "2")),
			[]string{"user 1", "note <task-notification>done",
				"note <agent-notification>x", "model 2"}},
		{"a notice of a task in the background",
			lines(user("a", "", "1"),
				queue("enqueue", taskBegan, older), queue("remove", "", older),
				queue("enqueue", taskEnded, older), queue("remove", "", older),
				model("b", "a", "2")),
			[]string{"user 1", "note " + taskBegan, "note " + taskEnded, "model 2"}},
	} {
		steps, replay, _ := claude.Steps(t, []byte(c.in))
		var got []string
		for _, m := range replay.Threads[""] {
			role := m.Role
			if m.Note {
				role = "note"
			}
			got = append(got, role+" "+transcript.Words(&m))
		}
		if !slices.Equal(got, c.want) || strings.Contains(Trace(steps), "rewind") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		for cut := 0; cut < len(c.in); cut += 31 {
			transcriptOnly(t, []byte(c.in), cut)
		}
	}
}

// transcriptOnly writes what a beginning says and reads it back.
func transcriptOnly(t *testing.T, data []byte, cut int) {
	t.Helper()
	_, replay, _ := claude.Steps(t, data[:cut])
	claude.CheckWritten(t, replay.Threads[""])
}

// Queue records and summaries go out as they came in.
func TestClaudeUnnamedRecordsComeBack(t *testing.T) {
	in := []string{`{"type":"summary","summary":"Of lamps","leafUuid":"a"}`, user("a", "", "1"),
		queue("enqueue", "typed", "2.1.42"), queue("remove", "", "2.1.42"), model("b", "a", "2")}
	_, replay, stats := claude.Steps(t, []byte(lines(in...)))
	out, _, err := claude.Write(Items(replay.Threads[""]),
		transcript.WriteOptions{Session: stats.Session})
	if err != nil {
		t.Fatal(err)
	}
	written := strings.Split(strings.TrimSpace(string(out)), "\n")
	for _, line := range in {
		rec := jsonvalue.AsObject([]byte(line)).Without("parentUuid")
		if !slices.ContainsFunc(written, func(back string) bool {
			return jsonvalue.Same(jsonvalue.Encode(rec),
				jsonvalue.Encode(jsonvalue.AsObject([]byte(back)).Without("parentUuid",
					transcript.HintName)))
		}) {
			t.Errorf("%s is not in\n%s", line, out)
		}
	}
}

// A transcript is the session that its file is named for, whatever records it begins with.
func TestClaudeSessionOfTheFile(t *testing.T) {
	of := func(line, session string) string {
		return strings.Replace(line, `"sessionId":"s"`, fmt.Sprintf(`"sessionId":%q`, session), 1)
	}
	in := lines(of(user("a", "", "1"), "old"), of(user("b", "a", "2"), "old"),
		of(user("c", "b", "3"), "new"))
	for name, want := range map[string]string{"new": "new", "": "new", "other": "new",
		"old": "old"} {
		n := 0
		r := strings.NewReader(in)
		stats, err := claudecode.ReadAs(name, r, func(st transcript.Step) error {
			if n++; st.Session != want {
				t.Errorf("%q: a step of %q", name, st.Session)
			}
			return nil
		})
		if err != nil || stats.Session != want || n != 3 {
			t.Errorf("%q: %q, %d steps, %v", name, stats.Session, n, err)
		}
	}
}

// A reader of its own, which knows nothing of the plan: it follows the parents of the newest
// record, and finds all of it said, in that order, whatever the order of the lines; and it counts
// the lines that were left.
func TestClaudeChainByParents(t *testing.T) {
	var records []jsonvalue.Object
	for _, line := range strings.Split(strings.TrimSpace(string(claudeSession(t))), "\n") {
		var o jsonvalue.Object
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		records = append(records, o)
	}
	parent, newest := map[string]string{}, ""
	for _, o := range records {
		parent[o.Text("uuid")] = o.Text("parentUuid")
		if id := o.Text("uuid"); id != "" && !o.True("isSidechain") &&
			o.Text("type") != "progress" {
			newest = id
		}
	}
	var chain []string
	for id := newest; id != ""; id = parent[id] {
		chain = append([]string{id}, chain...)
	}
	for seed := range uint64(40) {
		draw := rand.New(rand.NewPCG(seed, 3))
		list := slices.Clone(records)
		for range 3 * seed / 10 {
			// Neighbours in the main conversation change places, but for the last one.
			i := 3 + draw.IntN(len(list)-5)
			list[i], list[i+1] = list[i+1], list[i]
		}
		var b strings.Builder
		for _, o := range list {
			b.Write(jsonvalue.Encode(o))
			b.WriteByte('\n')
		}
		_, replay, _ := claude.Steps(t, []byte(b.String()))
		var said []string
		for _, m := range replay.Threads[""] {
			said = append(said, m.Origin.Message)
		}
		at := -1
		for _, id := range chain {
			next := slices.Index(said, id)
			if next <= at {
				t.Errorf("seed %d: %s is at %d, after %d, in %v", seed, id, next, at, said)
			}
			at = next
		}
		if replay.Rewinds != 1 {
			t.Errorf("seed %d: %d rewinds", seed, replay.Rewinds)
		}
	}
}

// A person who takes a plan may have the context cleared: the transcript begins anew with the plan,
// and what led to it was said. A prompt that begins anew is one that takes all back.
func TestClaudePlanClearsContext(t *testing.T) {
	const plan = "Implement the following plan:\n\n# Lamps\n\nIf you need specific details from before " +
		"exiting plan mode, read x."
	progress := `{"parentUuid":null,"sessionId":"s","type":"progress","uuid":"p"}`
	for text, rewinds := range map[string]int{plan: 0, "Lamp 2 instead": 1} {
		in := lines(user("a", "", "Which lamps?"), model("b", "a", "Both."), progress,
			user("c", "p", text), model("d", "c", "Done."))
		steps, _, _ := claude.Steps(t, []byte(in))
		got := strings.Count(Trace(steps), "rewind")
		if got != rewinds || !strings.Contains(Trace(steps), "Which lamps?") {
			t.Errorf("%q: %d rewinds\n%s", text, got, Trace(steps))
		}
	}
}
