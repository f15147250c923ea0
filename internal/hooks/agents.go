package hooks

import (
	"cmp"
	_ "embed"
	"path/filepath"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
	"github.com/gemini-ctx/ctx/internal/agent/codex"
	"github.com/gemini-ctx/ctx/internal/agent/geminicli"
	"github.com/gemini-ctx/ctx/internal/agent/opencode"
	"github.com/gemini-ctx/ctx/internal/agent/shape"
	"github.com/gemini-ctx/ctx/internal/hooks/settings"
	"github.com/gemini-ctx/ctx/internal/lists"
)

// Agent is an agent that calls our hook.
type Agent struct {
	Name   string // in commands and in sources
	Title  string // for people
	Events []Event
	Turn   string // the event at which a turn ends

	// Where its settings are, each a path with slashes: Project below the project's directory, User
	// below the directory that the variable Home names, or else below Standard in the home
	// directory. With HomeAbove, the variable names the directory that has Standard.
	Project, User  string
	Home, Standard string
	HomeAbove      bool
	Local          bool // Project is for this machine alone

	// How its settings have a hook. Form is the shape; the zero Form stands for settings.Groups.
	// Named says that a hook has a name, and Untyped that it has no type. Timeout is how long the
	// agent waits for it, longer than any sensible hook.deadline, in the unit of the agent, and
	// TimeoutIn its member, if that is not "timeout"; 0 for an agent without one. Shells says that a
	// hook has a command for bash and one for PowerShell, and Bash that bash runs the command on
	// Windows, too. EventInCommand says that the agent does not tell a hook which event it is: the
	// command does.
	Form           settings.Form
	Named, Untyped bool
	Timeout        int
	TimeoutIn      string
	Shells, Bash   bool
	EventInCommand bool
	// Sh is the shell that runs a command where there is no PowerShell: sh for "", bash, or $SHELL for
	// that of the user.
	Sh string

	// How its transcripts are found. Late says that the agent writes the end of a turn only after the
	// hook there. Subagents returns the transcripts of the subagents of a session, whose directory
	// has the session's name and is beside its transcript; nil for none. Others returns the
	// transcripts that the agent keeps where it keeps one; nil for those in the same directory.
	Late      bool
	Subagents func(dir string) []string
	Others    func(transcript string) []string

	// Answer returns what a hook prints to give a text to the model; nil for the form of Claude Code.
	Answer func(event, text string) any

	// Shows says that the agent shows the member systemMessage of what a hook prints to the person.
	Shows bool

	// Event and Env are set for a run: the event that the command names, and where the agent keeps
	// its files.
	Event string
	Env   catalog.Env

	// LateAnswer says that the agent calls the hook at the end of a turn before it has written the
	// last answer to its transcript, and tells the hook what it is.
	LateAnswer bool

	// Forgets says that the agent keeps nothing of what a hook gave to the model: it asks again when
	// it starts.
	Forgets bool

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
	doRecord work = iota // what was said is recorded
	doAside              // doRecord, and the agent goes on meanwhile
	// The same, also of sessions whose last hook was missed; the model is given a brief
	doStart
	doCatchUp // doStart without the brief
	doAsk     // the model is given what answers the prompt
	doEnd     // doRecord; then the work that a session leaves is done
	doAnswer  // the model is told of earlier turns that are about the prompt
	doHeed    // the model is told what to heed of what it is about to change, or to run
	doMend    // the model is told what ended the failure of a command before
	doKeep    // doRecord; whoever writes a summary is told what it must not lose
)

// The tools that change files, and that run commands, as agents match them.
const (
	editTools  = "Edit|MultiEdit|NotebookEdit|Write"
	shellTools = "Bash"
)

// only returns the tools that an event is for, as a regular expression; "" for all.
func (e *Event) only() string {
	switch {
	case e.does == doHeed:
		return editTools + "|" + shellTools
	case e.Name == "PostToolUse": // after every call, whether it failed or not
		return shellTools
	}
	return ""
}

// GeminiCLI is the name of the agent in sources and in the trouble log.
const GeminiCLI = geminicli.Agent

// AfterAgent is the event at which Gemini CLI ends a turn.
const AfterAgent = "AfterAgent"

