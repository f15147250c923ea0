package replay

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
)

func edit(by int, old, now string) Step {
	return Step{By: by, Turn: by,
		Change: Change{Kind: Replace, Edits: []Edit{{Old: old, New: now}}}}
}

func write(by int, text string) Step {
	return Step{By: by, Turn: by, Change: Change{Kind: Write, Text: text}}
}

func TestLines(t *testing.T) {
	text := func(s string) string { return strings.ReplaceAll(s, "|", "\n") }
	before := func(s Step, text string) Step { s.Before = &text; return s }
	for _, c := range []struct {
		name  string
		steps []Step
		now   string
		want  []int
	}{
		{"nothing recorded", nil, "a|b|", []int{-1, -1}},
		{"an empty file", nil, "", []int{}},
		{"no line feed at the end", []Step{write(1, "a|b")}, "a|b", []int{1, 1}},
		{"a file written", []Step{write(1, "a|b|")}, "a|b|", []int{1, 1}},
		{"an edit of a file of others", []Step{edit(1, "b|", "b|new|")}, "a|b|new|c|",
			[]int{-1, -1, 1, -1}},
		{"an edit in a line", []Step{edit(1, "two", "three")}, "one|x = three|", []int{-1, 1}},
		{"a later edit changes a line", []Step{write(1, "a|b|c|"), edit(2, "b", "B")}, "a|B|c|",
			[]int{1, 2, 1}},
		{"an edit that repeats its context",
			[]Step{write(1, "f {|  x|}|g {|  y|}|"), edit(2, "f {|  x|}", "f {|  x|  z|}")},
			"f {|  x|  z|}|g {|  y|}|", []int{1, 1, 2, 1, 1, 1, 1}},
		{"a line by hand", []Step{write(1, "a|b|c|")}, "a|mine|b|c|", []int{1, -1, 1, 1}},
		{"a line by hand, then an edit", []Step{write(1, "a|b|c|"), edit(2, "mine|b", "mine|b2")},
			"a|mine|b2|c|", []int{1, -1, 2, 1}},
		{"written anew with the same lines", []Step{write(1, "a|b|c|"), write(2, "a|b|d|")},
			"a|b|d|", []int{1, 1, 2}},
		{"white space",
			[]Step{write(1, "call(one)|call(two)|"),
				edit(2, "call(one)|", "if x {|  call(one)|}|")}, "if x {|  call(one)|}|call(two)|",
			[]int{2, 1, 2, 1}},
		{"moved in one edit",
			[]Step{write(1, "first line of the whole file|second line|third line of it|"),
				edit(2, "first line of the whole file|second line|third line of it",
					"second line|third line of it|first line of the whole file")},
			"second line|third line of it|first line of the whole file|", []int{1, 1, 1}},
		{"moved in two edits",
			[]Step{write(1, "first line of the whole file|second|third|"),
				edit(2, "first line of the whole file|", ""),
				edit(2, "third|", "third|first line of the whole file|")},
			"second|third|first line of the whole file|", []int{1, 1, 1}},
		{"common lines",
			[]Step{write(1, "f() {|}||g() {|}|"), edit(2, "g() {|}|", "g() {|}||h() {|}|")},
			"f() {|}||g() {|}||h() {|}|", []int{1, 1, 1, 1, 1, 2, 2, 2}},
		{"a file that the agent has kept", []Step{before(write(1, "a|b|c|"), "a|c|")}, "a|b|c|",
			[]int{-1, 1, -1}},
		{"an edit of lines nobody has", []Step{edit(1, "lost", "found")}, "a|b|", []int{-1, -1}},
		{"an edit that was changed by hand since",
			[]Step{edit(1, "start|", "start|alpha line|beta line|gamma line|delta line|")},
			"x|start|alpha line|beta mine|gamma line|delta line|y|",
			[]int{-1, -1, 1, -1, 1, 1, -1}},
		{"edits of one file that was deleted",
			[]Step{write(1, "a|"), {By: 2, Turn: 2, Change: Change{Kind: Delete}}, write(3, "a|")},
			"a|", []int{3}},
		{"an end that is added",
			[]Step{write(1, "a|"), {By: 2, Turn: 2, Change: Change{Kind: Append, Text: "b|"}}},
			"a|b|", []int{1, 2}},
		{"an end that is added to a file of others",
			[]Step{{By: 2, Turn: 2, Change: Change{Kind: Append, Text: "b|"}}}, "a|b|",
			[]int{-1, 2}},
		{"everywhere",
			[]Step{write(1, "x x|y|x|"),
				{By: 2, Turn: 2,
					Change: Change{Kind: Replace, Edits: []Edit{{Old: "x", New: "z", All: true}}}}},
			"z z|y|z|", []int{2, 1, 2}},
		{"a changed line has its neighbours",
			[]Step{write(1, "if a {|  return 0|}|return b * 12|"),
				edit(2, "if a {|  return 0|}|return b * 12",
					"if a {|  return -1|}|return b * 12 + c||func() {|  return 0|}")},
			"if a {|  return -1|}|return b * 12 + c||func() {|  return 0|}|",
			[]int{1, 2, 1, 2, 2, 2, 2, 2}},
		{"a new file, which the agent says was not there", []Step{before(write(1, "a||b|"), "")},
			"a||b|", []int{1, 1, 1}},
		{"an end with a blank line",
			[]Step{write(1, "a|"), {By: 2, Turn: 2, Change: Change{Kind: Append, Text: "b||c|"}}},
			"a|b||c|", []int{1, 2, 2, 2}},
		{"the marks of a hunk",
			[]Step{write(1, "func f() {|  one|}||end|"),
				{By: 2, Turn: 2,
					Change: patchChanges(
						"*** Begin Patch\n*** Update File: f\n@@\n-func f() {\n-  one\n-}\n-\n "+
							"end\n+\n+func f() {\n+  one\n+  two and three and four\n+}\n*** "+
							"End Patch", "")[0]}},
			"end||func f() {|  one|  two and three and four|}|", []int{1, 2, 2, 2, 2, 2}},
		{"other line ends", []Step{write(1, "a\r\nb\r\n")}, "a|b|", []int{1, 1}},
	} {
		for i := range c.steps {
			s := &c.steps[i]
			s.Text = text(s.Text)
			for j := range s.Edits {
				s.Edits[j].Old, s.Edits[j].New = text(s.Edits[j].Old), text(s.Edits[j].New)
			}
			if s.Before != nil {
				b := text(*s.Before)
				s.Before = &b
			}
		}
		if got := Lines(c.steps, text(c.now)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// model is a file that knows who wrote each of its lines.
type model struct {
	r     *rand.Rand
	lines []line
	steps []Step
	n     int
}

// fresh returns a line that no other is like, or one that is everywhere.
func (m *model) fresh() string {
	m.n++
	if m.r.Intn(4) == 0 {
		return []string{"}", "", "\treturn nil"}[m.r.Intn(3)]
	}
	return fmt.Sprintf("statement number %d of the program", m.n)
}

func (m *model) text(from, to int) string { return join(m.lines[from:to]) }

// change makes a change of some lines, as a tool would record it: with context that makes the old
// text unique. The lines that are new are those of by.
func (m *model) change(by int) bool {
	from := m.r.Intn(len(m.lines))
	to := min(from+m.r.Intn(3), len(m.lines)-1)
	if m.r.Intn(2) == 0 {
		to = from // only added lines
	}
	with := written(nil, by)
	for range m.r.Intn(4) {
		with = append(with, line{m.fresh(), by})
	}
	a, b := max(from-1, 0), min(to+1, len(m.lines))
	whole := m.text(0, len(m.lines))
	for strings.Count(whole, m.text(a, b)) > 1 {
		if a == 0 && b == len(m.lines) {
			return false
		}
		a, b = max(a-1, 0), min(b+1, len(m.lines))
	}
	old := m.text(a, b)
	context, _ := carry(m.lines[a:b], texts(slices.Concat(m.lines[a:from], with, m.lines[to:b])),
		by)
	// The diff may take a line for another that is equal: so does every reader
	for i := range with {
		if context[from-a+i].by != by {
			return false
		}
	}
	m.lines = slices.Concat(m.lines[:from], with, m.lines[to:])
	if len(m.lines) == 0 {
		m.lines = []line{{"", by}}
	}
	if by != Nobody {
		m.steps = append(m.steps,
			edit(by, old,
				join(slices.Concat(m.lines[a:from], with,
					m.lines[from+len(with):from+len(with)+b-to]))))
		m.steps[len(m.steps)-1].Turn = len(m.steps)
	}
	return true
}

// Random histories: whoever wrote a line that is like no other is found, whatever was said since.
// Nobody's changes come between only in the second half of the runs.
func TestLinesModel(t *testing.T) {
	lines, wrong := 0, 0
	for seed := range 400 {
		m := &model{r: rand.New(rand.NewSource(int64(seed)))}
		first := Nobody
		if seed%2 == 0 {
			first = 0
		}
		for range 5 + m.r.Intn(30) {
			m.lines = append(m.lines, line{m.fresh(), first})
		}
		if first == 0 {
			m.steps = []Step{write(0, join(m.lines))}
		}
		for i := range 1 + m.r.Intn(30) {
			by := 1 + i
			if seed >= 200 && m.r.Intn(4) == 0 {
				by = Nobody
			}
			m.change(by)
		}
		got := Lines(m.steps, join(m.lines)+"\n")
		for i, l := range m.lines {
			lines++
			if got[i] != l.by {
				wrong++
				if seed < 200 && Letters(l.text) > minMoved {
					t.Errorf("seed %d: line %d, %q, is by %d, not %d", seed, i,
						l.text, l.by, got[i])
				}
			}
		}
	}
	t.Logf("%d of %d lines are by others", wrong, lines)
	if wrong*100 > lines {
		t.Errorf("%d of %d lines are by others", wrong, lines)
	}
}

func join(list []line) string { return strings.Join(texts(list), "\n") }
