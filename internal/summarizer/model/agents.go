package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/durable"
)

// Agent is an installed agent that can write summaries: a row of the table in Agents.
type Agent struct {
	Name    string // the argument of `ctx-summarize-agent NAME`
	Program string // the name to search on PATH
	Login   string // how the user logs in, as the end of a sentence
	// MaxInput is the default for the most tokens of history in one request.
	MaxInput int
	// Small is the model that is asked if none is named: a summary needs no large one. "" stands for
	// the user's own.
	Small string

	clear []string // variables that the agent does not inherit
	// call returns the command for one request.
	call func(c call) (command, error)
	// list names the user's MCP servers, which call then turns off. It is nil for an agent that can
	// run without all of them by a flag.
	list *listing
	// read returns the reply in the agent's standard output.
	read func(out []byte) (Reply, error)
	// offline reports whether a line of the standard output says that no server can be reached, and
	// that the agent goes on trying. It is nil for an agent that gives up by itself.
	offline func(line []byte) bool
	// after removes what the agent keeps of a run in the directory work. It is nil for an agent
	// that keeps nothing.
	after func(work string, getenv func(string) string)
}

// call holds the values from which a row makes the command for one request.
type call struct {
	dir     string   // a directory for files of the row; the agent runs elsewhere
	prompt  string   // the instructions
	model   string   // "" for the agent's default
	servers []string // the user's MCP servers
	getenv  func(string) string
}

// command is one run of an agent. Its standard input is the text to be summarized.
type command struct {
	args  []string
	env   map[string]string
	files map[string]string // by path, inside call.dir
}

// listing is a command that prints the user's MCP servers.
type listing struct {
	args  []string
	env   map[string]string
	names func(out []byte) ([]string, error)
	// must says that an agent is not asked if its servers cannot be listed, because nothing else
	// keeps it from offering their tools.
	must bool
}

// Agents returns the table. The flags and variables are those of Claude Code 2.1, Codex CLI 0.169,
// Gemini CLI 0.61 and opencode 1.18.
func Agents() []Agent {
	return []Agent{
		{
			Name: "claude", Program: "claude", MaxInput: 100_000, Small: "haiku",
			Login: "run `claude` once and log in",
			// Claude Code does not start inside one of its own sessions if it detects that session.
			clear: []string{
				"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID",
				"CLAUDE_CODE_SSE_PORT",
			},
			call: callClaude, read: readClaude,
		},
		{
			Name: "codex", Program: "codex", MaxInput: 100_000, Small: "gpt-6-luna",
			Login: "run `codex login`",
			clear: []string{"CODEX_THREAD_ID"},
			call:  callCodex, read: readCodex, offline: codexOffline,
			list: &listing{
				args: []string{"mcp", "list", "--json"}, names: codexServers, must: true,
			},
		},
		{
			// Without a model, the agent would first ask another one which to use
			Name: "gemini", Program: "gemini", MaxInput: 200_000, Small: "gemini-2.5-flash",
			Login: "run `gemini` once and log in",
			clear: []string{
				"GEMINI_CLI_IDE_PID", "GEMINI_CLI_IDE_SERVER_PORT", "GEMINI_CLI_IDE_WORKSPACE_PATH",
			},
			call: callGemini, read: readGemini, after: afterGemini,
		},
		{
			Name: "opencode", Program: "opencode", MaxInput: 60_000,
			Login: "run `opencode auth login`",
			clear: []string{"OPENCODE", "OPENCODE_PERMISSION"},
			call:  callOpencode, read: readOpencode,
			list: &listing{
				args: []string{"debug", "config"}, env: opencodeEnv(), names: opencodeServers,
			},
		},
	}
}

// Find returns the row with a name.
func Find(name string) (Agent, bool) {
	all := Agents()
	i := slices.IndexFunc(all, func(a Agent) bool { return a.Name == name })
	if i < 0 {
		return Agent{}, false
	}
	return all[i], true
}

