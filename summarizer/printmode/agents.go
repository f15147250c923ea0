package printmode

import (
	"encoding/json"
	"maps"
	"path/filepath"

	"github.com/gemini-ctx/ctx/summarizer/model"
)

// Agent is an installed agent that writes summaries: a row of the table in Agents.
type Agent struct {
	Name    string // as `ctx-summarize-agent NAME` has it
	Program string // the name that is looked for on PATH
	Login   string // what the user does to log in, as the end of a sentence
	// MaxInput is the most tokens of history in one request where the user sets nothing else.
	MaxInput int

	clear []string // variables that the agent does not inherit
	// call says how the agent is run for one request.
	call func(c call) (command, error)
	// list names the user's MCP servers, which call then turns off; nil for an agent that can do
	// without all of them by a flag.
	list *listing
	// read takes the reply out of what the agent wrote to its standard output.
	read func(out []byte) (model.Reply, error)
	// after removes what the agent keeps of a run in the directory work; nil for an agent that keeps
	// nothing.
	after func(work string, getenv func(string) string)
}

// call is what a row may put into the command of one request.
type call struct {
	dir     string   // a directory for files of the row; the agent does not run in it
	prompt  string   // the instructions
	model   string   // "" for the agent's own choice
	servers []string // the user's MCP servers
	getenv  func(string) string
}

// command is one run of an agent. The text to be summarised is its standard input.
type command struct {
	args  []string
	env   map[string]string
	files map[string]string // by path, in call.dir
}

// listing is a command that prints the user's MCP servers.
type listing struct {
	args  []string
	env   map[string]string
	names func(out []byte) ([]string, error)
	// must says that an agent whose servers cannot be listed is not asked: nothing else keeps it
	// from offering their tools.
	must bool
}

// Agents returns the table. The flags and variables are those of Claude Code 2.1, Codex CLI 0.169,
// Gemini CLI 0.61 and opencode 1.18.
func Agents() []Agent {
	return []Agent{
		{
			Name: "claude", Program: "claude", MaxInput: 100_000,
			Login: "run `claude` once and log in",
			// Claude Code does not start inside a session of its own that it knows of.
			clear: []string{
				"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID",
				"CLAUDE_CODE_SSE_PORT",
			},
			call: callClaude, read: readClaude,
		},
		{
			Name: "codex", Program: "codex", MaxInput: 100_000,
			Login: "run `codex login`",
			clear: []string{"CODEX_THREAD_ID"},
			call:  callCodex, read: readCodex,
			list: &listing{
				args: []string{"mcp", "list", "--json"}, names: codexServers, must: true,
			},
		},
		{
			Name: "gemini", Program: "gemini", MaxInput: 200_000,
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

// Find returns the row of a name.
func Find(name string) (Agent, bool) {
	for _, a := range Agents() {
		if a.Name == name {
			return a, true
		}
	}
	return Agent{}, false
}

// callClaude runs Claude Code in its safe mode, which knows no hooks, plugins, MCP servers, skills
// and no CLAUDE.md, with an empty list of tools.
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
		env["CLAUDE_CODE_MAX_RETRIES"] = "2" // its ten take longer than an answer is waited for
	}
	return command{args: args, env: env}, nil
}

// codexOff are the features of Codex that offer tools, or run something of the user's. One that a
// version does not know is passed over.
func codexOff() []string {
	return []string{
		"apps", "browser_use", "code_mode", "computer_use", "goals", "hooks", "image_generation",
		"memories", "multi_agent", "plugins", "shell_snapshot", "shell_tool", "skill_search",
		"sleep_tool", "tool_suggest", "unified_exec", "view_image",
	}
}

// callCodex runs Codex as an ephemeral session with every tool turned off, in the read-only sandbox
// in case that one is left. The user's config.toml is read, since it says who the provider is.
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

// defaultGemini is asked where the user names no model: the agent would first ask another model
// which one to ask.
const defaultGemini = "gemini-2.5-flash"

// denyAll is a policy of Gemini CLI: a tool that it denies is not offered.
const denyAll = `[[rule]]
toolName = "*"
decision = "deny"
priority = 999
`

// noServer names no MCP server: Gemini CLI starts those alone that are named.
const noServer = "ctx-none"

// callGemini runs Gemini CLI with a policy that denies every tool, so that none is offered.
func callGemini(c call) (command, error) {
	name := c.model
	if name == "" {
		name = defaultGemini
	}
	policy, system := filepath.Join(c.dir, "policy.toml"), filepath.Join(c.dir, "system.md")
	return command{
		args: []string{
			"--output-format", "json", "--approval-mode", "default", "--extensions", "none",
			"--allowed-mcp-server-names", noServer, "--admin-policy", policy, "--model", name,
		},
		env: map[string]string{
			"GEMINI_SYSTEM_MD": system, "GEMINI_CLI_TRUST_WORKSPACE": "true",
			"GEMINI_CLI_NO_RELAUNCH": "true",
		},
		files: map[string]string{policy: denyAll, system: c.prompt},
	}, nil
}

// opencodeAgent is the name of the agent that is defined for summaries.
const opencodeAgent = "ctx-summary"

func opencodeEnv() map[string]string {
	return map[string]string{
		"OPENCODE_DB":                     ":memory:", // no session is left
		"OPENCODE_PURE":                   "1",
		"OPENCODE_DISABLE_AUTOUPDATE":     "1",
		"OPENCODE_DISABLE_CLAUDE_CODE":    "1",
		"OPENCODE_DISABLE_LSP_DOWNLOAD":   "1",
		"OPENCODE_DISABLE_PROJECT_CONFIG": "1",
	}
}

// callOpencode runs opencode with an agent of our own that may use no tool. What the user has in
// OPENCODE_CONFIG_CONTENT stays in force beside it.
func callOpencode(c call) (command, error) {
	deny := map[string]any{"*": "deny"}
	servers := map[string]any{}
	for _, name := range c.servers {
		servers[name] = map[string]any{"enabled": false}
	}
	config := map[string]any{}
	if text := c.getenv("OPENCODE_CONFIG_CONTENT"); text != "" {
		_ = json.Unmarshal([]byte(text), &config) // what opencode could not read either is left out
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

// quoted writes a string as JSON does, which TOML reads as well.
func quoted(s string) string {
	b, _ := json.Marshal(s) // a string can always be printed
	return string(b)
}
