// Package catalog lists the agents whose transcripts are read and written, a row each. A new agent
// is a package beside this one, or a Form in package shape, and a row here.
package catalog

import (
	"cmp"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/adk"
	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
	"github.com/gemini-ctx/ctx/internal/agent/codex"
	"github.com/gemini-ctx/ctx/internal/agent/geminicli"
	"github.com/gemini-ctx/ctx/internal/agent/markdown"
	"github.com/gemini-ctx/ctx/internal/agent/opencode"
	"github.com/gemini-ctx/ctx/internal/agent/shape"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/identity"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Agent is one row. A field that does not apply to an agent is nil or zero.
type Agent struct {
	Name    string // of the form, in commands: "claude-code"
	Source  string // of the agent, in the source of a message
	Title   string // for people: "Claude Code"
	Example string // a pattern of files that Read takes
	Page    string // of docs/agents, where it is not that of Name
	// Short says that the JSON document of an import has unknown_rewinds, and none of agent,
	// changed, returned and kept.
	Short bool
	// unlike are the traits of an agent that has not those of most. Callers use TraitsOf.
	unlike Traits

	// Untested says that no real version of the agent has been seen to write such transcripts.
	Untested bool

	// Form is that of the agent's transcripts, and Reads reads those that have none. Callers use Read.
	Form  func() *shape.Form
	Reads func(name string, r io.Reader, emit func(transcript.Step) error) (transcript.Stats, error)
	// ReadOn goes on with a transcript at a mark, as its package says; nil if transcripts are only
	// read whole.
	ReadOn func(name string, r io.Reader, m *transcript.Mark,
		emit func(transcript.Step) error) (transcript.Stats, error)
	// ReadFile returns a reader for a session that is stored as several files, of which path is
	// one; nil for any other path.
	ReadFile func(path string) transcript.Read
	// Beside has emit followed by notes with what the agent keeps in files beside the transcript at
	// path; nil for none. Callers use WithBeside.
	Beside func(path string, emit emit) emit
	// Named returns the session that a file is named for, where that is not the name of the file;
	// "" for a file without a session in its path. Callers use NameOf.
	Named func(path string) string
	// ParentOf returns the session that one works for, by the path of its transcript; "" for none.
	// Nil where the transcript itself says it.
	ParentOf func(path string) string
	// Spent reads what calls of a model took from what is kept of a record; nil for an agent that
	// keeps no such record. Callers use SpentOf.
	Spent func(kept jsonvalue.Object) []transcript.Spent
	// Write begins a transcript. It, NewID and TakesID are nil for an agent whose transcripts are
	// only read.
	Write func(w io.Writer, o transcript.WriteOptions) transcript.Writer
	// NewID makes a session id for the agent out of strings that identify the session.
	NewID func(of ...string) string
	// TakesID reports whether the agent accepts a session id.
	TakesID func(id string) bool
	// ForkOf returns the session of a transcript by its first record, and the one that it begins
	// with a copy of; "" for none. Callers use Order.
	ForkOf func(head jsonvalue.Object) (id, of string)

	// Program is the agent's own, as it is called.
	Program string
	// Root returns the directory in which the agent keeps its files; "" if it is not known.
	Root func(Env) string
	// Signs are files below Root of which the agent makes at least one; nil where Root is nobody
	// else's.
	Signs []string
	// Files are patterns of transcripts below Root, with slashes. InEditors are those below the
	// directories of users in Editors; of these nil is VS Code and its relatives.
	Files, InEditors, Editors []string
	// Folder returns where the agent keeps the transcripts of one directory, of which file is one;
	// nil if that says nothing of a directory.
	Folder func(file string) *Folder
	// Find lists the transcripts of an agent where Files do not do. Callers use Sessions.
	Find func(root string, only func(file string) bool) []Begun
	// Within are patterns of transcripts, with slashes, of an agent that keeps them in the directory
	// of a project.
	Within []string
	// Dirs returns where an agent has worked that keeps its sessions there, by a list of its own.
	// Nil where there is none.
	Dirs func(Env) []string
	// CopyOf returns the id that the session of a transcript has in the agent that had it first, for
	// an agent that keeps copies; "" if the transcript does not say it.
	CopyOf func(file string) string
	// Began returns what a transcript, and what lies where the agent keeps it, says of where its
	// session began.
	Began func(file string) identity.Session
	// Database is that of an agent whose sessions are in one; nil for none.
	Database *Database
	// File returns the file in which the agent keeps a session of the project in dir, for agents
	// whose hooks do not name it.
	File func(root, dir, id string) string
	// Place returns the file in which the agent looks for a session of the project in dir. when is
	// the time of the newest message, as transcript.Stamp prints it.
	Place func(root, id, dir, when string) (string, error)
	// ResumeCommand returns the command that goes on with a session; with Then, the command before
	// it.
	ResumeCommand func(id, file string) []string
	// Then returns the command that goes on with a session once ResumeCommand has brought it in.
	Then func(id string) []string
	// Model returns the model, as provider/model, that the agent uses in a directory; "" if it is
	// not known. An agent that has it refuses a session whose newest model it does not have.
	Model func(e Env, dir string) string
}

// Traits tell an import how to treat the messages of an agent.
type Traits struct {
	// Keeps says that a message has fields of its record in a part, under the agent's name. No
	// other agent is shown them.
	Keeps bool
	// ByWords says that versions of a message differ by words and parts; else by role, author and
	// text.
	ByWords bool
	// Resumes says that the agent gives a session that it resumes a new id, and keeps the ids of
	// its messages.
	Resumes bool
	// Renames says that a fork begins with a copy in which all ids are new, and names no origin.
	Renames bool
	// NamesOnly says that the id of a session has to be a name: no digest takes its place.
	NamesOnly bool
}

// agents are the rows, in the order in which commands list them. No row calls a function, so that
// no program makes the table at its start.
var agents = [...]Agent{
	{
		Name: "gemini-cli", Source: geminicli.Agent, Title: "Gemini CLI",
		Example: "~/.gemini/tmp/*/chats/*.jsonl", Short: true,
		unlike: Traits{ByWords: true, Resumes: true, NamesOnly: true},
		Reads:  geminicli.ReadAs,
		ReadOn: geminicli.ReadOn,
		Write:  geminicli.NewWriter,
		NewID:  transcript.UUID, TakesID: anyID, // it gives what it reads an id of its own
		Program: "gemini",
		Root:    func(e Env) string { return e.under("GEMINI_CLI_HOME", "", ".gemini") },
		// Other programs use .gemini
		Signs:    []string{"settings.json", "projects.json", "tmp"},
		Find:     sessionsOfGemini,
		ParentOf: parentOfGemini,
		Began:    begunInGemini,
		Place: func(root, id, _, _ string) (string, error) {
			return filepath.Join(root, "ctx", id+".jsonl"), nil
		},
		ResumeCommand: func(_, file string) []string {
			return []string{"gemini", "--session-file", file}
		},
	},
	{
		Name: "claude-code", Source: claudecode.Agent, Title: "Claude Code",
		Spent:   claudecode.Spent,
		Example: "~/.claude/projects/*/*.jsonl",
		Reads:   claudecode.ReadAs,
		ReadOn:  claudecode.ReadOn,
		Write:   claudecode.NewWriter,
		NewID:   transcript.UUID, TakesID: format.IsUUID[string],
		Program:       "claude",
		Root:          rootOfClaude,
		Beside:        withOutputs,
		Find:          sessionsOfClaude,
		Began:         begunByCwd,
		Place:         placeClaude,
		ResumeCommand: func(id, _ string) []string { return []string{"claude", "--resume", id} },
	},
	{
		Name: "codex", Source: codex.Agent, Title: "Codex CLI",
		Spent:   codex.Spent,
		Example: "~/.codex/sessions/*/*/*/rollout-*.jsonl",
		Reads: func(_ string, r io.Reader, e emit) (transcript.Stats, error) {
			return codex.Read(r, e)
		},
		ReadOn: func(_ string, r io.Reader, m *transcript.Mark, e emit) (transcript.Stats, error) {
			return codex.ReadOn(r, m, e)
		},
		Write: codex.NewWriter,
		NewID: transcript.UUID, TakesID: format.IsUUID[string],
		ForkOf:  forkOfRollout,
		Beside:  withTitle,
		Program: "codex",
		Root:    func(e Env) string { return e.under("CODEX_HOME", ".codex", "") },
		Files: []string{"sessions/*/*/*/rollout-*.jsonl", "sessions/rollout-*.jsonl",
			"archived_sessions/rollout-*.jsonl"},
		Began:         begunInRollout,
		Place:         placeCodex,
		ResumeCommand: func(id, _ string) []string { return []string{"codex", "resume", id} },
	},
	{
		Name: "opencode", Source: opencode.Agent, Title: "opencode", Example: "session.json",
		unlike: Traits{Keeps: true, ByWords: true, Renames: true},
		Spent:  opencode.Spent,
		Reads: func(_ string, r io.Reader, e emit) (transcript.Stats, error) {
			return opencode.Read(r, e)
		},
		ReadFile: readOpencodeStorage,
		Write:    opencode.NewWriter,
		NewID:    opencode.NewID,
		TakesID:  func(s string) bool { return strings.HasPrefix(s, "ses_") },
		Program:  "opencode",
		Root: func(e Env) string {
			return e.under("XDG_DATA_HOME", ".local/share", "opencode")
		},
		Find:  sessionsOfOpencode,
		Began: begunInOpencode,
		Database: &Database{Files: []string{"opencode.db"}, List: listOpencode,
			Export: exportOpencode},
		Place: func(root, id, _, _ string) (string, error) {
			return filepath.Join(root, "ctx", id+".json"), nil
		},
		ResumeCommand: func(_, file string) []string {
			return []string{"opencode", "import", file}
		},
		Then:  func(id string) []string { return []string{"opencode", "--session", id} },
		Model: modelOfOpencode,
	},
	{
		Name: "antigravity", Source: shape.AntigravityAgent, Title: "Antigravity", Untested: true,
		Example: "~/.gemini/antigravity-cli/brain/*/.system_generated/logs/transcript_full.jsonl",
		Reads:   shape.ReadAntigravity,
		Named:   nameOfAntigravity,
		Program: "agy",
		Signs:   []string{"antigravity", "antigravity-cli"},
		Root:    func(e Env) string { return e.under("GEMINI_CLI_HOME", "", ".gemini") },
		Find:    sessionsOfAntigravity,
		Began:   begunInAntigravity,
	},
	{
		Name: "cursor", Source: shape.CursorAgent, Title: "Cursor", Untested: true,
		Example: "~/.cursor/projects/*/agent-transcripts/*.jsonl",
		Reads:   shape.ReadCursor,
		Program: "cursor-agent",

		ParentOf: parentOfCursor,

		Root:  func(e Env) string { return e.under("CURSOR_CONFIG_DIR", ".cursor", "") },
		Find:  sessionsOfCursor,
		Began: begunInCursor,
		File:  fileOfCursor,
		Database: &Database{Files: []string{"../.config/Cursor/User/globalStorage/state.vscdb",
			"../Library/Application Support/Cursor/User/globalStorage/state.vscdb",
			"../AppData/Roaming/Cursor/User/globalStorage/state.vscdb"},
			List: listCursor, Tables: []Tables{{Session: cursorSession}}},
	},
	{
		Name: "copilot", Source: shape.CopilotAgent, Title: "GitHub Copilot CLI",
		Example: "~/.copilot/session-state/*/events.jsonl",
		Reads:   shape.ReadCopilot,
		Named:   nameOfCopilot,
		Program: "copilot",
		Root:    func(e Env) string { return e.under("COPILOT_HOME", ".copilot", "") },
		Files:   []string{"session-state/*/events*.jsonl", "session-state/*.jsonl"},
		Began:   begunInCopilot,
		File: func(root, _, id string) string {
			return filepath.Join(root, "session-state", id, "events.jsonl")
		},
	},
	{
		Name: "qwen", Source: shape.QwenAgent, Title: "Qwen Code",
		Spent:   transcript.SpentAsGemini,
		Example: "~/.qwen/projects/*/chats/*.jsonl",
		Reads:   shape.ReadQwen,
		Write:   shape.NewQwenWriter,
		NewID:   shape.NewQwenID, TakesID: shape.TakesQwenID,
		Program:       "qwen",
		Root:          rootOfQwen,
		Files:         []string{"projects/*/chats/*.jsonl"},
		Folder:        folderOfQwen,
		Began:         begunByCwd,
		Place:         placeQwen,
		ResumeCommand: func(id, _ string) []string { return []string{"qwen", "--resume", id} },
	},
	{
		Name: "droid", Source: shape.DroidAgent, Title: "Factory Droid", Untested: true,
		Example: "~/.factory/sessions/*/*.jsonl",
		Form:    shape.Droid,
		Program: "droid",
		Root:    func(e Env) string { return e.under("FACTORY_HOME_OVERRIDE", "", ".factory") },
		Files:   []string{"sessions/*/*.jsonl", "projects/*/*.jsonl", "sessions/*.jsonl"},
		Folder:  folderOfDroid,
		Began:   begunByCwd,
	},
	{
		Name: "pi", Source: shape.PiAgent, Title: "Pi", Untested: true,
		Example: "~/.pi/agent/sessions/*/*.jsonl",
		Spent:   shape.PiSpent,
		Form:    shape.Pi,
		ForkOf:  forkOfPi,
		Program: "pi",
		Root:    func(e Env) string { return e.under("PI_CODING_AGENT_DIR", ".pi/agent", "") },
		Files:   []string{"sessions/*/*.jsonl"},
		Began:   begunByCwd,
	},
	{
		Name: "openclaw", Source: shape.OpenClawAgent, Title: "OpenClaw", Page: "pi",
		Untested: true,
		Example:  "~/.openclaw/agents/*/sessions/*.jsonl",
		Spent:    shape.PiSpent,
		Form:     shape.Pi,
		ForkOf:   forkOfPi,
		Program:  "openclaw",
		Root:     func(e Env) string { return e.under("OPENCLAW_STATE_DIR", ".openclaw", "") },
		Files:    []string{"agents/*/sessions/*.jsonl", "agents/*/sessions/*.jsonl.reset.*"},
		Began:    begunByCwd,
	},
	{
		Name: "cline", Source: shape.ClineAgent, Title: "Cline", Untested: true,
		Example:   "TASK/api_conversation_history.json",
		Form:      shape.Cline,
		Spent:     shape.ClineSpent,
		Named:     nameOfTask,
		Root:      func(e Env) string { return e.Home },
		InEditors: []string{"globalStorage/saoudrizwan.claude-dev/tasks/*/" + taskFile},
		Began:     begunInTask,
	},
	{
		Name: "roo-code", Source: shape.RooAgent, Title: "Roo Code", Page: "cline", Untested: true,
		Example:   "TASK/api_conversation_history.json",
		Form:      shape.Cline,
		Spent:     shape.ClineSpent,
		Named:     nameOfTask,
		Root:      func(e Env) string { return e.Home },
		InEditors: []string{"globalStorage/rooveterinaryinc.roo-cline/tasks/*/" + taskFile},
		Began:     begunInTask,
	},
	{
		Name: "kilo-code", Source: shape.KiloAgent, Title: "Kilo Code", Page: "cline",
		Untested:  true,
		Example:   "TASK/api_conversation_history.json",
		Form:      shape.Cline,
		Spent:     shape.ClineSpent,
		Named:     nameOfTask,
		Root:      func(e Env) string { return e.Home },
		InEditors: []string{"globalStorage/kilocode.kilo-code/tasks/*/" + taskFile},
		Began:     begunInTask,
	},
	{
		Name: "continue", Source: shape.ContinueAgent, Title: "Continue",
		Example: "~/.continue/sessions/*.json",
		Form:    shape.Continue,
		Program: "cn",
		Root:    func(e Env) string { return e.under("CONTINUE_GLOBAL_DIR", ".continue", "") },
		Files:   []string{"sessions/*.json"},
		Began:   begunInWorkspace,
	},
	{
		Name: "kiro", Source: shape.KiroAgent, Title: "Kiro", Untested: true,
		Example:   "~/.kiro/sessions/*/*.jsonl",
		Form:      shape.Kiro,
		Program:   "kiro-cli",
		Root:      func(e Env) string { return e.Home },
		Signs:     []string{".kiro"},
		Files:     []string{".kiro/sessions/*/*.jsonl"},
		InEditors: []string{"globalStorage/kiro.kiroagent/workspace-sessions/*/*.json"},
		Editors:   []string{"Kiro"},
		Began:     begunInKiro,
		Database: &Database{Files: []string{".local/share/kiro-cli/data.sqlite3",
			"Library/Application Support/kiro-cli/data.sqlite3",
			".local/share/amazon-q/data.sqlite3",
			"Library/Application Support/amazon-q/data.sqlite3"},
			Tables: []Tables{{Sessions: kiroSessions, Session: kiroSession},
				{Sessions: kiroOlderSessions, Session: kiroOlder}}},
	},
	{
		Name: "amp", Source: shape.AmpAgent, Title: "Amp", Untested: true,
		Example: "~/.local/share/amp/threads/*.json",
		Spent:   shape.AmpSpent,
		Form:    shape.Amp,
		Program: "amp",
		Root:    func(e Env) string { return e.under("XDG_DATA_HOME", ".local/share", "amp") },
		Files:   []string{"threads/*.json"},
		Began:   begunInAmp,
	},
	{
		Name: "goose", Source: shape.GooseAgent, Title: "Goose", Untested: true,
		Example: "~/.local/share/goose/sessions/*.jsonl",
		Form:    shape.Goose,
		Program: "goose",
		Root:    rootOfGoose,
		Files:   []string{"sessions/*.jsonl", "sessions/*.json"},
		Began:   begunInGoose,
		Database: &Database{Files: []string{"sessions/sessions.db"}, Tables: []Tables{
			{Sessions: gooseSessions, Session: gooseSession},
			{Sessions: gooseSessions, Session: gooseOlder}}},
	},
	{
		Name: "crush", Source: shape.CrushAgent, Title: "Crush", Untested: true,
		Example: ".crush/crush.db",
		Form:    shape.Crush,
		Dirs:    dirsOfCrush,
		Database: &Database{Within: true, Files: []string{".crush/crush.db"},
			Tables: []Tables{{Sessions: crushSessions, Session: crushSession}}},
	},
	{
		Name: "vscode", Source: shape.VSCodeAgent, Title: "Copilot Chat in VS Code", Untested: true,
		Example: "workspaceStorage/*/chatSessions/*.json*",
		Form:    shape.VSCode,
		Root:    func(e Env) string { return e.Home },
		InEditors: []string{"workspaceStorage/*/chatSessions/*.json",
			"workspaceStorage/*/chatSessions/*.jsonl"},
		Began: begunInVSCode,
	},
	{
		Name: "zed", Source: shape.ZedAgent, Title: "Zed", Untested: true,
		Example: "~/.local/share/zed/conversations/*.zed.json",
		Form:    shape.Zed,
		Root:    func(e Env) string { return e.Home },
		Database: &Database{Files: []string{".local/share/zed/threads/threads.db",
			"Library/Application Support/Zed/threads/threads.db",
			"AppData/Local/Zed/threads/threads.db"},
			Tables: []Tables{{Sessions: zedSessions, Session: zedSession},
				{Sessions: zedOlderSessions, Session: zedOlder}}},
	},
	{
		Name: "aider", Source: markdown.AiderAgent, Title: "aider", Untested: true,
		Example: ".aider.chat.history.md",
		Reads:   markdown.ReadAider,
		Within:  []string{".aider.chat.history.md"},
	},
	{
		Name: "specstory", Source: markdown.SpecStoryAgent, Title: "SpecStory", Untested: true,
		Example: ".specstory/history/*.md",
		Reads:   markdown.ReadSpecStory,
		Within:  []string{".specstory/history/*.md"},
		CopyOf: func(file string) string {
			return markdown.SpecStoryOf(string(beginning(file, strangeHead)))
		},
	},
	{
		Name: "jsonl", Source: shape.JSONLAgent, Title: "any program, as JSON lines",
		Example: "chat.jsonl",
		unlike:  Traits{Keeps: true},
		Reads: func(_ string, r io.Reader, e emit) (transcript.Stats, error) {
			return shape.ReadJSONL(r, e)
		},
		Write: shape.NewJSONLWriter,
		NewID: func(...string) string { return "" }, TakesID: anyID,
	},
}

type emit = func(transcript.Step) error

func anyID(string) bool { return true }

// All returns the rows, in the order in which commands list them.
func All() []Agent { return agents[:] }

// Named returns the row of a form; ok is false if there is none.
func Named(name string) (Agent, bool) {
	i := slices.IndexFunc(agents[:], func(a Agent) bool { return a.Name == name })
	if i < 0 {
		return Agent{}, false
	}
	return agents[i], true
}

// Resumable returns the names of the agents that can go on with a session.
func Resumable() (names []string) {
	for i := range agents {
		if agents[i].ResumeCommand != nil {
			names = append(names, agents[i].Name)
		}
	}
	return names
}

// Read reads a transcript. name is what NameOf returns for its file, or "".
func (a *Agent) Read(
	name string, r io.Reader, emit func(transcript.Step) error,
) (transcript.Stats, error) {
	if a.Form != nil {
		return a.Form().Read(a.Source, name, r, emit)
	}
	return a.Reads(name, r, emit)
}

// TraitsOf returns the traits of the agent that the source of a message names: an agent of a row, a
// store, or ADK, which has events instead of transcripts. Any other name has none.
func TraitsOf(source string) Traits {
	most := Traits{Keeps: true, ByWords: true}
	switch source {
	case transcript.Own:
		return Traits{ByWords: true}
	case adk.Agent:
		return most
	}
	if a := OfSource(source); a != nil {
		return cmp.Or(a.unlike, most)
	}
	return Traits{}
}

// SpentOf returns what reads the calls of a model from what is kept of a record of the agent that a
// source names; nil if that is not known.
func SpentOf(source string) func(kept jsonvalue.Object) []transcript.Spent {
	if a := OfSource(source); a != nil {
		return a.Spent
	}
	return nil
}

// OfSource returns the row of the agent that the source of a message names; nil for none.
func OfSource(source string) *Agent {
	i := slices.IndexFunc(agents[:], func(a Agent) bool { return a.Source == source })
	if i < 0 {
		return nil
	}
	return &agents[i]
}

// NameOf returns the session that the file of a transcript is named for.
func (a *Agent) NameOf(path string) string {
	if a.Named != nil {
		if name := a.Named(path); name != "" {
			return name
		}
	}
	name := Plain(filepath.Base(path))
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// WithBeside returns what takes the steps of the transcript at path, "" for none, and what lies
// beside it.
func (a *Agent) WithBeside(path string, emit func(transcript.Step) error) emit {
	if a.Beside == nil || path == "" {
		return emit
	}
	return a.Beside(path, emit)
}

// Worked returns the directories of Dirs.
func (a *Agent) Worked(e Env) []string {
	if a.Dirs == nil {
		return nil
	}
	return a.Dirs(e)
}

// Placed adds to what a transcript says what its path says.
func (a *Agent) Placed(path string, stats *transcript.Stats) {
	if a.ParentOf != nil && stats.Parent == "" {
		stats.Parent = a.ParentOf(path)
	}
}

// Keeps reports whether a part has fields of an agent's record under a name.
func Keeps(name string) bool { return TraitsOf(name).Keeps }
