// Package e2e runs real agents, offline, with answers that are written down beforehand.
package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// agent is Gemini CLI in a home of its own, and ctx in a project.
type agent struct {
	*testing.T
	dir, home, project, bin string
	path                    string // PATH for the agent
}

// newAgent installs ctx for the agent whose bundle CTX_E2E_GEMINI_CLI names. Without one the test
// is skipped, and says so.
func newAgent(t *testing.T) *agent {
	t.Helper()
	if os.Getenv("CTX_E2E_GEMINI_CLI") == "" {
		t.Skip(
			"SKIPPED: CTX_E2E_GEMINI_CLI does not name " +
				"node_modules/@google/gemini-cli/bundle/gemini.js")
	}
	dir := t.TempDir()
	a := &agent{T: t, dir: dir, home: filepath.Join(dir, "home"),
		project: filepath.Join(dir, "project"), bin: filepath.Join(dir, "bin")}
	a.path = a.bin + string(os.PathListSeparator) + os.Getenv("PATH")
	for _, d := range []string{filepath.Join(a.home, ".gemini"), a.project, a.bin} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	a.write(filepath.Join(a.home, ".gemini", "settings.json"), `{
  "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
  "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
  "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false}, "ide": {"enabled": false, "hasSeenNudge": true}
}
`)
	a.write(filepath.Join(a.project, "note.txt"), "the pump runs at 42 bar\n")
	install(t, a.bin)
	a.ctx("install", "gemini-cli")
	return a
}

func (a *agent) write(path, text string) {
	a.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		a.Fatal(err)
	}
}

func (a *agent) env(path string) []string {
	return []string{"PATH=" + path, "HOME=" + a.home, "GEMINI_CLI_HOME=" + a.home,
		"GEMINI_API_KEY=none", "GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_CLI_NO_RELAUNCH=true",
		"NO_COLOR=1", "TERM=xterm"}
}

func (a *agent) ctx(args ...string) string {
	a.Helper()
	cmd := exec.Command(filepath.Join(a.bin, "ctx"), args...)
	cmd.Dir, cmd.Env = a.project, a.env(a.path)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		a.Fatalf("ctx %v: %v\n%s%s", args, err, out, stderr.Bytes())
	}
	return string(out)
}

// run starts the agent with what the model will answer, and returns the session's id and what it
// printed.
func (a *agent) run(answers []string, args ...string) (session, stdout string) {
	a.Helper()
	file := filepath.Join(a.dir, "answers.jsonl")
	a.write(file, strings.Join(answers, "\n")+"\n")
	out := a.gemini(
		append([]string{"--fake-responses-non-strict", file, "-m", "gemini-2.5-flash",
			"--approval-mode=yolo"}, args...)...)
	var said struct {
		Session string `json:"session_id"`
	}
	_ = json.Unmarshal(out, &said) // not all of its commands print JSON
	return said.Session, string(out)
}

func (a *agent) gemini(args ...string) []byte {
	a.Helper()
	cmd := exec.Command("node", append([]string{os.Getenv("CTX_E2E_GEMINI_CLI")}, args...)...)
	cmd.Dir, cmd.Env = a.project, a.env(a.path)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		a.Fatalf("gemini %v: %v\n%s%s", args, err, out, stderr.Bytes())
	}
	return out
}

// prompt is run with a prompt.
func (a *agent) prompt(text string, answers []string, args ...string) string {
	a.Helper()
	session, out := a.run(answers, append(args, "-o", "json", "-p", text)...)
	if session == "" {
		a.Fatalf("no session: %s", out)
	}
	return session
}

func stream(parts string) string {
	return `{"method":"generateContentStream","response":[{"candidates":[{"content":{"parts":[` +
		parts + `],"role":"model"},"finishReason":"STOP","index":0}],` +
		`"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":9,"totalTokenCount":109}}]}`
}

func once(text string) string {
	return `{"method":"generateContent","response":{"candidates":[{"content":{"parts":[{"text":` +
		quoted(text) + `}],"role":"model"},"finishReason":"STOP","index":0}],` +
		`"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":9,"totalTokenCount":109}}}`
}

func quoted(s string) string {
	b, _ := json.Marshal(s) // a string can always be printed
	return string(b)
}

func says(text string) string { return stream(`{"text":` + quoted(text) + `}`) }

func reads(file string) string {
	return stream(`{"functionCall":{"name":"read_file","args":{"file_path":` + quoted(file) + `}}}`)
}

// transcripts are the files that the agent has of a session.
func (a *agent) transcripts(session string) []string {
	a.Helper()
	list, err := filepath.Glob(filepath.Join(a.home, ".gemini", "tmp", "*", "chats",
		"session-*-"+session[:8]+".jsonl"))
	if err != nil {
		a.Fatal(err)
	}
	return list
}

// message is a line of `ctx log --json`.
type message struct {
	Kind  string          `json:"kind"`
	Role  string          `json:"role"`
	Text  string          `json:"text"`
	Parts json.RawMessage `json:"parts"`
}

func (a *agent) log(session string) (list []message) {
	a.Helper()
	for line := range strings.Lines(a.ctx("log", "-s", session, "--json")) {
		var m message
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			a.Fatal(err)
		}
		list = append(list, m)
	}
	return list
}

func texts(list []message) string {
	var b strings.Builder
	for _, m := range list {
		fmt.Fprintf(&b, "%s: %s\n", m.Role, m.Text)
	}
	return b.String()
}