// callClaude runs Claude Code in its safe mode, without hooks, plugins, MCP servers, skills and
// CLAUDE.md, and with an empty list of tools.
func callClaude(c call) (command, error) {
	args := []string{
		"-p", "--output-format", "json", "--tools", "", "--strict-mcp-config",
		"--disable-slash-commands", "--no-session-persistence",
		"--settings", `{"disableAllHooks":true}`, "--system-prompt", c.prompt,
	}
	if c.model != "" {
		args = append(args, "--model", c.model)
	}
	env := map[string]string{"CLAUDE_CODE_SAFE_MODE": "1", "DISABLE_AUTOUPDATER": "1"}
	if c.getenv("CLAUDE_CODE_MAX_RETRIES") == "" {
		env["CLAUDE_CODE_MAX_RETRIES"] = "2" // its default of ten takes longer than ctx waits
	}
	return command{args: args, env: env}, nil
}

// codexOff returns the features of Codex that offer tools or run programs of the user. A version
// ignores features that it does not know.
func codexOff() []string {
	return []string{
		"apps", "browser_use", "code_mode", "computer_use", "goals", "hooks", "image_generation",
		"memories", "multi_agent", "plugins", "shell_snapshot", "shell_tool", "skill_search",
		"sleep_tool", "tool_suggest", "unified_exec", "view_image",
	}
}

// callCodex runs Codex as an ephemeral session with every tool turned off, in the read-only sandbox
// in case a tool is left. Codex reads the user's config.toml, which names the provider.
func callCodex(c call) (command, error) {
	args := []string{
		"exec", "--ephemeral", "--skip-git-repo-check", "--ignore-rules",
		"--sandbox", "read-only", "--json", "--color", "never",
	}
	set := []string{
		`web_search="disabled"`, "tools.experimental_request_user_input.enabled=false",
		"notify=[]", "project_doc_max_bytes=0",
		"skills.bundled.enabled=false", "skills.include_instructions=false",
		"include_apps_instructions=false", "include_environment_context=false",
		"include_permissions_instructions=false", "developer_instructions=" + quoted(c.prompt),
	}
	for _, feature := range codexOff() {
		set = append(set, "features."+feature+"=false")
	}
	for _, name := range c.servers {
		set = append(set, "mcp_servers."+name+".enabled=false")
	}
	for _, s := range set {
		args = append(args, "-c", s)
	}
	if c.model != "" {
		args = append(args, "--model", c.model)
	}
	return command{args: append(args, "-")}, nil
}

// denyAll is a policy of Gemini CLI. A denied tool is not offered to the model.
const denyAll = `[[rule]]
toolName = "*"
decision = "deny"
priority = 999
`

// noServer is the name of no MCP server. Gemini CLI starts only named servers.
const noServer = "ctx-none"

// callGemini runs Gemini CLI with a policy that denies every tool, so that it offers none.
func callGemini(c call) (command, error) {
	policy, system := filepath.Join(c.dir, "policy.toml"), filepath.Join(c.dir, "system.md")
	return command{
		args: []string{
			"--output-format", "json", "--approval-mode", "default", "--extensions", "none",
			"--allowed-mcp-server-names", noServer, "--admin-policy", policy, "--model", c.model,
		},
		env: map[string]string{
			"GEMINI_SYSTEM_MD": system, "GEMINI_CLI_TRUST_WORKSPACE": "true",
			"GEMINI_CLI_NO_RELAUNCH": "true",
		},
		files: map[string]string{policy: denyAll, system: c.prompt},
	}, nil
}

// opencodeAgent is the name of the agent that the configuration defines for summaries.
const opencodeAgent = "ctx-summary"

func opencodeEnv() map[string]string {
	return map[string]string{
		"OPENCODE_DB":                     ":memory:", // keeps no session
		"OPENCODE_PURE":                   "1",
		"OPENCODE_DISABLE_AUTOUPDATE":     "1",
		"OPENCODE_DISABLE_CLAUDE_CODE":    "1",
		"OPENCODE_DISABLE_LSP_DOWNLOAD":   "1",
		"OPENCODE_DISABLE_PROJECT_CONFIG": "1",
	}
}

