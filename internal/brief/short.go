package brief

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/digest"
)

// The limits of lines in a short brief are costs of their texts alone.
const (
	// maxRequests is the number of prompts of which a short brief has a line.
	maxRequests = 3

	// maxTodos is the number of items of the todo list in a short brief.
	maxTodos = 3

	// maxState is the largest cost of a line about the state of the work, and maxFailing of one that
	// names what fails.
	maxState   = 120
	maxFailing = 160

	// maxDocument is the largest cost of a line with the headings of a document that was written, or
	// the files with conflicts.
	maxDocument = 480

	// leastCut is the smallest cost of a text that is cut to fit. Less would be a few words.
	leastCut = 50

	// maxChanges is the largest cost of the line with the names of changed files: about two lines
	// of text.
	maxChanges = 220
)

// withText returns the cost of a line whose text costs n.
func (c *chooser) withText(l Line, n int) int {
	l.Text = ""
	return c.cost(l) + n
}

// markSaid marks the terms of a line as said, and the facts of a kind in its message as taken.
func (c *chooser) markSaid(l Line, kind digest.Kind) {
	for i := range c.items {
		if it := &c.items[i]; it.fact.Seq == l.Seq && it.fact.Kind == kind {
			it.taken = true
		}
	}
	c.say(c.terms.known(l.Text))
}

// cutLine returns a line, with its text cut to fewer bytes if it costs more than most; without any
// text if hardly anything fits.
func (c *chooser) cutLine(l Line, most int, cut func(text string, n int) string) Line {
	if c.cost(l) <= most {
		return l
	}
	text := l.Text
	if l.Text = ""; most < c.withText(l, leastCut) {
		return l
	}
	for n := len(text) - 1; n > 0; n -= 1 + n/16 {
		if l.Text = cut(text, n); c.cost(l) <= most {
			return l
		}
	}
	l.Text = ""
	return l
}

// withoutAside is digest.WithoutMiddle for a prompt. The middle stays from its last negation on, if
// that is not much longer: without it a prompt would say the opposite.
func withoutAside(text string, n int) string {
	short := digest.WithoutMiddle(text, n)
	head, tail, ok := strings.Cut(short, " … ")
	if !ok || !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) {
		return short
	}
	middle := text[len(head) : len(text)-len(tail)]
	at := -1
	for _, no := range [...]string{" not ", "n't ", "n’t ", " never ", " no ", " without "} {
		at = max(at, strings.LastIndex(middle, no))
	}
	if at < 0 || len(middle)-at > n/2 {
		return short
	}
	if before := strings.LastIndexByte(middle[:at], ' '); before >= 0 { // the word before it, too
		at = before
	}
	return head + " …" + middle[at:] + tail
}

// elsewhere begins the name of a directory outside of the project, of which the last name is told.
const elsewhere = "…/"

// change is a changed file of a short brief.
type change struct {
	item      int
	dir, name string
	// uncommitted says that it is of the project, that git keeps, and has changes that no commit has;
	// committed, that a commit of this session has all of them.
	uncommitted, committed bool
}

// changed returns the changed files, the newest first.
func (c *chooser) changed() (list []change) {
	git := slices.ContainsFunc(c.items, func(it item) bool {
		return it.fact.Kind == digest.Branch || it.fact.Kind == digest.Commit
	})
	for i := range slices.Backward(c.items) {
		f := c.items[i].fact
		if f.Kind != digest.Edit {
			continue
		}
		name := c.root.Name(f.Path)
		it := &c.items[i]
		inside := git && !isOutside(name)
		one := change{item: i, uncommitted: inside && it.held.By == "",
			committed: inside && it.held.By != "" && it.held.Some}
		one.dir, one.name = path.Split(name)
		if isAbs(one.dir) && strings.Count(one.dir, "/") > 2 { // it is none of the project
			one.dir = elsewhere + path.Base(one.dir) + "/"
		}
		if strings.HasPrefix(f.Text, "deleted ") {
			one.name += " (deleted)"
		}
		list = append(list, one)
	}
	return list
}