// wellNoted makes sure that no hook had trouble.
func (a *agent) wellNoted() {
	a.Helper()
	if b, err := os.ReadFile(filepath.Join(a.project, ".gemini", "context", "log",
		"hook")); !errors.Is(err, fs.ErrNotExist) {
		a.Errorf("hooks had trouble: %v\n%s", err, b)
	}
	a.ctx("fsck")
}

func TestTurnIsRecorded(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	session := a.prompt("At what pressure does the pump run?",
		[]string{reads("note.txt"), says(tricky)})
	want :=
		"user: At what pressure does the pump run?\nmodel: [call read_file] note.txt\ntool: the " +
			"pump runs at 42 bar\n\nmodel: " + tricky + "\n"
	if got := texts(a.log(session)); got != want {
		t.Errorf("recorded:\n%s\nwant:\n%s", got, want)
	}
	a.wellNoted()
	if out := a.ctx("doctor"); !strings.Contains(out, "ok    gemini-cli trust:") ||
		!strings.Contains(out, "ok    gemini-cli last hook: SessionEnd") {
		t.Errorf("doctor:\n%s", out)
	}
}

func TestSecondSessionSeesFirst(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	a.prompt("At what pressure does the pump run?",
		[]string{reads("note.txt"), says("It runs at 42 bar.")})
	second := a.prompt("Which pressure did we find for the pump?",
		[]string{says("42 bar, as found before.")})
	b, err := os.ReadFile(a.transcripts(second)[0])
	if err != nil {
		t.Fatal(err)
	}
	// What the agent sent to the model is what it wrote down.
	if got := string(b); !strings.Contains(got,
		`<hook_context>From other sessions of this project`) ||
		!regexp.MustCompile(`concluded \[[0-9a-f]+\] It runs at 42 bar\.`).MatchString(got) {
		t.Errorf("the second session was not told:\n%s", got)
	}
	want := "user: Which pressure did we find for the pump?\nmodel: 42 bar, as found before.\n"
	if got := texts(a.log(second)); got != want {
		t.Errorf("what hooks told was recorded:\n%s", got)
	}
	// The same session again: nothing that it was told, and nothing that it said.
	before := len(b)
	a.prompt("Which pressure again, for the pump?", []string{says("Still 42 bar.")},
		"--resume", second)
	if b, err = os.ReadFile(a.transcripts(second)[0]); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b[min(before, len(b)):])) {
		if strings.Contains(line, "pressure again") &&
			strings.Contains(line, `"text":"<hook_context>`) {
			t.Errorf("it was told twice: %s", line)
		}
	}
	a.wellNoted()
}

// The agent removes the transcript of a session that was resumed, at its next start.
func TestResumeThenListLosesNothing(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	session := a.prompt("At what pressure does the pump run?",
		[]string{reads("note.txt"), says(tricky)})
	// As if it had been said a day ago: the agent names files by the minute.
	old := a.transcripts(session)[0]
	if err := os.Rename(old,
		filepath.Join(filepath.Dir(old),
			"session-2026-01-02T03-04-"+session[:8]+".jsonl")); err != nil {
		t.Fatal(err)
	}
	a.prompt("And the valve?", []string{says("The valve holds 60 bar.")}, "--resume", session)
	want :=
		"user: At what pressure does the pump run?\nmodel: [call read_file] note.txt\ntool: the " +
			"pump runs at 42 bar\n\nmodel: " + tricky +
			"\nuser: And the valve?\nmodel: The valve holds 60 bar.\n"
	if got := texts(a.log(session)); got != want {
		t.Errorf("recorded after resuming:\n%s\nwant:\n%s", got, want)
	}
	a.run([]string{once("a summary"), once("a summary")}, "--list-sessions")
	left := ""
	for _, path := range a.transcripts(session) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		left += string(b)
	}
	t.Logf("the agent still has the first turn: %v, the second: %v",
		strings.Contains(left, "At what pressure"), strings.Contains(left, "holds 60 bar"))
	if got := texts(a.log(session)); got != want {
		t.Errorf("recorded after the agent lost it:\n%s\nwant:\n%s", got, want)
	}
	a.wellNoted()
}

// Without ctx on its PATH the agent goes on.
func TestMissingProgramBlocksNothing(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	if err := os.Remove(filepath.Join(a.bin, "ctx")); err != nil {
		t.Fatal(err)
	}
	if _, out := a.run([]string{says("Hello.")}, "-o", "json", "-p",
		"Hello?"); !strings.Contains(out, `"response": "Hello."`) {
		t.Errorf("the agent was blocked: %s", out)
	}
}

func TestExtension(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	a.ctx("uninstall", "gemini-cli")
	a.ctx("install", "gemini-cli", "--extension", "../extension")
	a.gemini("extensions", "install", filepath.Join(a.dir, "extension"), "--consent",
		"--skip-settings")
	session := a.prompt("Hello?", []string{says("Hello from the pump.")})
	if got := texts(a.log(session)); got != "user: Hello?\nmodel: Hello from the pump.\n" {
		t.Errorf("recorded:\n%s", got)
	}
	second := a.prompt("/ctx:search pump", []string{says("Found.")})
	if got := texts(a.log(second)); !strings.Contains(got, "Hello from the pump.") {
		t.Errorf("the command did not search:\n%s", got)
	}
	a.wellNoted()
}