// callOpencode runs opencode with an agent that may use no tool. The other settings in the user's
// OPENCODE_CONFIG_CONTENT stay in force.
func callOpencode(c call) (command, error) {
	deny := map[string]any{"*": "deny"}
	servers := map[string]any{}
	for _, name := range c.servers {
		servers[name] = map[string]any{"enabled": false}
	}
	config := map[string]any{}
	if text := c.getenv("OPENCODE_CONFIG_CONTENT"); text != "" {
		// opencode cannot read invalid settings either, so they are left out
		_ = json.Unmarshal([]byte(text), &config)
	}
	if config == nil {
		config = map[string]any{}
	}
	maps.Copy(config, map[string]any{
		"share": "disabled", "autoupdate": false, "snapshot": false,
		"permission": deny, "mcp": servers,
		"agent": map[string]any{opencodeAgent: map[string]any{
			"mode": "primary", "prompt": c.prompt, "permission": deny,
			"tools": map[string]any{"*": false},
		}},
	})
	b, err := json.Marshal(config)
	if err != nil {
		return command{}, err
	}
	env := opencodeEnv()
	env["OPENCODE_CONFIG_CONTENT"] = string(b)
	args := []string{
		"run", "--pure", "--format", "json", "--agent", opencodeAgent, "--title", opencodeAgent,
	}
	if c.model != "" {
		args = append(args, "--model", c.model)
	}
	return command{args: args, env: env}, nil
}

// quoted writes a string as JSON, which TOML reads as well.
func quoted(s string) string {
	b, _ := json.Marshal(s) // a string always encodes
	return string(b)
}

// Program returns the helper ctx-summarize-agent. Its argument is the name of an agent.
func AgentProgram() Program {
	return Program{
		Name:     "ctx-summarize-agent",
		Short:    "has an installed agent write summaries for ctx",
		Argument: "AGENT",
		Help: `AGENT is claude, codex, gemini or opencode. The agent's own login and provider settings
are used; it has no tools and no MCP servers.

Variables:

  CTX_AGENT_MAX_INPUT  the most tokens of history in one request (default 100000, gemini 200000,
                       opencode 60000)
  PATH                 where the agent's program is looked for, unless --program says where it is`,
		Open: open,
	}
}

func open(s Settings) (AnswerFunc, int, error) {
	agent, ok := Find(s.Argument)
	if !ok {
		return nil, 0, fmt.Errorf("no such agent: %.40q: claude, codex, gemini or opencode",
			s.Argument)
	}
	most, err := s.Number("CTX_AGENT_MAX_INPUT", agent.MaxInput)
	if err != nil {
		return nil, 0, err
	}
	o := AgentOptions{Agent: agent, Program: s.Program, Model: s.Model, Environ: os.Environ()}
	r, err := NewRunner(o)
	if err != nil {
		return nil, 0, err
	}
	return r.Ask, most, nil
}

// maxRoot is the largest number of bytes that are read of a .project_root, which holds one path.
const maxRoot = 64 << 10

// afterGemini removes the session that Gemini CLI wrote for a run in the directory work. The
// session holds the history that was sent, and no flag prevents it. afterGemini removes a directory
// of the agent only if its .project_root names work. It ignores errors, because the agent deletes
// old sessions itself.
func afterGemini(work string, getenv func(string) string) {
	home := cmp.Or(getenv("GEMINI_CLI_HOME"), getenv("HOME"), getenv("USERPROFILE"))
	if real, err := filepath.EvalSymlinks(work); err == nil {
		work = real
	}
	for _, kind := range []string{"tmp", "history"} {
		parent := filepath.Join(home, ".gemini", kind)
		entries, _ := os.ReadDir(parent) // empty if it cannot be read
		for _, e := range entries {
			dir := filepath.Join(parent, e.Name())
			root, err := durable.ReadAtMost(filepath.Join(dir, ".project_root"), maxRoot)
			if err == nil && e.IsDir() && strings.TrimSpace(string(root)) == work {
				_ = os.RemoveAll(dir)
			}
		}
	}
}
