package main

import (
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/internal/when"
)

// sessionTree is a list of sessions in which those of subagents are below the session that they
// work for. Its numbers are places in the list.
type sessionTree struct {
	top      []int // that work for no session of the list
	children map[int][]int
}

func newSessionTree(list []sessions.Overview) *sessionTree {
	t := &sessionTree{children: map[int][]int{}}
	at := map[string]int{}
	for i := range list {
		at[list[i].Name] = i
	}
	for i := range list {
		if p := list[i].Parent; p != nil {
			if up, ok := at[p.Session]; ok && up != i {
				t.children[up] = append(t.children[up], i)
				continue
			}
		}
		t.top = append(t.top, i)
	}
	return t
}

// isTop reports whether a session works for no session of the list.
func (t *sessionTree) isTop(i int) bool {
	_, top := slices.BinarySearch(t.top, i)
	return top
}

// below returns how many sessions work for one, and for those.
func (t *sessionTree) below(i int) (n int) {
	t.each(i, "", func(int, string) { n++ })
	return n
}

// each calls do for the sessions below one, each before those that work for it.
func (t *sessionTree) each(i int, indent string, do func(child int, indent string)) {
	for _, child := range t.children[i] {
		do(child, indent)
		t.each(child, indent+"  ", do)
	}
}

// sessionPrinter prints sessions for a person, two lines for each.
type sessionPrinter struct {
	a     *app
	short map[string]string
	name  int // the width of the longest short name
	width int
	// The project that the sessions are of, if they are not all of one
	project string
}

// The widths of lines where standard output is no terminal, and of the narrowest one.
const (
	noTerminal = 100
	narrowest  = 40
)

// lineWidth returns how many columns a line has room for.
func (a *app) lineWidth() int {
	if a.columns != nil {
		if n := a.columns(); n > 0 {
			return max(n, narrowest)
		}
	}
	return noTerminal
}

// sessionPrinter returns a printer of sessions of a list. Each line begins with a mark of a number
// of columns.
func (a *app) sessionPrinter(list []sessions.Overview, mark int) *sessionPrinter {
	p := &sessionPrinter{a: a, short: shortNames(list), width: a.lineWidth() - mark}
	for i := range list {
		if list[i].Parent == nil {
			p.name = max(p.name, displaywidth.String(p.short[list[i].Name]))
		}
	}
	return p
}

// print prints a session, as one item. below is the number of subagents to mention.
func (p *sessionPrinter) print(mark, indent string, o *sessions.Overview, below int) {
	name := oneLine(p.short[o.Name])
	name += strings.Repeat(" ", max(p.name-displaywidth.String(name), 0)) + "  "
	left := p.width - displaywidth.String(indent+name)
	first := indent + p.a.paint(styleID, name) + cutWidth(p.a.sessionTitle(o), left)
	if indent != "" && o.Parent != nil { // it is printed below its parent
		alone := *o
		alone.Parent = nil
		o = &alone
	}
	if short, ok := p.short[o.Also]; ok {
		named := *o
		named.Also = short
		o = &named
	}
	second := indent + strings.Repeat(" ", displaywidth.String(name))
	details := p.a.sessionDetails(o, below)
	if p.project != "" {
		details = oneLine(p.project) + ", " + details
	}
	second += p.a.paint(styleFaint, cutWidth(details, left))
	p.a.line("%s\n%s", strings.TrimRight(mark+first, " "), strings.Repeat(" ", len(mark))+second)
}

// sessionTitle returns the title of a session, as one line.
func (a *app) sessionTitle(o *sessions.Overview) string {
	if o.Title == "" {
		return "(no prompt)"
	}
	return oneLine(o.Title)
}

// sessionDetails says when a session was, how long it is, and where it was.
func (a *app) sessionDetails(o *sessions.Overview, below int) string {
	var said []string
	if tags := tagsText(o.About); tags != "" {
		said = append(said, tags)
	}
	if !o.Last.IsZero() {
		said = append(said, a.ago(o.Last))
	}
	d := document.SessionOf(o.Session)
	size := plural(int(d.Messages), "message", "messages")
	if long := o.Last.Sub(o.First); long > 0 {
		size += " in " + when.Length(long)
	}
	said = append(said, size)
	if n := len(d.Branches); n > 1 {
		said = append(said, plural(n, "branch", "branches"))
	}
	if below > 0 {
		said = append(said, plural(below, "subagent", "subagents"))
	}
	if o.Agent != "" {
		said = append(said, agentNamed(o.Agent))
	}
	if d.Parent != nil {
		up := *d.Parent
		up.Session = sessions.ShortNames([]string{up.Session})[up.Session]
		said = append(said, parentText(&up))
	}
	if o.Also != "" {
		said = append(said, "here as "+oneLine(o.Also))
	}
	if o.Git != "" { // the longest, and the first to be cut
		said = append(said, "on "+oneLine(o.Git))
	}
	return strings.Join(said, ", ")
}

// agentNamed returns the name that commands have for the agent in a source.
func agentNamed(source string) string {
	for _, f := range catalog.All() {
		if f.Source == source {
			return f.Name
		}
	}
	return oneLine(source)
}

// shortNames returns the short names of the sessions of a list.
func shortNames(list []sessions.Overview) map[string]string {
	return sessions.ShortNames(
		lists.Map(list, func(o sessions.Overview) string { return o.Name }))
}

// broken takes the first line from a text, of at most so many columns: it ends before a blank, if
// there is one.
func broken(text string, width int) (line, rest string) {
	line = displaywidth.TruncateString(text, max(width, 2), "") // room for any character
	if at := strings.LastIndexByte(line, ' '); len(line) < len(text) && text[len(line)] != ' ' &&
		strings.TrimLeft(line[:max(at, 0)], " ") != "" {
		line = line[:at]
	}
	return strings.TrimRight(line, " "), strings.TrimLeft(text[len(line):], " ")
}

// cutWidth cuts a text to a number of columns.
func cutWidth(text string, width int) string {
	if displaywidth.String(text) <= width {
		return text
	}
	return strings.TrimRight(displaywidth.TruncateString(text, max(width, 1), "…"), " ")
}
