package brief

import (
	"path"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/digest"
)

// prompts takes the newest prompts, as many sentences as the purse holds, the newest first.
func (c *chooser) prompts(purse int) []Line {
	var out []Line
	for i := range slices.Backward(c.items) {
		if c.items[i].fact.Kind != digest.Prompt {
			continue
		}
		c.items[i].line.Section = Wanted
		n := c.cost(c.items[i].line)
		l, ok := Line{}, n <= purse
		if ok {
			l, ok = c.take(i)
		}
		if !ok {
			c.items[i].line.Section = Story
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
		case f.Kind == digest.Branch, f.Kind == digest.Commit:
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

// files takes the names of the files that were used last, a line a directory. It looks at changed
// files and at files that were read.
func (c *chooser) files(purse int) []Line {
	var dirs []Line
	names := map[string][]string{}
	used := 0
	root := ""
	if facts := c.facts(); len(facts) > 0 {
		root = Root(facts)
	}
	for i := range slices.Backward(c.items) {
		f := c.items[i].fact
		if f.Path == "" || f.Kind != digest.Edit && f.Kind != digest.Read {
			continue
		}
		dir, name := path.Split(relative(f.Path, root))
		if slices.Contains(names[dir], name) {
			continue
		}
		l := Line{Section: Files, Entry: f.Entry, Seq: f.Seq, Text: name + ", "}
		n := len(l.Text)
		if len(names[dir]) == 0 {
			l.Text = dir + ": " + name
			n = c.cost(l)
		}
		if used+n > min(purse, c.left) {
			continue
		}
		used += n
		if len(names[dir]) == 0 {
			dirs = append(dirs, l)
		}
		names[dir] = append(names[dir], name)
		for _, t := range c.terms.known(name) {
			c.seen[t] = true
		}
	}
	for i := range dirs {
		dir, _, _ := strings.Cut(dirs[i].Text, ": ")
		dirs[i].Text = strings.TrimPrefix(dir+": "+strings.Join(names[dir], ", "), ": ")
	}
	c.left -= used
	return dirs
}

func (c *chooser) facts() []digest.Fact {
	out := make([]digest.Fact, len(c.items))
	for i := range c.items {
		out[i] = c.items[i].fact
	}
	return out
}
