package digest

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/blame/replay"
	"github.com/gemini-ctx/ctx/internal/prose"
)

// args holds the arguments of a call. Names of members are compared exactly.
type args map[string]json.RawMessage

// readArgs reads the arguments of a call. A JSON string, which Codex passes to apply_patch, becomes
// the member "input". Any other value except an object counts as no arguments.
func readArgs(raw json.RawMessage) args {
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && raw[0] == '"' {
		return args{"input": raw}
	}
	var a args
	if json.Unmarshal(raw, &a) != nil {
		return nil
	}
	return a
}

func (a args) has(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { _, ok := a[n]; return ok })
}

// text returns the first named member that is a string, or a list of strings, which it joins by
// spaces.
func (a args) text(names []string) string {
	return strings.Join(a.texts(names), " ")
}

// joinCommand makes a script of the words of a command. Of `bash -lc SCRIPT` it returns only the
// script.
func joinCommand(list []string) string {
	if len(list) == 3 && strings.HasPrefix(list[1], "-") && strings.HasSuffix(list[1], "c") {
		return list[2]
	}
	quoted := slices.Clone(list)
	for i, w := range quoted {
		if strings.ContainsAny(w, " \t\n'\"\\$&|;<>()#`") {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// Script returns the script that a call runs; "" if it runs none.
func (c *Call) Script() string { return readArgs(c.Args).command() }

// command returns the script that a call runs. It joins a command that is a list of words.
func (a args) command() string {
	for _, n := range commandNames {
		var list []string
		if json.Unmarshal(a[n], &list) == nil && len(list) > 0 {
			return joinCommand(list)
		}
		if s := a.text([]string{n}); s != "" && !isProgram(s) {
			return s
		}
	}
	return ""
}

// isProgram reports whether a script is a program in JavaScript or Python, which no shell runs.
func isProgram(script string) bool {
	return prose.HasLead(strings.TrimSpace(script), []string{"export const ", "export default ",
		"export async ", "const ", "async ", "import {", "//", "def "})
}

// texts returns the first named member that is a string or a list of strings, as a list.
func (a args) texts(names []string) []string {
	for _, n := range names {
		var s string
		if json.Unmarshal(a[n], &s) == nil && s != "" {
			return []string{s}
		}
		var list []string
		if json.Unmarshal(a[n], &list) == nil && len(list) > 0 {
			return list
		}
	}
	return nil
}

// onlyNumbersBeside reports whether all members except the named ones are numbers, booleans or
// null.
func (a args) onlyNumbersBeside(names []string) bool {
	for n, raw := range a {
		if !slices.Contains(names, n) && len(raw) > 0 && strings.IndexByte(`"{[`, raw[0]) >= 0 {
			return false
		}
	}
	return true
}

// list returns the first named member that is an array of objects.
func (a args) list(names ...string) []args {
	for _, n := range names {
		var list []args
		if raw, ok := a[n]; ok && json.Unmarshal(raw, &list) == nil {
			return list
		}
	}
	return nil
}

// first returns the first text among the named members, and then among all others in the order of
// their names.
func (a args) first(names []string) string {
	if s := a.text(names); s != "" {
		return s
	}
	return a.text(slices.Sorted(maps.Keys(a)))
}

// TextOf returns the text that a call passes on: what an edit or a patch adds, the script of a
// command, the prompt of a subagent. It returns "" for any other call.
func TextOf(raw json.RawMessage) string {
	a := readArgs(raw)
	for _, names := range [][]string{replay.NewNames, contentNames, patchNames} {
		if s := a.text(names); s != "" {
			if old := a.text(replay.OldNames); old != "" {
				s = linesBeside(old, s)
			}
			return addedBy(s)
		}
	}
	if s := a.command(); s != "" {
		return addedBy(s)
	}
	return a.text([]string{"prompt", "message"})
}
