package replay

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/lists"
)

// OldNames are the names that tools give to the text that an edit replaces, and NewNames to the
// text in its place.
var (
	OldNames = []string{"old_string", "oldString", "old_str", "old_text", "oldText", "oldStr"}
	NewNames = []string{"new_string", "newString", "new_str", "new_text", "newText", "newStr"}
)

// The names that tools give to the same argument.
var (
	pathNames = []string{"file_path", "filePath", "absolute_path", "notebook_path", "path",
		"filename", "file", "target_file"}
	contentNames = []string{"content", "contents", "file_text", "text"}
	patchNames   = []string{"input", "patch", "patchText", "patch_text", "diff"}
	commandNames = []string{"command", "cmd", "script"}
	DirNames     = []string{"workdir", "cwd", "dir_path", "directory"}
	allNames     = []string{"replace_all", "replaceAll", "allow_multiple"}
)

// form is how a tool names what it changes.
type form uint8

const (
	unknownForm  form = iota
	noForm            // the tool changes no file
	editForm          // old_string, new_string, and perhaps a list of edits
	writeForm         // content
	notebookForm      // new_source, of a cell
	patchForm         // the format of apply_patch
	shellForm         // a script
)

// formOf returns the form of a tool by its name: Claude Code 2.1, Codex 0.169, Gemini CLI 0.61 and
// opencode 1.18. Names are compared without case, hyphens and underscores. A tool of a server,
// mcp__files__edit, counts by the last part of its name.
func formOf(name string) form {
	if i := strings.LastIndex(name, "__"); i >= 0 {
		name = name[i+2:]
	}
	switch strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name)) {
	case "edit", "multiedit", "replace", "strreplace", "editfile", "replaceinfile", "applydiff":
		return editForm
	case "write", "writefile", "createfile":
		return writeForm
	case "notebookedit":
		return notebookForm
	case "applypatch", "patch":
		return patchForm
	case "bash", "shell", "shellcommand", "execcommand", "localshellcall", "containerexec",
		"runshellcommand":
		return shellForm
	case "read", "readfile", "readmanyfiles", "ls", "list", "listdirectory", "glob", "grep",
		"searchfilecontent", "grepsearch",
		"todowrite", "taskcreate", "taskupdate", "webfetch", "websearch", "googlewebsearch", "task",
		"agent", "updateplan",
		"writestdin", "notebookread", "viewimage", "bashoutput", "taskoutput",
		"toolsearch", "skill":
		return noForm
	}
	return unknownForm
}

// MayChange reports whether a tool of this name may change files. Of a name that is not known it is
// true.
func MayChange(tool string) bool { return formOf(tool) != noForm }

// RunsCommands reports whether a tool runs shell commands. A command can fail after it has written.
func RunsCommands(tool string) bool { return formOf(tool) == shellForm }

// Changes returns what a call does to files, as far as its arguments say it. dir is the directory
// in which the agent works; "" if it is not known.
func Changes(tool string, raw json.RawMessage, dir string) []Change {
	a := readArguments(raw)
	how := formOf(tool)
	if how == noForm {
		return nil
	}
	file := a.text(pathNames)
	if !a.fits(how, file) {
		how = a.shape(file)
	}
	if given := a.text(DirNames); given != "" && how != editForm && how != writeForm {
		dir = under(dir, given)
	}
	switch how {
	case editForm:
		return []Change{{Path: under(dir, file), Kind: Replace, Edits: a.edits()}}
	case writeForm:
		text, _ := a.string(contentNames)
		return []Change{{Path: under(dir, file), Kind: Write, Text: text}}
	case notebookForm:
		return []Change{{Path: under(dir, file), Kind: Replace, Edits: a.cell()}}
	case patchForm:
		return patchChanges(a.text(patchNames), dir)
	case shellForm:
		return Script(a.command(), dir)
	}
	return nil
}

// arguments are those of a call.
type arguments map[string]json.RawMessage

// readArguments reads the arguments of a call. A JSON string, as Codex passes to apply_patch, is
// the member "input".
func readArguments(raw json.RawMessage) arguments {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		var inner arguments
		if json.Unmarshal([]byte(text), &inner) == nil && inner != nil {
			return inner
		}
		return arguments{"input": raw}
	}
	var a arguments
	if json.Unmarshal(raw, &a) != nil {
		return nil
	}
	return a
}

// string returns the first named member that is a string. ok is false if there is none.
func (a arguments) string(names []string) (s string, ok bool) {
	for _, n := range names {
		if raw, there := a[n]; there && json.Unmarshal(raw, &s) == nil && string(raw) != "null" {
			return s, true
		}
	}
	return "", false
}

func (a arguments) text(names []string) string {
	s, _ := a.string(names)
	return s
}

func (a arguments) has(names []string) bool {
	_, ok := a.string(names)
	return ok
}

func (a arguments) true(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return string(a[n]) == "true" })
}

