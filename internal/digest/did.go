package digest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/prose"
)

// Did says in one line what a call did, as people are shown it wherever a call stands:
// `$ go test ./x → failed`, `edited a.go +3 -1`, `read b.go`, `searched "x"`. r is the call's
// result; nil if it is not known. Paths are as the agent wrote them.
func Did(c Call, r *Result) string {
	c.ID = "call"
	m := Message{Calls: []Call{c}}
	calls := Of([]Message{m}) // without what results add to texts
	if r != nil {
		m.Results = []Result{{ID: c.ID, Name: r.Name, Output: r.Output, Failed: r.Failed}}
	}
	facts := Of([]Message{m})
	var lines []string
	for i := range calls {
		f, state := &calls[i], facts[i].State
		if state == Passed && !facts[i].Checks() {
			state = "" // nothing was checked
		}
		if f.Kind == Commit {
			f = &facts[i]
		}
		if line := f.did(readArgs(c.Args), state); line != "" {
			lines = append(lines, line)
		}
	}
	server, tool := serverTool(c.Name)
	if name := strings.TrimSpace(server + " " + tool); len(lines) == 0 || lines[0] == name {
		return prose.Short(prose.Valid(name+" "+readArgs(c.Args).told()), maxTitle)
	}
	const most = 3 // of the files of a patch, or the items of a list
	if n := len(lines); n > most {
		lines = append(lines[:most], fmt.Sprintf("and %d more", n-most))
	}
	return strings.Join(lines, "; ")
}

// told returns the arguments of a call of which nothing else is known, without those that are
// empty, or only say how long to wait and how much to print.
func (a args) told() string {
	var said []string
	for _, name := range slices.Sorted(maps.Keys(a)) {
		value := cmp.Or(a.text([]string{name}), string(a[name]))
		if value == `""` || strings.HasSuffix(name, "_ms") || strings.HasSuffix(name, "_tokens") ||
			strings.Contains(name, "timeout") {
			continue
		}
		said = append(said, name+": "+strings.TrimSpace(value))
	}
	return strings.Join(said, ", ")
}

// did returns a fact of a call, which ended so, as a line; "" if it is no act.
func (f *Fact) did(a args, state State) string {
	ended := ""
	if state == Failed || state == Barred || state != "" && f.Kind == Command {
		ended = " → " + string(state)
	}
	switch f.Kind {
	case Command, Search:
		if f.Kind == Command || f.Key != "" {
			return "$ " + f.Command() + ended
		}
		pattern, where := a.text(patternNames), a.text(pathNames)
		switch {
		case pattern == "":
			return "listed " + where + ended
		case where != "":
			where = " in " + where
		}
		return `searched "` + prose.Short(pattern, maxPattern) + `"` + where + ended
	case Edit:
		verb, _, _ := strings.Cut(f.Text, " ")
		return verb + " " + Changed(f.Path, f.Added, f.Removed) + ended
	case Read:
		return "read " + f.Path + ended
	case Todo:
		return string(f.State) + ": " + f.Text
	case Question:
		return "asked: " + f.Text
	case Commit, Act:
		return f.Text
	}
	return ""
}

// Changed returns the name of a file with the lines that came and went: a.go +3 -1.
func Changed(path string, added, removed int) string {
	if added > 0 {
		path += fmt.Sprintf(" +%d", added)
	}
	if removed > 0 {
		path += fmt.Sprintf(" -%d", removed)
	}
	return path
}

// Ran reports whether an act was done and ended.
func (f *Fact) Ran() bool { return f.State == Passed || f.State == Failed }

// Looks reports whether an act only looked at files.
func (f *Fact) Looks() bool { return f.Kind == Read || f.Kind == Search }

// Undone reports whether an act changed nothing: it failed, was refused, or put a file back.
func (f *Fact) Undone() bool {
	return f.State == Failed || f.State == Barred || f.State == Dropped
}

// Ended returns the text of a fact about a command. If the command is a check that passed, the text
// says so.
func (f *Fact) Ended() string {
	if f.Checks() && f.State == Passed && !strings.HasSuffix(f.Text, " passed") {
		return f.Text + ": passed"
	}
	return f.Text
}

// Command returns the command of a fact, without why it was run and how it ended.
func (f *Fact) Command() string {
	command, _, _ := f.Parts()
	return command
}

// Parts splits the text of a fact about a command into the command, why it was run, and how it
// ended, each "" if the text does not say it.
func (f *Fact) Parts() (command, why, end string) {
	text := strings.TrimPrefix(f.Text, "ran ")
	for at := strings.LastIndex(text, ": "); f.State != "" && at > 0; {
		how := strings.TrimLeft(text[at+len(": "):], "0123456789 ")
		if slices.Contains(passedSo[:], how) || strings.HasPrefix(how, "failed") ||
			prose.HasLead(how, []string{"exit status ", timedOut}) {
			text, end = text[:at], text[at+len(": "):]
			break
		}
		at = strings.LastIndex(text[:at], ": ")
	}
	command, why, _ = strings.Cut(text, " # ")
	command, _, _ = strings.Cut(command, beside)
	return command, why, end
}
