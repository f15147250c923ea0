package brief

import (
	"path"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/digest"
)

// newestShare is the part of all room, as a divisor, that the newest sentence of a prompt may take,
// whatever the purse for prompts is: a short brief is useless without it.
const newestShare = 3

// prompts takes the newest prompts, as many sentences as the purse holds, the newest first.
func (c *chooser) prompts(purse int) []Line {
	var out []Line
	for i := range slices.Backward(c.items) {
		if f := c.items[i].fact; f.Kind != digest.Prompt || f.Slight {
			continue
		}
		most := purse
		if len(out) == 0 {
			most = max(most, c.left/newestShare)
		}
		l, n, ok := c.takeAs(i, Wanted, most)
		if !ok {
			break
		}
		purse -= n
		out = append(out, l)
	}
	return out
}

// takeAs takes item i into a section, if it costs no more than most, and returns what it costs. An item
// that is not taken is a line of the story.
func (c *chooser) takeAs(i int, section Section, most int) (l Line, n int, ok bool) {
	it := &c.items[i]
	it.line.Section = section
	if n = c.cost(it.line); n <= most {
		l, ok = c.take(i)
	}
	if !ok {
		it.line.Section = Story
	}
	return l, n, ok
}

// concluded takes the beginning of the newest answer: what the last turn that ended came to.
func (c *chooser) concluded(purse int) []Line {
	last := -1
	for i := range c.items {
		if f := c.items[i].fact; f.Kind == digest.Answer && !f.Slight && (last < 0 || f.Seq >= c.items[last].fact.Seq) {
			if last < 0 || f.Seq > c.items[last].fact.Seq {
				last = i
			}
		}
	}
	var out []Line
	for i := max(last, 0); last >= 0 && i < len(c.items); i++ {
		it := &c.items[i]
		if it.fact.Kind != digest.Answer || it.fact.Seq != c.items[last].fact.Seq || it.fact.Slight {
			continue
		}
		l, n, ok := c.takeAs(i, Concluded, purse)
		if !ok {
			break
		}
		purse -= n
		out = append(out, l)
	}
	return out
}

// state takes the newest of what says where the work stands: the branch, the newest commit, the newest
// run of tests, the open items of the todo list, and what failed last.
func (c *chooser) state(purse int) []Line {
	var out []Line
	seen := map[string]bool{}
	for i := range slices.Backward(c.items) {
		f := c.items[i].fact
		what := ""
		switch {
		case f.Kind == digest.Branch, f.Kind == digest.Commit && f.State != digest.Failed:
			what = string(f.Kind)
		case f.Kind == digest.Command && f.Test && f.State != "":
			what = "tests"
		case f.Kind == digest.Todo && f.State != digest.Done:
			what = "todo " + f.Key
		case f.Kind == digest.Failure && c.items[i].line.Section == Failing:
			what = "failure"
		}
		if what == "" || seen[what] {
			continue
		}
		seen[what] = true
		if c.items[i].line.Section == Story {
			c.items[i].line.Section = State
		}
		n := c.cost(c.items[i].line)
		if n > purse {
			continue
		}
		if l, ok := c.take(i); ok {
			purse -= n
			out = append(out, l)
		}
	}
	return out
}

// files takes the names of the files that were used last, a line a directory: those that were changed
// or read, and then those that searches and commands named.
func (c *chooser) files(purse int) []Line {
	l := fileList{c: c, root: c.root, left: min(purse, c.left), names: map[string][]string{}}
	for i := range slices.Backward(c.items) {
		if f := c.items[i].fact; f.Path != "" && (f.Kind == digest.Edit || f.Kind == digest.Read) {
			l.add(f, f.Path)
		}
	}
	l.left = min(l.left, purse/namedPart)
	for i := range slices.Backward(c.items) {
		for _, name := range c.items[i].fact.Files {
			if dir, _ := path.Split(relative(name, c.root)); len(l.names[dir]) > 0 {
				l.add(c.items[i].fact, name)
			}
		}
	}
	return l.lines()
}

// namedPart is the part of the purse, as a divisor, for files that nobody opened.
const namedPart = 3

// fileList gathers names of files by directory.
type fileList struct {
	c     *chooser
	root  string
	left  int
	dirs  []Line              // one a directory, in the order in which they came
	names map[string][]string // by directory
}

func (l *fileList) add(f digest.Fact, file string) {
	dir, name := path.Split(relative(file, l.root))
	if name == "" || slices.Contains(l.names[dir], name) {
		return
	}
	line := Line{Section: Files, Entry: f.Entry, Seq: f.Seq, Text: dir + ": " + name}
	n := len(name) + len(", ")
	if len(l.names[dir]) == 0 {
		n = l.c.cost(line)
	}
	if n > l.left {
		return
	}
	l.left -= n
	l.c.left -= n
	if len(l.names[dir]) == 0 {
		l.dirs = append(l.dirs, line)
	}
	l.names[dir] = append(l.names[dir], name)
	if f.Path == "" {
		return // nobody opened it: a line that speaks of it is worth as much as before
	}
	for _, t := range l.c.terms.known(name) {
		l.c.seen[t] = true
	}
}

func (l *fileList) lines() []Line {
	for i := range l.dirs {
		dir, _, _ := strings.Cut(l.dirs[i].Text, ": ")
		l.dirs[i].Text = strings.TrimPrefix(dir+": "+strings.Join(l.names[dir], ", "), ": ")
	}
	return l.dirs
}
