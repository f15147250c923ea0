package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/summarizer"
)

// The variables that make the test binary play an agent.
const (
	playFile = "PRINTMODE_PLAY" // a file with the script
	seenFile = "PRINTMODE_SEEN" // a file to which each run adds a line about what it saw
)

// script is what the played agent does.
type script struct {
	List, ListErr string // printed if it is asked for its MCP servers
	ListExit      int
	Out, Err      string
	Exit          int
	Flood         int  // bytes that are printed before Out
	Hang          bool // it never says a word, nor ends
	Stay          bool // it does not end when it has said all
}

// seen is what the played agent found.
type seen struct {
	Args  []string
	Dir   string
	Files []string // in Dir
	Env   []string
	In    string
	Text  map[string]string // the files that arguments or variables name
}

// TestMain makes the test binary play an agent if a variable says so.
func TestMain(m *testing.M) {
	if file := os.Getenv(playFile); file != "" {
		os.Exit(play(file))
	}
	os.Exit(m.Run())
}

func play(file string) int {
	var s script
	b, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(b, &s) != nil {
		return 90
	}
	in, _ := io.ReadAll(os.Stdin)
	dir, _ := os.Getwd()
	saw := seen{Args: os.Args[1:], Dir: dir, Env: os.Environ(), In: string(in),
		Text: map[string]string{}}
	entries, _ := os.ReadDir(".")
	for _, e := range entries {
		saw.Files = append(saw.Files, e.Name())
	}
	for _, named := range append(slices.Clone(os.Args[1:]), os.Getenv("GEMINI_SYSTEM_MD")) {
		if text, err := os.ReadFile(named); err == nil && filepath.IsAbs(named) {
			saw.Text[filepath.Base(named)] = string(text)
		}
	}
	line, _ := json.Marshal(saw)
	f, err := os.OpenFile(os.Getenv(seenFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 91
	}
	_, _ = f.Write(append(line, '\n'))
	_ = f.Close()
	if len(os.Args) > 2 && (os.Args[1] == "mcp" || os.Args[1] == "debug") {
		fmt.Print(s.List)
		fmt.Fprint(os.Stderr, s.ListErr)
		return s.ListExit
	}
	if s.Hang {
		time.Sleep(time.Hour) // until it is killed
	}
	for n := 0; n < s.Flood; n += 1 << 20 {
		fmt.Print(strings.Repeat("x", 1<<20))
	}
	fmt.Print(s.Out)
	fmt.Fprint(os.Stderr, s.Err)
	if s.Stay {
		time.Sleep(time.Hour) // until it is killed
	}
	return s.Exit
}

// stage is an agent that the test binary plays.
type stage struct {
	*testing.T
	runner *Runner
	seen   string
}

func newStage(t *testing.T, name string, s script, vars ...string) *stage {
	t.Helper()
	dir := t.TempDir()
	if s.List == "" {
		s.List = map[string]string{"codex": "[]", "opencode": "{}"}[name]
	}
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	file, saw := filepath.Join(dir, "script"), filepath.Join(dir, "seen")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	agent, ok := Find(name)
	if !ok {
		t.Fatalf("no agent %q", name)
	}
	environ := append([]string{playFile + "=" + file, seenFile + "=" + saw,
		"TMPDIR=" + os.TempDir(), "SystemRoot=" + os.Getenv("SystemRoot")}, vars...)
	r, err := NewRunner(AgentOptions{Agent: agent, Program: self, Environ: environ})
	if err != nil {
		t.Fatal(err)
	}
	return &stage{t, r, saw}
}

func request() summarizer.WireRequest {
	return summarizer.WireRequest{V: 1, Claim: strings.Repeat("ab", 32), Tokens: 40, Words: 20,
		Prompt: "the \"prompt\"\nin <two> lines",
		Inputs: []summarizer.WireInput{{Kind: "entry", Role: "user",
			Text: "PostgreSQL runs on port 5433."}}}
}

func (s *stage) ask() (Reply, error) { return s.runner.Ask(s.Context(), request()) }

// runs returns what the played agent saw in each run.
func (s *stage) runs() []seen {
	s.Helper()
	b, err := os.ReadFile(s.seen)
	if err != nil {
		s.Fatal(err)
	}
	var list []seen
	for line := range strings.Lines(string(b)) {
		var one seen
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			s.Fatal(err)
		}
		list = append(list, one)
	}
	return list
}

