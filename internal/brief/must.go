package brief

import (
	"path"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/digest"
)

// newestShare is the divisor of the room that the newest sentence of a prompt may take, even if the
// room for prompts is smaller: a short brief is useless without it.
const newestShare = 3

// prompts takes the newest prompts, as many sentences as fit into purse, the newest first.
func (c *chooser) prompts(purse int) []Line {
	var list []int
	for i := range slices.Backward(c.items) {
		if f := c.items[i].fact; f.Kind == digest.Prompt && !f.Slight {
			list = append(list, i)
		}
	}
	return c.takeWhile(list, Wanted, purse, c.left/newestShare)
}

// concluded takes the beginning of the newest answer, which is the result of the last complete
// turn.
func (c *chooser) concluded(purse int) []Line {
	var list []int
	newest := uint64(0)
	for i := range c.items {
		f := c.items[i].fact
		if f.Kind != digest.Answer || f.Slight || f.Seq < newest {
			continue
		}
		if f.Seq > newest {
			list, newest = nil, f.Seq
		}
		list = append(list, i)
	}
	return c.takeWhile(list, Concluded, purse, 0)
}

// takeWhile takes items into a section until one does not fit into purse. The first may cost as
// much as first. The item that does not fit belongs to the story.
func (c *chooser) takeWhile(list []int, section Section, purse, first int) []Line {
	var out []Line
	for n, i := range list {
		most := purse
		if n == 0 {
			most = max(most, first)
		}
		it := &c.items[i]
		it.line.Section = section
		cost, ok := c.cost(it.line), false
		var l Line
		if cost <= most {
			l, ok = c.take(i)
		}
		if !ok {
			it.line.Section = Story
			break
		}
		purse -= cost
		out = append(out, l)
	}
	return out
}

// state takes the newest facts about the state of the work: the branch, the newest commit, the
// newest test run, the open items of the todo list, and the last failure.
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

// files takes the names of the most recently used files, one line per directory: first files that
// were changed or read, then files that searches and commands named.
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

// namedPart is the divisor of the purse for files that were only named.
const namedPart = 3

// fileList collects names of files by directory.
type fileList struct {
	c     *chooser
	root  string
	left  int
	dirs  []Line              // one per directory, in order of first use
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
		return // the file was only named, so a line about it keeps its value
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
