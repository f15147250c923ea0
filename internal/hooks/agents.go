package hooks

import (
	_ "embed"
	"path/filepath"

	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
	"github.com/gemini-ctx/ctx/internal/agent/codex"
	"github.com/gemini-ctx/ctx/internal/agent/geminicli"
	"github.com/gemini-ctx/ctx/internal/agent/opencode"
)

// Agent is an agent that calls our hook.
type Agent struct {
	Name   string // in commands and in sources
	Title  string // for people
	Events []Event

	// Where its settings are, each a path with slashes: Project below the project's directory, User
	// below the directory that the variable Home names, or else below Standard in the home
	// directory.
	Project, User  string
	Home, Standard string

	// How its settings have a hook: Named says that it has a name, and Timeout is how long the
	// agent waits for it, longer than any sensible hook.deadline, in the unit of the agent.
	Named   bool
	Timeout int

	// Late says that the agent calls the hook at the end of a turn before it has written the last
	// answer to its transcript.
	Late bool

	// Trust says what the user has to do before the agent runs new hooks; "" for nothing.
	Trust string
}

// Event is an event at which an agent calls our hook.
type Event struct {
	Name string
	does work
}

// work is what a hook does at an event.
type work uint8

const (
	doRecord  work = iota // what was said is recorded
	doStart               // the same, also of sessions whose last hook was missed; the model is given a brief
	doCatchUp             // doStart without the brief
	doAsk                 // the model is given what answers the prompt
	doEnd                 // doRecord; then the work that a session leaves is done
)

// GeminiCLI is the name of the agent in sources and in the trouble log.
const GeminiCLI = geminicli.Agent

// AfterAgent is the event at which Gemini CLI ends a turn.
const AfterAgent = "AfterAgent"

// agents are the rows, in the order in which commands list them.
var agents = [...]Agent{
	{
		Name: GeminiCLI, Title: "Gemini CLI",
		Events:  []Event{{"SessionStart", doCatchUp}, {"BeforeAgent", doAsk}, {"PreCompress", doRecord}, {AfterAgent, doRecord}, {"SessionEnd", doEnd}},
		Project: ".gemini/settings.json", User: "settings.json", Home: "GEMINI_CLI_HOME", Standard: ".gemini",
		Named: true, Timeout: 30_000,
	},
	{
		Name: claudecode.Agent, Title: "Claude Code",
		Events: []Event{{"SessionStart", doStart}, {"PreCompact", doRecord}, {"Stop", doRecord}, {"SubagentStop", doRecord}, {"SessionEnd", doEnd}},
		// The project's settings.json is shared with everybody who works on it, and they may not
		// have ctx.
		Project: ".claude/settings.local.json", User: "settings.json", Home: "CLAUDE_CONFIG_DIR", Standard: ".claude",
		Timeout: 30, Late: true,
	},
	{
		Name: codex.Agent, Title: "Codex CLI",
		Events:  []Event{{"SessionStart", doStart}, {"PreCompact", doRecord}, {"Stop", doRecord}, {"SubagentStop", doRecord}, {"SessionEnd", doEnd}},
		Project: ".codex/hooks.json", User: "hooks.json", Home: "CODEX_HOME", Standard: ".codex",
		Timeout: 30,
		Trust:   "Codex runs new hooks only after you have reviewed them: type /hooks in Codex once, in a project that it trusts",
	},
	{
		Name: opencode.Agent, Title: "opencode",
		Events:  []Event{{"session.start", doStart}, {"session.idle", doRecord}},
		Project: ".opencode/plugins/ctx.js", User: "opencode/plugins/ctx.js", Home: "XDG_CONFIG_HOME", Standard: ".config",
	},
}

//go:embed opencode.js
var opencodePlugin string

// Plugin returns the text of a plugin that takes the place of hooks in settings; "" for none. It
// calls the hook with the session itself instead of the path of a transcript.
func (a *Agent) Plugin() string {
	if a.Name == opencode.Agent {
		return opencodePlugin
	}
	return ""
}

// Agents returns the agents that call our hook, in the order in which commands list them.
func Agents() []Agent { return agents[:] }

// AgentNamed returns the agent with a name; ok is false if it does not call our hook.
func AgentNamed(name string) (a Agent, ok bool) {
	for _, a := range agents {
		if a.Name == name {
			return a, true
		}
	}
	return Agent{}, false
}

// EventNames returns the names of the events at which the agent calls our hook.
func (a *Agent) EventNames() []string {
	names := make([]string, len(a.Events))
	for i, e := range a.Events {
		names[i] = e.Name
	}
	return names
}

// at returns what a hook does at an event; ok is false for an event that it does not know.
func (a *Agent) at(event string) (w work, ok bool) {
	for _, e := range a.Events {
		if e.Name == event {
			return e.does, true
		}
	}
	return 0, false
}

// UserSettings returns the path of the user's settings. get reads an environment variable, and home
// is the home directory; "" stands for none of either. The path is "" if both are missing.
func (a *Agent) UserSettings(get func(string) string, home string) string {
	dir := get(a.Home)
	switch {
	case dir != "" && a.Name == GeminiCLI:
		dir = filepath.Join(dir, a.Standard) // its variable names the home directory
	case dir == "" && home == "":
		return ""
	case dir == "":
		dir = filepath.Join(home, a.Standard)
	}
	return filepath.Join(dir, a.User)
}

// ProjectSettings returns the path of the settings of the project in dir.
func (a *Agent) ProjectSettings(dir string) string {
	return filepath.Join(dir, filepath.FromSlash(a.Project))
}
