package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// installed is a real agent that writes summaries, and how it is made to ask a server of the test.
type installed struct {
	chain, program string
	// Names the program, or the bundle of Gemini CLI
	variable string
	env      func(server string) []string // variables
	// Settings of the user; an MCP server in them makes the file touched
	home func(server, hook, touched string) files
}

type files map[string]string

func installedAgents() []installed {
	hooks := func(hook string, names ...string) string {
		var list []string
		for _, name := range names {
			list = append(list,
				quoted(name)+`:[{"hooks":[{"type":"command","command":`+quoted(hook)+`}]}]`)
		}
		return "{" + strings.Join(list, ",") + "}"
	}
	none := func(string) []string { return nil }
	return []installed{
		{"claude", "claude", "CTX_E2E_CLAUDE",
			func(server string) []string {
				return []string{"ANTHROPIC_BASE_URL=" + server, "ANTHROPIC_API_KEY=sk-ant-none",
					"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1"}
			},
			func(_, hook, _ string) files {
				return files{".claude/settings.json": `{"hooks":` +
					hooks(hook, "SessionStart", "UserPromptSubmit", "Stop") + `}`}
			}},
		{"codex", "codex", "CTX_E2E_CODEX",
			func(string) []string { return []string{"OPENAI_API_KEY=sk-none"} },
			func(server, _, touched string) files {
				return files{".codex/config.toml": fmt.Sprintf(
					"model = \"gpt-5\"\nmodel_provider = \"test\"\n[model_providers.test]\nname "+
						"= \"test\"\nbase_url = %q\n"+
						"env_key = \"OPENAI_API_KEY\"\nwire_api = "+
						"\"responses\"\n[mcp_servers.other]\ncommand = \"touch\"\nargs = [%q]\n",
					server+"/v1", touched)}
			}},
		{"gemini", "gemini", "CTX_E2E_GEMINI_CLI", none,
			func(server, hook, touched string) files {
				return files{
					".gemini/.env": "GEMINI_API_KEY=none\nGOOGLE_GEMINI_BASE_URL=" + server + "\n",
					".gemini/settings.json": `{"general":{"enableAutoUpdate":false,"enableAutoUpdateNotification":false},"security":{"auth":{"selectedType":"gemini-api-key"}},` +
						`"privacy":{"usageStatisticsEnabled":false},"ide":{"enabled":false},"mcpServers":{"other":{"command":"touch","args":[` + quoted(touched) + `]}},"hooks":` +
						hooks(hook, "SessionStart", "BeforeAgent", "AfterAgent", "SessionEnd") +
						`}`,
				}
			}},
		{"opencode", "opencode", "CTX_E2E_OPENCODE", none,
			func(server, _, touched string) files {
				return files{".config/opencode/opencode.json": `{"model":"test/m","small_model":"test/m","autoupdate":false,"share":"disabled","permission":{"bash":"allow"},` +
					`"mcp":{"other":{"type":"local","command":["touch",` + quoted(touched) +
					`],"enabled":true}},"provider":{"test":{"npm":"@ai-sdk/openai-compatible",` +
					`"options":{"baseURL":` + quoted(server+"/v1") +
					`,"apiKey":"x"},"models":{"m":{"tool_call":true,"limit":{"context":100000,"output":4000}}}}}}`}
			}},
	}
}

const modelSays = "MODEL SUMMARY: hall 3 has the pump at 42 bar."

// Installed agents write the summaries of a compaction: they are offered no tool, and neither hooks
// nor imports record what they were asked.
func TestInstalledAgentsSummarize(t *testing.T) {
	for _, a := range installedAgents() {
		t.Run(a.chain, func(t *testing.T) {
			t.Parallel()
			program := os.Getenv(a.variable)
			if program == "" {
				t.Skipf("SKIPPED: %s does not name the program of %s", a.variable, a.program)
			}
			summarize(t, a, program)
		})
	}
}

// project is a project with ctx and one installed agent, in a home of its own.
type project struct {
	*testing.T
	home, dir, bin string
	hooked         string // each run of a hook of the user's adds a line: [CTX_HOOK_DISABLE]
	touched        string // made by the user's MCP server
	env            []string
}

