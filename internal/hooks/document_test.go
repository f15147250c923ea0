package hooks

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/session"
)

func named(t *testing.T, name string) *Agent {
	t.Helper()
	at := slices.IndexFunc(agents[:], func(a Agent) bool { return a.Name == name })
	if at < 0 {
		t.Fatal("no " + name)
	}
	return &agents[at]
}

// openMessage is a message of a session of opencode. Odd numbers are answers.
func openMessage(n int, text string) string {
	role, when := "user", ""
	if n%2 == 1 {
		role, when = "assistant", `,"completed":1767322803000`
	}
	id := fmt.Sprintf("msg_%02d", n)
	return fmt.Sprintf(
		`{"info":{"id":%q,"sessionID":"ses_1","role":%q,"time":{"created":%d%s}},"parts":[{"id":"prt_%02d","sessionID":"ses_1","messageID":%q,"type":"text","text":%q}]}`,
		id, role, 1767322800000+n, when, n, id, text)
}

// openDocument is a session of opencode with these messages.
func openDocument(title string, messages ...string) string {
	return fmt.Sprintf(
		`{"info":{"id":"ses_1","title":%q,"directory":"/p","time":{"created":1767322800000}},"messages":[%s]}`, title, strings.Join(messages, ","))
}

// idle ends a turn of opencode, and returns what the hook answers.
func idle(t *testing.T, s *session.Store, after, document string) string {
	t.Helper()
	agent := named(t, "opencode")
	call := fmt.Sprintf(
		`{"hook_event_name":"session.idle","session_id":"ses_1","cwd":"/p","after":%q,"document":%s}`, after, document)
	out := Run(context.Background(), s, agent, Hear(agent, strings.NewReader(call)))
	if failed, err := Troubles(s.Dir); err != nil || len(failed) > 0 {
		t.Fatalf("%v, %+v", err, failed)
	}
	return string(out)
}

// What is handed over in parts becomes what the whole becomes at each turn.
func TestDocumentInParts(t *testing.T) {
	whole, parts := newStore(t), newStore(t)
	var all []string
	step := func(title, after string, part []string) {
		t.Helper()
		if out := idle(t, whole, "", openDocument(title, all...)); out != "" {
			t.Errorf("answers %s", out)
		}
		if out := idle(t, parts, after, openDocument(title, part...)); out != "" {
			t.Errorf("answers %s", out)
		}
		if got, want := texts(t, parts, "ses_1"),
			texts(t, whole, "ses_1"); !slices.Equal(got, want) || len(want) < len(all) {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	for n := range 4 {
		all = append(all, openMessage(n, fmt.Sprint("said ", n)))
	}
	step("Tides", "", all)
	for n := 4; n < 10; n += 2 {
		all = append(all, openMessage(n, fmt.Sprint("said ", n)),
			openMessage(n+1, fmt.Sprint("said ", n+1)))
		step("Tides", fmt.Sprintf("msg_%02d", n-1), all[n:])
	}
	// A message before the last has changed, and the title, too.
	all[8] = openMessage(8, "said otherwise")
	step("Tides and winds", "msg_07", all[8:])
}

// A document that begins after a message which the store does not have is not recorded.
func TestDocumentAfterNothing(t *testing.T) {
	s := newStore(t)
	one, two := openMessage(0, "one"), openMessage(1, "two")
	if out := idle(t, s, "msg_00", openDocument("", two)); out != askWhole {
		t.Errorf("answers %q", out)
	}
	if out := idle(t, s, "", openDocument("", one)); out != "" {
		t.Errorf("answers %q", out)
	}
	for _, after := range []string{"msg_01", "a b", "\n"} {
		if out := idle(t, s, after, openDocument("", openMessage(2, "three"))); out != askWhole {
			t.Errorf("after %q: answers %q", after, out)
		}
	}
	if list := texts(t, s, "ses_1"); slices.ContainsFunc(list,
		func(s string) bool { return strings.Contains(s, "three") }) {
		t.Errorf("%q", list)
	}
}

// The plugin hands over what is new or changed, and the whole if it is asked to.
func TestPluginHandsOver(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node runs the plugin")
	}
	dir := t.TempDir()
	agent := named(t, "opencode")
	program := filepath.Join(dir, "ctx.mjs")
	plugin := strings.Replace(agent.Plugin(), `spawnSync(program, ["hook", "opencode"]`,
		fmt.Sprintf(`spawnSync(%q, [%q]`, node, program), 1)
	if plugin == agent.Plugin() {
		t.Fatal("the plugin calls otherwise")
	}
	write(t, filepath.Join(dir, "plugin.mjs"), plugin)
	// It notes each call, and lacks message b.
	write(t, program, `import { appendFileSync, readFileSync } from "node:fs"
const call = JSON.parse(readFileSync(0, "utf8"))
appendFileSync("calls", (call.after ?? "-") + ":" + call.document.messages.map((m) => m.info.id).join("") + " ")
if (call.after === "b") console.log(JSON.stringify({ whole: true }))
`)
	write(t, filepath.Join(dir, "run.mjs"), `import plugin from "./plugin.mjs"
let info = { id: "s" }, messages = []
const client = { session: { get: async () => ({ data: info }), messages: async () => ({ data: messages }) } }
const hooks = await plugin.server({ client, directory: process.cwd() })
const idle = () => hooks.event({ event: { type: "session.idle", properties: { sessionID: "s" } } })
const say = (id, text) => messages.push({ info: { id }, parts: [{ type: "text", text: text ?? id }] })
say("a"); await idle()
say("c"); await idle()
say("d"); messages[1].parts[0].text = "more"; await idle()
info = { id: "s", revert: { messageID: "d" } }; await idle()
info = { id: "s" }; messages = messages.slice(0, 1); say("b"); await idle()
say("e"); await idle()
`)
	cmd := exec.Command(node, "run.mjs")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got, err := os.ReadFile(filepath.Join(dir, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "-:a a:c a:cd -:acd a:b b:e -:abe "; string(got) != want {
		t.Errorf("calls %q, want %q", got, want)
	}
	var answer struct{ Whole bool }
	if err := json.Unmarshal([]byte(askWhole), &answer); err != nil || !answer.Whole {
		t.Errorf("%s: %v", askWhole, err)
	}
}