// agents are the rows, in the order in which commands list them.
var agents = [...]Agent{
	{
		Name: GeminiCLI, Title: "Gemini CLI", Turn: AfterAgent,
		Events: []Event{{"SessionStart", doCatchUp}, {"BeforeAgent", doAsk},
			{"PreCompress", doRecord}, {AfterAgent, doRecord}, {"SessionEnd", doEnd}},
		Project: ".gemini/settings.json", User: "settings.json", Home: "GEMINI_CLI_HOME",
		Standard: ".gemini", HomeAbove: true,
		Named: true, Timeout: 30_000, Sh: "bash",
		Subagents: newestIn, Shows: true,
	},
	{
		Name: claudecode.Agent, Title: "Claude Code", Turn: "Stop",
		// What a Stop misses, when it is ended with the agent, SessionEnd records.
		Events: []Event{{"SessionStart", doStart}, {"PreCompact", doKeep}, {"Stop", doAside},
			{"SubagentStop", doAside}, {"SessionEnd", doEnd}, {"UserPromptSubmit", doAnswer},
			{"PreToolUse", doHeed}, {"PostToolUseFailure", doMend}},
		// The project's settings.json is shared with everybody who works on it, and they may not
		// have ctx.
		Project: ".claude/settings.local.json", Local: true, User: "settings.json", Home: "CLAUDE_CONFIG_DIR",
		Standard: ".claude",
		Timeout:  30, LateAnswer: true, Bash: true, // that of Git
		Subagents: besideIt, Shows: true,
	},
	{
		Name: codex.Agent, Title: "Codex CLI", Turn: "Stop",
		Events: []Event{{"SessionStart", doStart}, {"PreCompact", doRecord}, {"Stop", doRecord},
			{"SubagentStop", doRecord}, {"SessionEnd", doEnd}, {"UserPromptSubmit", doAnswer},
			{"PostToolUse", doMend}},
		Project: ".codex/hooks.json", User: "hooks.json", Home: "CODEX_HOME", Standard: ".codex",
		Timeout: 30, Sh: "$SHELL", Shows: true,
		Trust: "Codex runs new hooks only after you have reviewed them: type /hooks in Codex " +
			"once, in a project that it trusts",
	},
	{
		Name: opencode.Agent, Title: "opencode", Turn: "session.idle",
		Events: []Event{{"session.start", doStart}, {"session.compacting", doKeep},
			{"session.idle", doRecord}},
		Project: ".opencode/plugins/ctx.js", User: "opencode/plugins/ctx.js",
		Home: "XDG_CONFIG_HOME", Standard: ".config", Forgets: true,
	},
	{
		Name: shape.AntigravityAgent, Title: "Antigravity", Turn: "Stop",
		Events: []Event{{"SessionStart", doCatchUp}, {"PreInvocation", doStart},
			{"Stop", doRecord}},
		Project: ".agents/hooks.json", User: "config/hooks.json", Home: "GEMINI_CLI_HOME",
		Standard: ".gemini", HomeAbove: true,
		// One value of a kind that it does not expect, and Antigravity drops the whole file.
		Form: settings.Form{In: HookName, Flat: true}, Timeout: 30, EventInCommand: true,
		Late: true, Others: besideConversation,
		Answer: func(_, text string) any {
			return map[string]any{"injectSteps": []any{map[string]string{"ephemeralMessage": text}}}
		},
	},
	{
		Name: shape.CursorAgent, Title: "Cursor", Turn: "stop",
		Events: []Event{
			{"sessionStart", doStart}, {"preCompact", doRecord}, {"stop", doRecord},
			{"subagentStop", doRecord}, {"sessionEnd", doEnd},
		},
		Project: ".cursor/hooks.json", User: "hooks.json", Home: "CURSOR_CONFIG_DIR",
		Standard: ".cursor",
		Form:     settings.Form{In: "hooks", Flat: true, Versioned: true}, Untyped: true,
		Answer: func(_, text string) any { return map[string]string{"additional_context": text} },
	},
	{
		Name: shape.CopilotAgent, Title: "GitHub Copilot CLI", Turn: "agentStop",
		Events: []Event{
			{"sessionStart", doStart}, {"userPromptSubmitted", doRecord}, {"agentStop", doRecord},
			{"sessionEnd", doEnd},
		},
		Project: ".github/hooks/ctx.json", User: "hooks/ctx.json", Home: "COPILOT_HOME",
		Standard: ".copilot",
		Form:     settings.Form{In: "hooks", Flat: true, Versioned: true}, Timeout: 30,
		TimeoutIn: "timeoutSec", Shells: true, EventInCommand: true, Sh: "bash",
		Late: true, Others: besideSession,
		Trust: "Copilot runs the hooks of a directory only if you trust the directory: it asks " +
			"at its first start there",
		Answer: func(_, text string) any { return map[string]string{"additionalContext": text} },
	},
	{
		Name: shape.QwenAgent, Title: "Qwen Code", Turn: "Stop",
		Events: []Event{
			// A run without a terminal has no SessionStart.
			{"SessionStart", doStart}, {"UserPromptSubmit", doStart}, {"PreCompact", doRecord},
			{"Stop", doRecord}, {"SubagentStop", doRecord},
			{"SessionEnd", doEnd},
		},
		Project: ".qwen/settings.json", User: "settings.json", Home: "QWEN_HOME", Standard: ".qwen",
		Timeout: 30_000, Sh: "bash", LateAnswer: true, Shows: true,
	},
	{
		Name: shape.DroidAgent, Title: "Factory Droid", Turn: "Stop",
		Events: []Event{
			{"SessionStart", doStart}, {"PreCompact", doRecord}, {"Stop", doRecord},
			{"SubagentStop", doRecord}, {"SessionEnd", doEnd},
		},
		Project: ".factory/settings.json", User: "settings.json", Home: "FACTORY_HOME_OVERRIDE",
		Standard: ".factory", HomeAbove: true,
		Timeout: 30, Shows: true,
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

// Tells returns the event at which the model is told of other sessions; "" for none.
func (a *Agent) Tells() string {
	for _, e := range a.Events {
		if e.does == doStart || e.does == doAsk {
			return e.Name
		}
	}
	return ""
}

// Shell returns the program, with arguments, that runs a command of the agent's settings. get reads
// an environment variable.
func (a *Agent) Shell(windows bool, get func(string) string) []string {
	sh := a.Sh
	switch {
	case windows && a.Bash:
		return []string{"bash", "-c"}
	case windows:
		return []string{"powershell.exe", "-NoProfile", "-NonInteractive", "-Command"}
	case sh == "$SHELL":
		sh = get("SHELL")
	}
	return []string{cmp.Or(sh, "/bin/sh"), "-c"}
}

// Settings returns how the settings of the agent hold hooks.
func (a *Agent) Settings() settings.Form {
	f := a.Form
	if f.In == "" {
		f = settings.Groups(a.Name)
	}
	f.Agent = a.Name
	return f
}

// Untested reports whether no real version of the agent has been seen to call our hook.
func (a *Agent) Untested() bool {
	row, _ := catalog.Named(a.Name)
	return row.Untested
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

// Mends returns the event at which the model is told what ended a failure before; "" for none.
func (a *Agent) Mends() string { return a.eventOf(doMend) }

// Answers returns the event at which the model is told of earlier turns that are about the prompt;
// "" for none.
func (a *Agent) Answers() string { return a.eventOf(doAnswer) }

// Heeds returns the event at which the model is told what to heed of a file; "" for none.
func (a *Agent) Heeds() string { return a.eventOf(doHeed) }

// Keeps returns the event at which whoever writes a summary is told what it must keep; "" for none.
func (a *Agent) Keeps() string { return a.eventOf(doKeep) }

func (a *Agent) eventOf(does work) string {
	for _, e := range a.Events {
		if e.does == does {
			return e.Name
		}
	}
	return ""
}

// EventNames returns the names of the events at which the agent calls our hook.
func (a *Agent) EventNames() []string {
	return lists.Map(a.Events, func(e Event) string { return e.Name })
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
	case dir != "" && a.HomeAbove:
		dir = filepath.Join(dir, a.Standard)
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