func value(environ []string, name string) string {
	for _, v := range environ {
		if text, ok := strings.CutPrefix(v, name+"="); ok {
			return text
		}
	}
	return ""
}

// Answers of the four agents, shortened.
const (
	claudeSays = `{"type":"result","subtype":"success","is_error":false,"result":"Port 5433.","stop_reason":"end_turn","modelUsage":{"small":{"outputTokens":3},"large":{"outputTokens":20}}}`
	codexSays  = `{"type":"thread.started"}` + "\n" +
		`{"type":"item.completed","item":{"type":"error","message":"a warning"}}` + "\n" +
		`{"type":"item.completed","item":{"type":"agent_message","text":"Port 5433."}}` + "\n" +
		`{"type":"turn.completed","usage":{}}` + "\n"
	geminiSays = "a line of text\n" +
		`{"response":"Port 5433.","stats":{"models":{"g-flash":{"tokens":{"candidates":10}}},"tools":{"totalSuccess":0}}}`
	opencodeSays = `{"type":"step_start","part":{}}` + "\n" +
		`{"type":"text","part":{"text":"Port 5433."}}` + "\n" +
		`{"type":"step_finish","part":{"reason":"stop"}}` + "\n"
)

var answers = map[string]string{"claude": claudeSays, "codex": codexSays, "gemini": geminiSays,
	"opencode": opencodeSays}

// TestRows runs each agent of the table and checks the run: the directory, the input, the
// instructions, and the settings that turn off tools.
func TestRows(t *testing.T) {
	for _, c := range []struct {
		name, model string
		args        []string // some arguments that must be there, together and in this order
		env         []string // NAME=VALUE, as the agent finds them
		gone        string   // a variable that the agent does not inherit
	}{
		{"claude", "large",
			[]string{"--tools", "", "--strict-mcp-config", "--disable-slash-commands",
				"--no-session-persistence"},
			[]string{"CLAUDE_CODE_SAFE_MODE=1", "CLAUDE_CODE_MAX_RETRIES=2"}, "CLAUDECODE"},
		{"codex", "gpt-6-luna",
			[]string{"exec", "--ephemeral", "--skip-git-repo-check", "--ignore-rules", "--sandbox",
				"read-only"}, nil, "CODEX_THREAD_ID"},
		{"gemini", "g-flash",
			[]string{"--extensions", "none", "--allowed-mcp-server-names", noServer,
				"--admin-policy"}, nil, "GEMINI_CLI_IDE_SERVER_PORT"},
		{"opencode", "", []string{"run", "--pure", "--format", "json", "--agent", opencodeAgent},
			[]string{"OPENCODE_DB=:memory:"}, "OPENCODE_PERMISSION"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, c.name, script{Out: answers[c.name]}, c.gone+"=1", "KEPT=yes",
				hookDisable+"=0")
			reply, err := s.ask()
			if err != nil || reply != (Reply{Text: "Port 5433.", Model: c.model}) {
				t.Fatalf("%+v, %v", reply, err)
			}
			runs := s.runs()
			saw := runs[len(runs)-1]
			if len(saw.Files) != 0 {
				t.Errorf("files in its directory: %q", saw.Files)
			}
			if wd, _ := os.Getwd(); saw.Dir == wd {
				t.Errorf("runs in %s", wd)
			}
			if _, err := os.Stat(filepath.Dir(saw.Dir)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is left: %v", saw.Dir, err)
			}
			if !strings.Contains(saw.In, "port 5433") ||
				strings.Contains(saw.In, "the \"prompt\"") {
				t.Errorf("standard input: %q", saw.In)
			}
			at := slices.Index(saw.Args, c.args[0])
			if at < 0 || at+len(c.args) > len(saw.Args) ||
				!slices.Equal(saw.Args[at:at+len(c.args)], c.args) {
				t.Errorf("arguments %q", saw.Args)
			}
			for _, want := range append(c.env, hookDisable+"=1", "KEPT=yes") {
				if name, text, _ := strings.Cut(want, "="); value(saw.Env, name) != text {
					t.Errorf("%s is %q", name, value(saw.Env, name))
				}
			}
			if slices.ContainsFunc(saw.Env,
				func(v string) bool { return strings.HasPrefix(v, c.gone+"=") }) {
				t.Errorf("%s is inherited", c.gone)
			}
			if prompt := request().Prompt; !strings.Contains(instructions(saw), prompt) {
				t.Errorf("no instructions in %q", instructions(saw))
			}
		})
	}
}

