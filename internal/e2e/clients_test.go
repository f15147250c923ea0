package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// client is a real agent that can be run without a person: how it is set up, prompted and resumed.
type client struct {
	name     string // as ctx names it
	variable string // names its program, or the bundle of Gemini CLI
	program  string // its name on PATH
	env      func(server string) []string
	home     func(server string) files // settings of the user
	prompt   func(text string) []string
	// resume returns the commands that go on with a session: its id, and the file that ctx wrote.
	resume func(id, file, text string) [][]string
	// export returns the command that prints the newest session as a document; nil if the agent
	// keeps transcripts that `ctx import --all` finds.
	export func(id string) []string
}

func clients() []client {
	return []client{
		{
			name: "claude-code", variable: "CTX_E2E_CLAUDE", program: "claude",
			env: func(server string) []string {
				return []string{"ANTHROPIC_BASE_URL=" + server, "ANTHROPIC_API_KEY=sk-ant-none",
					"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
					"DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1"}
			},
			prompt: func(text string) []string {
				return []string{"claude", "-p", text, "--model", "claude-sonnet-4-5",
					"--allowedTools", "Bash"}
			},
			resume: func(id, _, text string) [][]string {
				return [][]string{{"claude", "-p", "--resume", id, text, "--model",
					"claude-sonnet-4-5"}}
			},
		},
		{
			name: "codex", variable: "CTX_E2E_CODEX", program: "codex",
			env: func(string) []string { return []string{"OPENAI_API_KEY=sk-none"} },
			home: func(server string) files {
				return files{".codex/config.toml": fmt.Sprintf(
					"model = \"gpt-5\"\nmodel_provider = \"fake\"\n[model_providers.fake]\nname "+
						"= \"fake\"\nbase_url = %q\n"+
						"env_key = \"OPENAI_API_KEY\"\nwire_api = "+
						"\"responses\"\nrequest_max_retries "+
						"= 1\nstream_max_retries = 1\n", server+"/v1")}
			},
			prompt: func(text string) []string {
				return []string{"codex", "exec", "--skip-git-repo-check", text}
			},
			resume: func(id, _, text string) [][]string {
				return [][]string{{"codex", "exec", "resume", id, "--skip-git-repo-check", text}}
			},
		},
		{
			name: "gemini-cli", variable: "CTX_E2E_GEMINI_CLI", program: "gemini",
			env: func(server string) []string {
				// It would start itself again with more memory.
				return []string{"GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL=" + server,
					"GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_CLI_NO_RELAUNCH=true"}
			},
			home: func(string) files {
				return files{".gemini/settings.json": `{"general":{"enableAutoUpdate":false,"enableAutoUpdateNotification":false},` +
					`"security":{"auth":{"selectedType":"gemini-api-key"},"folderTrust":{"enabled":false}},` +
					`"privacy":{"usageStatisticsEnabled":false},"telemetry":{"enabled":false},"ide":{"enabled":false,"hasSeenNudge":true}}`}
			},
			prompt: func(text string) []string {
				return []string{"gemini", "-m", "gemini-2.5-flash",
					"--approval-mode=yolo", "-p", text}
			},
			resume: func(_, file, text string) [][]string {
				return [][]string{{"gemini", "-m", "gemini-2.5-flash", "--approval-mode=yolo",
					"--session-file", file, "-p", text}}
			},
		},
		{
			name: "opencode", variable: "CTX_E2E_OPENCODE", program: "opencode",
			env: func(string) []string { return nil },
			home: func(server string) files {
				return files{".config/opencode/opencode.json": `{"model":"fake/fake-model","small_model":"fake/fake-model","autoupdate":false,"share":"disabled",` +
					`"permission":{"bash":"allow"},"provider":{"fake":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":` + quoted(server+"/v1") +
					`,"apiKey":"x"},"models":{"fake-model":{"tool_call":true,"limit":{"context":100000,"output":4000}}}}}}`}
			},
			prompt: func(text string) []string { return []string{"opencode", "run", text} },
			resume: func(id, file, text string) [][]string {
				return [][]string{{"opencode", "import", file}, {"opencode", "run", "-s", id, text}}
			},
			export: func(id string) []string { return []string{"opencode", "export", id} },
		},
	}
}

// world is a project with ctx, and all clients that are there, in a home of their own.
type world struct {
	*testing.T
	home, dir, bin string
	env            []string
	server         *actingServer
	screens        []func() string // what terminals show at the end
}