// changes takes one line with the names of all changed files, the newest first. If there is only
// one, or there is room, each file has its line.
func (c *chooser) changes(purse int) []Line {
	list := c.changed()
	at, all := make([]int, len(list)), 0
	for n, f := range list {
		at[n] = f.item
		all += c.costOf(f.item)
	}
	inRoot := !slices.ContainsFunc(list, func(f change) bool { return f.dir != "" })
	if len(at) > 1 && c.root.base() != "" && inRoot {
		for i := range list { // else no line would say where the files are
			list[i].dir = c.root.base() + "/"
		}
	}
	if len(at) == 0 {
		return nil
	}
	if c.short {
		purse = min(purse, c.withText(c.items[at[0]].line, maxChanges))
	}
	if all <= purse*2/3 && !c.short || len(at) == 1 && all <= purse/2 {
		var out []Line
		for _, f := range list {
			if f.uncommitted {
				c.items[f.item].line.Text += ", not committed"
			}
			if l, ok := c.take(f.item); ok {
				out = append(out, l)
			}
		}
		return out
	}
	l := c.items[at[0]].line
	l.Text = changedText(list, c.short, func(text string) bool {
		l.Text = text
		return c.cost(l) <= purse
	})
	if l.Text == "" {
		return nil
	}
	c.left -= c.cost(l)
	for _, i := range at {
		c.items[i].taken = true
	}
	c.grouped = true
	c.markSaid(l, digest.Edit)
	return []Line{l}
}

// maxNamed is the number of changed files above which a line never names all of them.
const maxNamed = 200

// changedText returns the best text that fits for the line of changed files: with directories, with
// the last directory alone, in a short brief with names alone, or with as many names as fit. It
// returns "" if not even one does.
func changedText(list []change, short bool, fits func(text string) bool) string {
	last := slices.Clone(list)
	bare := slices.Clone(list)
	for i := range list {
		if dir := list[i].dir; strings.HasPrefix(dir, "../") {
			last[i].dir = elsewhere + path.Base(dir) + "/"
		} else if dir != "" && !isAbs(dir) && !strings.HasPrefix(dir, elsewhere) {
			last[i].dir = path.Base(dir) + "/"
		}
		bare[i].dir = ""
	}
	forms := [][]change{list, last, bare}
	if !short {
		forms, bare = forms[:2], last
	}
	for _, form := range forms {
		if len(list) > maxNamed {
			break
		}
		if text := grouped(form); fits(text) {
			return text
		}
	}
	best := ""
	for n := 1; n < len(list); n++ {
		text := fmt.Sprintf("%s and %d more", grouped(bare[:n]), len(list)-n)
		if !fits(text) {
			break
		}
		best = text
	}
	return best
}

// grouped lists names by directory, first those of files that are not committed.
func grouped(list []change) string {
	var open, done, other []change
	for _, f := range list {
		switch {
		case f.uncommitted:
			open = append(open, f)
		case f.committed:
			done = append(done, f)
		default:
			other = append(other, f)
		}
	}
	var parts []string
	for _, group := range [...]struct {
		label string
		files []change
	}{{"not committed: ", open}, {"committed: ", done}, {"other: ", other}} {
		if len(group.files) == len(list) && !group.files[0].uncommitted {
			return byDirectory(list)
		}
		if len(group.files) > 0 {
			parts = append(parts, group.label+byDirectory(group.files))
		}
	}
	return strings.Join(parts, "; ")
}

func byDirectory(list []change) string {
	var dirs []string
	names := map[string][]string{}
	for _, f := range list {
		if len(names[f.dir]) == 0 {
			dirs = append(dirs, f.dir)
		}
		if !slices.Contains(names[f.dir], f.name) {
			names[f.dir] = append(names[f.dir], f.name)
		}
	}
	parts := make([]string, len(dirs))
	for i, dir := range dirs {
		if parts[i] = dir + strings.Join(names[dir], ", "); dir != "" && len(names[dir]) > 1 {
			parts[i] = dir + ": " + strings.Join(names[dir], ", ")
		}
	}
	return strings.Join(parts, "; ")
}
