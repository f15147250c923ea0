package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The prompts of a cell of the matrix. Nothing else contains their tags.
const (
	firstTag    = "tag-first-7316"
	nextTag     = "tag-next-8821"
	thenTag     = "tag-then-5524"
	againTag    = "tag-again-3109"
	firstPrompt = firstTag + " " + runTool + " what is the pump called?"
)

// A session of each agent goes on in each agent: the model sees what was said and done before, and
// what is said then comes back into the same session, once. The first prompt is the same for all
// agents that go on: each begins with the files as they were after it.
func TestSessionsGoOnInEveryAgent(t *testing.T) {
	for _, from := range clients() {
		t.Run(from.name, func(t *testing.T) {
			t.Parallel()
			list := []client{from}
			for _, to := range clients() {
				if to.name != from.name && os.Getenv(to.variable) != "" {
					list = append(list, to)
				}
			}
			w := newWorld(t, list...)
			w.run(from.prompt(firstPrompt)...)
			restore := w.keep()
			for n, to := range clients() {
				t.Run("to "+to.name, func(t *testing.T) {
					if os.Getenv(to.variable) == "" {
						t.Skipf("SKIPPED: %s does not name the program of %s", to.variable, to.name)
					}
					cell := *w
					cell.T = t
					if n > 0 {
						restore()
					}
					cell.goOn(from, to)
				})
			}
		})
	}
}

// keep keeps the files of the home and of the project, and returns what brings them back.
func (w *world) keep() (restore func()) {
	w.Helper()
	kept := w.TempDir()
	copyTo := func(dir, from string) {
		if out, err := exec.Command("cp", "-a", from, dir).CombinedOutput(); err != nil {
			w.Fatalf("%v\n%s", err, out)
		}
	}
	copyTo(kept, w.home)
	copyTo(kept, w.dir)
	return func() {
		for _, dir := range []string{w.home, w.dir} {
			if err := os.RemoveAll(dir); err != nil {
				w.Fatal(err)
			}
			copyTo(filepath.Dir(dir), filepath.Join(kept, filepath.Base(dir)))
		}
	}
}

// goOn goes on with the session of an agent in another, whole and compacted.
func (w *world) goOn(from, to client) {
	t := w.T
	tag := func(of string) string { return of + "-" + to.name }
	w.run("ctx", "init")
	w.bring(from)
	sessions := w.sessions()
	if len(sessions) != 1 {
		t.Fatalf("after the first prompt the store has sessions %q", sessions)
	}
	session := sessions[0]
	before := w.log(session)
	for _, want := range []string{firstTag, looking, toolCall, noteText} {
		if !strings.Contains(before, want) {
			t.Fatalf("the import has no %q:\n%s", want, before)
		}
	}
	whole := w.resume(to, session, tag(nextTag))
	for _, want := range []string{firstTag, looking, noteFile, noteText} {
		if !strings.Contains(whole, want) {
			t.Errorf("the model was not told %q:\n%s", want, cut(whole))
		}
	}
	w.cameBack(session, before, tag(nextTag))
	// Whose ids are unique in all of its database
	if to.name == "opencode" && from.name == to.name {
		before = w.log(session)
		if again := w.resume(to, session, tag(againTag)); !strings.Contains(again, firstTag) ||
			!strings.Contains(again, nextTag) {
			t.Errorf("a second time, the model was not told what was said:\n%s", cut(again))
		}
		w.cameBack(session, before, tag(againTag))
	}

	valves := valves()
	w.write("valves.jsonl", valves)
	w.run("ctx", "append", "-s", session, "--jsonl", filepath.Join(w.home, "valves.jsonl"))
	w.run("ctx", "compact", "-s", session)
	before = w.log(session)
	compacted := w.resume(to, session, tag(thenTag), "--compacted")
	for _, want := range []string{firstTag, "Valve 199 gets a new seal of type S199."} {
		if !strings.Contains(compacted, want) {
			t.Errorf("compacted, the model was not told %q:\n%s", want, cut(compacted))
		}
	}
	for i := range 200 {
		seal := fmt.Sprintf("Valve %d gets a new seal", i)
		if n := strings.Count(compacted, seal); n > 1 {
			t.Errorf("compacted, the model was told %d times: %s", n, seal)
		}
	}
	// It is told the newest messages, and a brief of those before.
	if more := len(compacted) - len(whole); more > len(valves)/2 {
		t.Errorf("compacted, the model was told %d bytes of %d", more, len(valves))
	}
	w.cameBack(session, before, tag(thenTag))
	w.run("ctx", "fsck")
}

// valves is a conversation that is longer than a window, as JSON lines.
func valves() string {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b,
			"{\"role\":\"user\",\"text\":\"Valve %d of the parcel lift leaks at %d bar, what "+
				"now?\"}\n", i, 60+i)
		fmt.Fprintf(&b,
			"{\"role\":\"model\",\"text\":\"Valve %d gets a new seal of type S%d. %s\"}\n", i, i,
			strings.Repeat("It was measured twice. ", 8))
	}
	return b.String()
}

// resume goes on with a session in a client, with a prompt of a tag, imports what was said, and
// returns the request in which the model saw the prompt.
func (w *world) resume(to client, session, tag string, flags ...string) string {
	w.Helper()
	var resumed struct{ ID, File string }
	out := w.run(append([]string{"ctx", "resume", "-s", session, "--to", to.name, "--json"},
		flags...)...)
	if err := json.Unmarshal([]byte(out), &resumed); err != nil {
		w.Fatal(err)
	}
	for _, command := range to.resume(resumed.ID, resumed.File, tag+" and what did you find?") {
		w.run(command...)
	}
	w.bring(to)
	return w.server.lastWith(tag)
}

// cameBack makes sure that the store has one session, which is what it was and then has a prompt of
// a tag and its answer, both once.
func (w *world) cameBack(session, before, tag string) {
	w.Helper()
	if after := w.sessions(); len(after) != 1 {
		w.Errorf("it came back as another session: %q", after)
	}
	after := w.log(session)
	if !strings.HasPrefix(after, before) {
		w.Errorf("the session is not what it was:\n%s\nbefore:\n%s", cut(after), cut(before))
		return
	}
	rest := strings.TrimPrefix(after, before)
	if strings.Count(rest, "user: ") != 1 || strings.Count(rest, tag) != 1 ||
		strings.Count(rest, "model: ") != 1 || strings.Count(rest, "Answer") != 1 {
		w.Errorf("%q and one answer did not come back alone:\n%s", tag, cut(rest))
	}
}

// bring imports what a client has said.
func (w *world) bring(c client) {
	w.Helper()
	if c.export == nil {
		w.run("ctx", "import", "--all")
		return
	}
	var list []struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(w.run("opencode", "session", "list", "--format", "json")),
		&list); err != nil {
		w.Fatal(err)
	}
	for _, s := range list {
		file := filepath.Join(w.home, s.ID+".json")
		if err := os.WriteFile(file, []byte(w.run(c.export(s.ID)...)), 0o600); err != nil {
			w.Fatal(err)
		}
		w.run("ctx", "import", "opencode", file)
	}
}