// Codex says that it tries again, and does so for minutes; where no server is reached, it is not
// waited for. Where a server was reached, it may well answer.
func TestOffline(t *testing.T) {
	for said, offline := range map[string]bool{
		"Reconnecting... 2/5 (stream disconnected before completion: failed to lookup address " +
			"information: Name does not resolve)": true,
		"Reconnecting... waiting for network (Connection failed: error sending request)": true,
		"Reconnecting... 1/5 (unexpected status 503 Service Unavailable)":                false,
		"the connection failed, said the tool":                                           false,
	} {
		b, err := json.Marshal(map[string]string{"type": "error", "message": said})
		if err != nil {
			t.Fatal(err)
		}
		if got := codexOffline(b); got != offline {
			t.Errorf("%s: %v", said, got)
		}
		if !offline {
			continue
		}
		begun := time.Now()
		_, err = newStage(t, "codex", script{Out: string(b) + "\n", Stay: true}).ask()
		var failed *Error
		if !errors.As(err, &failed) || failed.Kind != summarizer.Transient ||
			!strings.HasPrefix(failed.Message, "codex: no connection: Reconnecting") ||
			time.Since(begun) > 30*time.Second {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
	}
}

// A small model is asked, and the user's own if their provider has no such model.
func TestSmallModel(t *testing.T) {
	s := newStage(t, "codex", script{Out: `{"type":"turn.failed","error":{"message":` +
		`"unexpected status 404 Not Found: model not found"}}` + "\n", Exit: 1})
	for range 2 {
		if _, err := s.ask(); err == nil {
			t.Fatal("no error")
		}
	}
	var asked []bool
	for _, run := range s.runs() {
		if run.Args[0] == "exec" {
			asked = append(asked, slices.Contains(run.Args, "gpt-6-luna"))
		}
	}
	if !slices.Equal(asked, []bool{true, false, false}) {
		t.Errorf("asked the small model: %v", asked)
	}
}

// instructions returns the instructions from where the agent takes them.
func instructions(saw seen) string {
	var all []string
	for i, a := range saw.Args {
		if rest, ok := strings.CutPrefix(a, "developer_instructions="); ok {
			_ = json.Unmarshal([]byte(rest), &rest)
			all = append(all, rest)
		}
		if i > 0 && saw.Args[i-1] == "--system-prompt" {
			all = append(all, a)
		}
	}
	var config struct {
		Agent map[string]struct{ Prompt string }
	}
	_ = json.Unmarshal([]byte(value(saw.Env, "OPENCODE_CONFIG_CONTENT")), &config)
	return strings.Join(append(all, saw.Text["system.md"], config.Agent[opencodeAgent].Prompt), "")
}

// TestServers checks that the user's MCP servers are turned off by name, and listed only once.
func TestServers(t *testing.T) {
	s := newStage(t, "codex",
		script{Out: codexSays, List: `[{"name":"files","enabled":true},{"name":"mail-2"}]`})
	for range 2 {
		if _, err := s.ask(); err != nil {
			t.Fatal(err)
		}
	}
	runs := s.runs()
	if len(runs) != 3 || !slices.Contains(runs[2].Args, "mcp_servers.files.enabled=false") ||
		!slices.Contains(runs[1].Args, "mcp_servers.mail-2.enabled=false") {
		t.Errorf("%d runs, %q", len(runs), runs[len(runs)-1].Args)
	}
	s = newStage(t, "opencode",
		script{Out: opencodeSays, List: `{"mcp":{"files":{"type":"local"}}}`},
		`OPENCODE_CONFIG_CONTENT={"model":"mine/m","share":"auto"}`)
	if _, err := s.ask(); err != nil {
		t.Fatal(err)
	}
	config := value(s.runs()[1].Env, "OPENCODE_CONFIG_CONTENT")
	for _, want := range []string{`"mcp":{"files":{"enabled":false}}`, `"model":"mine/m"`,
		`"share":"disabled"`, `"permission":{"*":"deny"}`, `"tools":{"*":false}`} {
		if !strings.Contains(config, want) {
			t.Errorf("no %s in %s", want, config)
		}
	}
	// Codex is not asked if its servers cannot be turned off. opencode denies their tools anyway.
	for list, say := range map[string]string{`[{"name":"a.b"}]`: `the server "a.b"`,
		"usage: codex": "no answer"} {
		s = newStage(t, "codex", script{Out: codexSays, List: list})
		if _, err := s.ask(); kindIn(err) != summarizer.Terminal ||
			!strings.Contains(err.Error(), say) || len(s.runs()) != 1 {
			t.Errorf("%s: %v", list, err)
		}
	}
	s = newStage(t, "opencode", script{Out: opencodeSays, List: "usage", ListExit: 1})
	if reply, err := s.ask(); err != nil || reply.Text != "Port 5433." {
		t.Errorf("%+v, %v", reply, err)
	}
}

func kindIn(err error) summarizer.Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

// TestFailures has agents that fail as the real ones do.
func TestAgentFailures(t *testing.T) {
	event := func(message string) string {
		return `{"type":"turn.failed","error":{"message":"` + message + `"}}` + "\n"
	}
	claude := func(text string) string {
		return `{"type":"result","subtype":"success","is_error":true,"result":"` + text + `"}`
	}
	for _, c := range []struct {
		agent string
		do    script
		kind  summarizer.Kind
		say   string
	}{
		{"claude", script{Out: claude("Not logged in · Please run /login"), Exit: 1},
			summarizer.Terminal,
			"claude: Not logged in · Please run /login: run `claude` once and log in"},
		{"claude",
			script{
				Out: `{"type":"result","subtype":"success","is_error":true,"api_error_status":529,"result":"API Error: Overloaded"}`, Exit: 1,
			}, summarizer.Capacity, "HTTP 529"},
		{"claude", script{Out: claude("You've hit your weekly limit · resets Mon 9am"), Exit: 1},
			summarizer.Quota, "weekly limit"},
		{"claude", script{Out: claude("Claude AI usage limit reached|1795316031"), Exit: 1},
			summarizer.Quota, "usage limit"},
		{"claude", script{Out: claude("Credit balance is too low"), Exit: 1}, summarizer.Quota,
			"Credit balance"},
		{"claude", script{Out: claude("Prompt is too long"), Exit: 1},
			summarizer.Refused, "too long"},
		{"claude",
			script{Out: `{"type":"result","subtype":"error_during_execution","is_error":false}`},
			summarizer.Transient, "error_during_execution"},
		{"claude", script{Err: "error: unknown option '--tools'\n", Exit: 1}, summarizer.Terminal,
			"claude: error: unknown option '--tools'"},
		{"claude", script{}, summarizer.Transient, "no answer in its output"},
		{"claude", script{Out: "Sure, here is a summary", Exit: 0}, summarizer.Transient,
			"no answer in its output"},
		{"claude", script{Out: claudeSays, Exit: 3, Err: "it broke"}, summarizer.Transient,
			"claude: it broke"},
		{"claude", script{Out: "[]"}, summarizer.Transient, "no answer"},
		{"codex",
			script{
				Out: event(
					"unexpected status 401 Unauthorized: invalid x-api-key, url: https://x"),
				Exit: 1,
			}, summarizer.Terminal, "run `codex login`"},
		{"codex",
			script{Out: event("exceeded retry limit, last status: 429 Too Many Requests"), Exit: 1},
			summarizer.Capacity, "429"},
		{"codex",
			script{Out: event("Quota exceeded. Check your plan and billing details."), Exit: 1},
			summarizer.Quota, "Quota exceeded"},
		{"codex",
			script{Out: event("unexpected status 529 <unknown status code>: Overloaded"), Exit: 1},
			summarizer.Capacity, "Overloaded"},
		{"codex",
			script{Out: `{"type":"item.completed","item":{"type":"command_execution"}}` + "\n" +
				codexSays}, summarizer.Terminal, "a tool was used"},
		{"codex",
			script{Out: `{"type":"error","message":"stream disconnected before completion"}` + "\n",
				Exit: 1}, summarizer.Transient, "disconnected"},
		{"gemini",
			script{
				Out: `{"error":{"type":"Error","message":"Please set an Auth method in settings.json","code":41}}`, Exit: 41,
			}, summarizer.Terminal, "run `gemini` once"},
		{"gemini",
			script{
				Err: "a warning\n{\n  \"error\": {\n    \"message\": \"Please set an Auth " +
					"method\"\n  }\n}\n", Exit: 41,
			}, summarizer.Terminal, "gemini: Please set an Auth method: run"},
		{"gemini", script{Err: "it broke\n}\n", Exit: 1}, summarizer.Transient, "gemini: it broke"},
		{"gemini",
			script{
				Out:  `{"error":{"message":"You have exhausted your daily quota on this model."}}`,
				Exit: 1,
			}, summarizer.Quota, "daily quota"},
		{"gemini",
			script{
				Out: `{"error":{"message":"You have exhausted your capacity on this model. Your quota will reset after 5s."}}`, Exit: 1,
			}, summarizer.Capacity, "capacity"},
		{"gemini", script{Err: "Unknown arguments: admin-policy, adminPolicy\n", Exit: 1},
			summarizer.Terminal, "Unknown argument"},
		{"gemini", script{Out: `{"response":"x","stats":{"tools":{"totalSuccess":1}}}`},
			summarizer.Terminal, "a tool was used"},
		{"opencode",
			script{
				Out: `{"type":"error","error":{"name":"APIError","data":{"message":"Rate limit reached"}}}` + "\n", Exit: 1,
			}, summarizer.Capacity, "Rate limit"},
		{"opencode",
			script{Out: `{"type":"error","error":{"name":"ProviderModelNotFoundError"}}` + "\n",
				Exit: 1}, summarizer.Terminal, "ProviderModelNotFound"},
		{"opencode", script{Out: `{"type":"tool_use","part":{}}` + "\n" + opencodeSays},
			summarizer.Terminal, "a tool was used"},
		{"opencode", script{Flood: 16 << 20, Out: opencodeSays}, summarizer.Transient,
			"wrote more than 8388608 bytes"},
	} {
		s := newStage(t, c.agent, c.do)
		reply, err := s.ask()
		if kindIn(err) != c.kind || !strings.Contains(err.Error(), c.say) || reply.Text != "" {
			t.Errorf("%s, %.80s%s: got %q, %v", c.agent, c.do.Out, c.do.Err, reply.Text, err)
		}
	}
}

// TestLate has an agent that never ends, and is killed when its time is over.
func TestLate(t *testing.T) {
	s := newStage(t, "claude", script{Hang: true})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := s.runner.Ask(ctx, request()); kindIn(err) != summarizer.Transient ||
		!strings.Contains(err.Error(), "in time") {
		t.Errorf("%v", err)
	}
	// The agent's own message says more than that it was late.
	out := []byte(
		`{"type":"error","message":"Reconnecting... 2/5 (unexpected status 401 Unauthorized)"}` +
			"\n")
	_, err := readCodex(out)
	s = newStage(t, "codex", script{})
	got := s.runner.explain(ended{out: out, err: errLate}, err)
	if kindIn(got) != summarizer.Terminal ||
		!strings.Contains(got.Error(), "the last that it said: Reconnecting") ||
		!strings.Contains(got.Error(), "codex login") {
		t.Errorf("%v", got)
	}
}

// TestNew searches programs where they may be, and nowhere else.
func TestNew(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("PATH", "")
	agent, _ := Find("claude")
	if err := os.WriteFile("claude", []byte("x"), 0o700); err != nil {
		t.Fatal(err)
	}
	for program, say := range map[string]string{"": "install it, or take it out of summarize.chain",
		"bin/claude": "not an absolute path", filepath.Join(dir, "none"): "cannot be run"} {
		if _, err := NewRunner(AgentOptions{Agent: agent, Program: program}); err == nil ||
			!strings.Contains(err.Error(), say) {
			t.Errorf("%q: %v", program, err)
		}
	}
	t.Setenv("PATH", ".")
	if _, err := NewRunner(AgentOptions{Agent: agent}); err == nil {
		t.Error("a program in the working directory was taken")
	}
}