// newProject builds ctx and its helpers, puts the agent on PATH, and writes the user's settings.
func newProject(t *testing.T, a installed, program, server string) *project {
	t.Helper()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	p := &project{
		T: t, home: in("home"), dir: in("project"), bin: in("bin"), hooked: in("hooked"),
		touched: in("touched"),
	}
	own := a.home(server, "echo \"[$CTX_HOOK_DISABLE]\" >> "+p.hooked+"; ctx hook gemini-cli",
		p.touched)
	own[".config/ctx/config.toml"] = fmt.Sprintf("summarize.chain = [%q]\n", a.chain)
	script := fmt.Sprintf("#!/bin/sh\nexec %q \"$@\"\n", program)
	if strings.HasSuffix(program, ".js") {
		script = fmt.Sprintf("#!/bin/sh\nexec node %q \"$@\"\n", program)
	}
	own["../bin/"+a.program] = script
	own["../project/note.txt"] = "the pump runs at 42 bar\n"
	for name, text := range own {
		path := filepath.Join(p.home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(p.bin, 0o700); err != nil {
		t.Fatal(err)
	}
	install(t, p.bin, "ctx-summarize-agent", "ctx-summarize-gemini")
	p.env = append(a.env(server), "HOME="+p.home,
		"XDG_CONFIG_HOME="+filepath.Join(p.home, ".config"),
		"PATH="+p.bin+string(os.PathListSeparator)+os.Getenv("PATH"), "TMPDIR="+os.TempDir(),
		"NO_COLOR=1", "TERM=xterm", "GEMINI_CLI_TRUST_WORKSPACE=true",
		"GEMINI_CLI_NO_RELAUNCH=true",
		"CTX_DIR="+p.dir) // a hook in the user's settings finds the store wherever it runs
	return p
}

// try runs a program of the project.
func (p *project) try(stdin, name string, args ...string) (stdout, stderr string, err error) {
	cmd := exec.Command(filepath.Join(p.bin, name), args...)
	cmd.Dir, cmd.Env, cmd.Stdin = p.dir, p.env, strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// run is try for what has to go well.
func (p *project) run(stdin, name string, args ...string) string {
	p.Helper()
	out, errs, err := p.try(stdin, name, args...)
	if err != nil {
		p.Fatalf("%s %v: %v\n%s%s", name, args, err, out, errs)
	}
	return out
}

func summarize(t *testing.T, a installed, program string) {
	server := newModelServer(t, modelSays)
	p := newProject(t, a, program, server.URL)
	p.run("", "ctx", "init")
	var lines strings.Builder
	for i := range 24 {
		fmt.Fprintf(&lines,
			`{"role":%q,"text":"turn %d about the pump that runs at 42 bar in hall 3, `+
				`and what was measured there that day"}`+"\n", []string{"user", "model"}[i%2], i)
	}
	p.run(lines.String(), "ctx", "append", "-s", "w", "--jsonl")
	p.run("", "ctx", "-c", "window.evict_at=6", "-c", "window.graduate_at=4", "compact", "-s", "w")
	if out := p.run("", "ctx", "forest", "--json"); !strings.Contains(out, modelSays) {
		t.Errorf("the forest has no summary of the model:\n%s", out)
	}
	p.checkAsked(server)
	p.checkTraces()
	if a.chain == "gemini" { // the same hooks record where nothing keeps them from it
		p.run("", "gemini", "-o", "json", "-m", "gemini-2.5-flash", "-p",
			"How high is the pressure?")
		if out := p.run("", "ctx", "session", "list", "--json"); strings.Count(out, "\n") != 2 {
			t.Errorf("the hook records nothing, so this test shows nothing:\n%s", out)
		}
	}
}

// checkAsked holds that the model was asked once, with the prompt and without a tool.
func (p *project) checkAsked(server *modelServer) {
	p.Helper()
	asked := server.requests("turn 3 about the pump")
	if len(asked) != 1 {
		p.Fatalf("the model was asked %d times", len(asked))
	}
	for _, tool := range asked[0].Tools {
		if strings.Join(strings.Fields(string(tool)), "") != `{"functionDeclarations":[]}` {
			p.Errorf("a tool was offered: %s", tool)
		}
	}
	if !strings.Contains(asked[0].Body, "SECURITY RULE") {
		p.Error("the model was not given the prompt")
	}
}

// checkTraces holds that nothing of the agent's run is kept where ctx, or the next run, would find
// it.
func (p *project) checkTraces() {
	p.Helper()
	if _, err := os.Stat(p.touched); err == nil {
		p.Error("an MCP server of the user was started")
	}
	_, errs, err := p.try("", "ctx", "import", "--all")
	if err == nil || !strings.Contains(errs, "not found: a transcript of this project") {
		p.Errorf("import: %v\n%s", err, errs)
	}
	if out := p.run("", "ctx", "session", "list", "--json"); strings.Count(out, "\n") != 1 ||
		!strings.Contains(out, `"session":"w"`) {
		p.Errorf("sessions:\n%s", out)
	}
	told, err := os.ReadFile(p.hooked)
	if err == nil && strings.Trim(string(told), "[1]\n") != "" {
		p.Errorf("hooks ran without the variable: %q", told)
	}
	left, err := filepath.Glob(filepath.Join(p.home, ".gemini", "tmp", "*", "chats", "*"))
	if err != nil || len(left) > 0 {
		p.Errorf("left by the agent: %q, %v", left, err)
	}
}