// fits reports whether a call has the arguments of a form. A tool of another agent may have the
// same name and another meaning.
func (a arguments) fits(f form, file string) bool {
	switch f {
	case editForm:
		return file != "" && (a.has(NewNames) || a["edits"] != nil ||
			Blocks(a.text(patchNames)) != nil)
	case writeForm:
		return file != "" && a.has(contentNames)
	case notebookForm:
		return file != ""
	case patchForm:
		return a.has(patchNames)
	case shellForm:
		return a.command() != "" && !a.has(NewNames)
	}
	return false
}

// shape guesses the form of a call from its arguments.
func (a arguments) shape(file string) form {
	switch {
	case file != "" && a.has(OldNames) && a.has(NewNames):
		return editForm
	case strings.Contains(a.text(patchNames), patchLead):
		return patchForm
	case file != "" && a.has(contentNames):
		return writeForm
	case a.command() != "" && file == "":
		return shellForm
	}
	return noForm
}

// edits returns the edits of a call: those of the member "edits", else the one that the call is.
func (a arguments) edits() []Edit {
	if blocks := Blocks(a.text(patchNames)); blocks != nil {
		return lists.Map(blocks, func(b [2]string) Edit { return Edit{Old: b[0], New: b[1]} })
	}
	var list []arguments
	if json.Unmarshal(a["edits"], &list) != nil || len(list) == 0 {
		list = []arguments{a}
	}
	out := make([]Edit, len(list))
	for i, e := range list {
		out[i] = Edit{Old: e.text(OldNames), New: e.text(NewNames), All: e.true(allNames)}
		var n int
		if json.Unmarshal(e["expected_replacements"], &n) == nil && n > 1 {
			out[i].All = true
		}
	}
	return out
}

// cell returns the lines of a cell as a notebook has them: as JSON strings.
func (a arguments) cell() []Edit {
	source, ok := a.string([]string{"new_source"})
	if !ok || source == "" {
		return nil
	}
	var b strings.Builder
	lines := strings.SplitAfter(unixLines(source), "\n")
	for i, s := range lines {
		if s == "" {
			continue
		}
		var quoted strings.Builder
		e := json.NewEncoder(&quoted)
		e.SetEscapeHTML(false)
		_ = e.Encode(s) // a string can always be printed
		b.WriteString("    " + strings.TrimSuffix(quoted.String(), "\n"))
		if i < len(lines)-1 && lines[i+1] != "" {
			b.WriteString(",")
		}
		b.WriteString("\n")
	}
	return []Edit{{New: b.String(), Hunk: true}}
}

// command returns the script that a call runs. Of a list of words such as bash -lc SCRIPT it is the
// script.
func (a arguments) command() string {
	for _, n := range commandNames {
		var list []string
		if json.Unmarshal(a[n], &list) == nil && len(list) > 0 {
			if len(list) == 3 && strings.HasPrefix(list[1], "-") &&
				strings.HasSuffix(list[1], "c") {
				return list[2]
			}
			for i, w := range list {
				list[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
			}
			return strings.Join(list, " ")
		}
	}
	return a.text(commandNames)
}

// under returns a path as seen from a directory, with slashes.
func under(dir, file string) string {
	file = slashes(file)
	if file == "" || isAbs(file) || dir == "" {
		return clean(file)
	}
	return path.Join(slashes(dir), file)
}

// slashes returns a path with slashes, also one that was written on Windows.
func slashes(p string) string {
	if strings.Contains(p, `\`) && (!strings.Contains(p, "/") || len(p) > 2 && p[1] == ':') {
		return strings.ReplaceAll(p, `\`, "/")
	}
	return p
}

func isAbs(p string) bool {
	return strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~/") ||
		len(p) > 2 && p[1] == ':' && p[2] == '/'
}

func clean(p string) string {
	if p == "" {
		return ""
	}
	return path.Clean(p)
}

// Blocks returns the old and the new text of each block of an edit in the form of Cline and Roo
// Code: lines behind "SEARCH", "=======", and lines before "REPLACE". Any other text has none.
func Blocks(diff string) (list [][2]string) {
	const old, now = 0, 1
	at := -1 // outside of a block
	var block [2]string
	for line := range strings.Lines(diff) {
		mark := strings.TrimRight(line, " \r\n")
		switch {
		case at < 0 && len(mark) >= 10 && strings.Trim(mark, "<- ") == "SEARCH":
			at, block = old, [2]string{}
		case at == old && block[old] == "" && strings.HasPrefix(mark, ":start_line:"),
			at == old && block[old] == "" && mark == "-------":
		case at == old && mark == "=======":
			at = now
		case at == now && len(mark) >= 10 && strings.Trim(mark, ">+ ") == "REPLACE":
			list, at = append(list, block), -1
		case at >= 0:
			block[at] += line
		}
	}
	return list
}
