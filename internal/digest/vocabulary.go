package digest

import (
	"slices"
	"strings"
	"sync"

	"github.com/gemini-ctx/ctx/internal/blame/replay"
)

// deed is what a tool does, independent of its name.
type deed uint8

const (
	unknownDeed deed = iota
	readFile
	listFiles
	searchText
	editFile
	writeFile
	runCommand
	applyPatch
	setTodos
	addTask
	updateTask
	askUser
	showPlan
	delegate
	fetchPage
	searchWeb
	remember
	waitFor // waiting, polling and looking up tools: no fact
)

// vocabulary maps the names of tools to deeds, one group per agent. Names are compared without
// case, hyphens and underscores, so each name is listed once. Sources: Claude Code 2.1, Codex
// 0.169, Gemini CLI 0.61, opencode 1.18 and Cline 3, as their transcripts name the tools.
func vocabulary() map[string]deed {
	return map[string]deed{
		// Claude Code
		"read": readFile, "notebookread": readFile, "ls": listFiles, "glob": listFiles,
		"grep": searchText,
		"edit": editFile, "multiedit": editFile, "notebookedit": editFile, "write": writeFile,
		"bash": runCommand, "todowrite": setTodos, "taskcreate": addTask, "taskupdate": updateTask,
		"task": delegate, "agent": delegate, "webfetch": fetchPage, "websearch": searchWeb,
		"exitplanmode": showPlan, "askuserquestion": askUser, "taskoutput": waitFor,
		"taskstop": waitFor,
		"tasklist": waitFor, "taskget": waitFor, "bashoutput": waitFor, "killshell": waitFor,
		"killbash": waitFor, "toolsearch": waitFor,
		// Codex
		"shell": runCommand, "shellcommand": runCommand, "execcommand": runCommand,
		"localshellcall": runCommand, "containerexec": runCommand, "applypatch": applyPatch,
		"updateplan": setTodos,
		"writestdin": waitFor, "wait": waitFor, "spawnagent": delegate, "waitagent": waitFor, "closeagent": waitFor,
		"sendinput": delegate, "viewimage": readFile, "requestuserinput": askUser,
		// Gemini CLI
		"readfile": readFile, "readmanyfiles": readFile, "listdirectory": listFiles,
		"searchfilecontent": searchText, "grepsearch": searchText, "replace": editFile,
		"runshellcommand": runCommand, "googlewebsearch": searchWeb, "savememory": remember,
		"writetodos": setTodos, "askuser": askUser,
		// opencode
		"list": listFiles, "patch": applyPatch, "todoread": waitFor, "question": askUser,
		// Cline, Roo Code and Kilo Code
		"executecommand": runCommand, "writetofile": writeFile, "replaceinfile": editFile,
		"applydiff": editFile, "searchfiles": searchText, "askfollowupquestion": askUser,
		"usesubagents": delegate, "newtask": delegate, "updatetodolist": setTodos,
		"listcodedefinitionnames": searchText, "attemptcompletion": waitFor,
		"planmoderespond": waitFor,
		// Copilot CLI, Crush
		"updatetodo": setTodos, "todos": setTodos,
		// Copilot Chat in VS Code
		"runinterminal": runCommand, "replacestringinfile": editFile, "listdir": listFiles,
		"multireplacestringinfile": editFile, "inserteditintofile": editFile,
		"filesearch": listFiles, "semanticsearch": searchText, "fetchwebpage": fetchPage,
		"managetodolist": setTodos, "runsubagent": delegate, "getterminaloutput": waitFor,
		"createfile": writeFile,
		// Continue
		"runterminalcommand": runCommand, "createnewfile": writeFile, "editexistingfile": editFile,
		"singlefindandreplace": editFile, "fileglobsearch": listFiles, "fetchurlcontent": fetchPage,
		"checklist": setTodos,
	}
}

// deeds is the vocabulary. It is made on first use, to keep start-up fast.
var deeds struct {
	once sync.Once
	of   map[string]deed
}

// deedOf looks up the deed of a tool by its name. For a tool of a server, such as
// mcp__files__read_file or files.read_file, the caller looks up the last part of the name, or uses
// deedByShape.
func deedOf(name string) (deed, bool) {
	deeds.once.Do(func() { deeds.of = vocabulary() })
	d, ok := deeds.of[plainName(name)]
	return d, ok
}

func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '_' || r == '-' || r == '.' || r == ' ':
			return -1
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return r
	}, name)
}

// The names that tools give to the same argument, the most telling first.
var (
	pathNames = []string{"file_path", "filePath", "filepath", "dirPath", "absolute_path", "notebook_path", "path",
		"filename", "file", "target_file", "dir_path", "paths", "include"}
	commandNames = []string{"command", "cmd", "script"}
	patternNames = []string{"pattern", "query", "regex", "q", "search"}
	contentNames = []string{"content", "contents", "file_text", "text"}
	patchNames   = []string{"input", "patch", "patchText", "diff"}
	urlNames     = []string{"url", "uri", "link"}
	planNames    = []string{"todos", "plan", "items", "checklist", "content"}
	titleNames   = []string{"title", "subject", "name", "description", "summary", "message",
		"prompt", "skill", "id"}
)

// deedByShape guesses the deed of an unknown tool from its arguments.
func deedByShape(a args) deed {
	if a.text(pathNames) != "" { // an editor with commands of its own
		switch a.text(commandNames) {
		case "view":
			return readFile
		case "create", "write":
			return writeFile
		case "str_replace", "strReplace", "insert":
			return editFile
		}
	}
	switch {
	case a.command() != "":
		return runCommand
	case a.has(replay.OldNames) && a.has(replay.NewNames):
		return editFile
	case a.text(pathNames) != "" && a.has(contentNames):
		return writeFile
	case strings.HasPrefix(a.text(patchNames), patchLead):
		return applyPatch
	case a.text(urlNames) != "":
		return fetchPage
	case a.text(pathNames) != "" && a.text(patternNames) != "":
		return searchText
	case a.text(pathNames) != "" && a.onlyNumbersBeside(pathNames):
		return readFile
	}
	return unknownDeed
}

// answersBy reports whether a model ends a turn with a call of a tool, whose argument is what the
// message says.
func answersBy(tool string) bool {
	return slices.Contains([]string{"attemptcompletion", "planmoderespond"}, plainName(tool))
}