// write writes a file in the home.
func (w *world) write(name, text string) {
	w.Helper()
	path := filepath.Join(w.home, filepath.FromSlash(name))
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o700)
	}
	if err != nil {
		w.Fatal(err)
	}
}

// builtIn is the directory of built; "" before it was called.
var builtIn string

// built builds ctx and the programs that come with it, once for all tests.
var built = sync.OnceValue(func() error {
	dir, err := os.MkdirTemp("", "ctx-e2e")
	if err != nil {
		return err
	}
	builtIn = dir
	build := exec.Command("go", "build", "-o", dir+string(filepath.Separator),
		"../../cmd/ctx", "../../cmd/ctx-mcp", "../../cmd/ctx-summarize-agent",
		"../../cmd/ctx-summarize-gemini")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
})

func TestMain(m *testing.M) {
	status := m.Run()
	if builtIn != "" {
		_ = os.RemoveAll(builtIn)
	}
	os.Exit(status)
}

// install puts ctx, and the programs that are named, into a directory.
func install(t *testing.T, into string, programs ...string) {
	t.Helper()
	err := built()
	for _, name := range append(programs, "ctx") {
		if err == nil {
			// A copy could be "busy"
			err = os.Link(filepath.Join(builtIn, name), filepath.Join(into, name))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// newWorld sets up the clients that list names.
func newWorld(t *testing.T, list ...client) *world {
	t.Helper()
	dir := t.TempDir()
	server := newActingServer(t)
	w := &world{T: t, home: filepath.Join(dir, "home"), dir: filepath.Join(dir, "project"),
		bin: filepath.Join(dir, "bin"), server: server}
	w.env = []string{"HOME=" + w.home,
		"PATH=" + w.bin + string(os.PathListSeparator) + os.Getenv("PATH"),
		"TMPDIR=" + os.TempDir(), "NO_COLOR=1", "TERM=xterm"}
	own := files{"../project/" + noteFile: "The pump is called " + noteText + ".\n"}
	for _, c := range list {
		program := os.Getenv(c.variable)
		if program == "" {
			t.Skipf("SKIPPED: %s does not name the program of %s", c.variable, c.name)
		}
		if c.home != nil {
			for name, text := range c.home(server.URL) {
				own[name] = text
			}
		}
		own["../bin/"+c.program] = fmt.Sprintf("#!/bin/sh\nexec %q \"$@\"\n", program)
		if strings.HasSuffix(program, ".js") {
			own["../bin/"+c.program] = fmt.Sprintf("#!/bin/sh\nexec node %q \"$@\"\n", program)
		}
		w.env = append(w.env, c.env(server.URL)...)
	}
	for name, text := range own {
		w.write(name, text)
	}
	if err := os.MkdirAll(w.bin, 0o700); err != nil {
		t.Fatal(err)
	}
	install(t, w.bin)
	return w
}

// deadline ends a client that hangs.
const deadline = 5 * time.Minute

// run runs a command of the world, which has to go well, and returns what it printed. It prints
// into a file: what opencode exports into a pipe may break off.
func (w *world) run(args ...string) string {
	w.Helper()
	said, err := w.try(args...)
	if err != nil {
		w.Fatalf("%q: %v", args, err)
	}
	return said
}

// try is run for a command that may fail.
func (w *world) try(args ...string) (said string, err error) {
	out, err := os.CreateTemp(filepath.Dir(w.home), "out")
	if err != nil {
		return "", err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	program := filepath.Join(w.bin, args[0])
	cmd := exec.CommandContext(ctx, program, args[1:]...)
	cmd.Dir, cmd.Env = w.dir, w.env
	var errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, &errs
	failed := cmd.Run()
	b, err := os.ReadFile(out.Name())
	if err != nil {
		return "", err
	}
	if failed != nil {
		return "", fmt.Errorf("%w\n%s%s", failed, cut(string(b)), cut(errs.String()))
	}
	return string(b), nil
}

func cut(s string) string {
	const most = 3000
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// sessions are the names of the sessions of the store.
func (w *world) sessions() (names []string) {
	w.Helper()
	for line := range strings.Lines(w.run("ctx", "session", "list", "--json")) {
		var s struct {
			Session string `json:"session"`
		}
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			w.Fatal(err)
		}
		names = append(names, s.Session)
	}
	return names
}

// log is what a session says, a line a message.
func (w *world) log(session string) string {
	w.Helper()
	var b strings.Builder
	for line := range strings.Lines(w.run("ctx", "log", session, "--json")) {
		var m message
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			w.Fatal(err)
		}
		fmt.Fprintf(&b, "%s: %s\n", m.Role, m.Text)
	}
	return b.String()
}
