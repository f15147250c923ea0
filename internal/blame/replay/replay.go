package replay

import (
	"slices"

	"github.com/gemini-ctx/ctx/internal/lists"
)

// Lines returns for each line of a file the step that wrote it, as Step.By, or Nobody. steps are in
// the order in which they were made. A line feed at the end of the text ends the last line and
// begins no other.
func Lines(steps []Step, text string) []int {
	now := split(unixLines(text))
	for i := range steps {
		steps[i] = steps[i].clean()
	}
	r := &replay{steps: steps, before: backward(steps, now)}
	if len(steps) > 0 && r.before[0].lines != nil {
		r.lines, r.whole = written(r.before[0].lines, r.before[0].by()), true
	}
	for i := range steps {
		r.step(i)
	}
	r.meet(state{lines: now})
	by := make([]int, len(now))
	for i := range r.lines {
		by[i] = r.lines[i].by
	}
	if now[len(now)-1] == "" {
		by = by[:len(by)-1]
	}
	return by
}

// clean returns a step whose texts have LF as their line end.
func (s Step) clean() Step {
	s.Text = unixLines(s.Text)
	s.Edits = slices.Clone(s.Edits)
	for i := range s.Edits {
		s.Edits[i].Old, s.Edits[i].New = unixLines(s.Edits[i].Old), unixLines(s.Edits[i].New)
	}
	if s.Before != nil {
		before := unixLines(*s.Before)
		s.Before = &before
	}
	return s
}

// state is what a file held, as far as that can be worked out; lines is nil where it cannot.
type state struct {
	lines []string
	// guess says that a later step wrote the whole file, so that the lines may be that step's own.
	guess bool
}

// perhaps is the writer of a line that is there only if the step that writes the whole file next
// has found it there.
const perhaps = -2

// by returns the writer of lines that no step wrote.
func (s *state) by() int {
	if s.guess {
		return perhaps
	}
	return Nobody
}

// backward returns what the file held before each step, worked out from what it holds now.
func backward(steps []Step, now []string) []state {
	before := make([]state, len(steps))
	at := state{lines: now}
	for i := len(steps) - 1; i >= 0; i-- {
		s := &steps[i]
		switch {
		case s.Before != nil:
			at = state{lines: split(*s.Before)}
		case s.Kind == Write:
			at = state{split(s.Text), true}
		case s.Kind == Delete:
			at = state{}
		case s.Kind == Replace && at.lines != nil:
			for j := len(s.Edits) - 1; j >= 0; j-- {
				at.lines = undo(at.lines, &s.Edits[j])
			}
		case s.Kind == Append && at.lines != nil:
			at.lines = undo(at.lines, &Edit{New: s.Text})
		}
		before[i] = at
	}
	return before
}

// undo returns lines as they were before an edit. Where the edit is not found they stay as they
// are.
func undo(list []string, e *Edit) []string {
	back := &Edit{Old: e.New, New: e.Old, All: e.All, Hunk: e.Hunk, Anchor: e.Anchor}
	if back.Old == "" {
		return list // where the text was that is gone, nothing says
	}
	at := find(list, back)
	if at == nil {
		what, old := split(back.Old), split(back.New)
		if e.Hunk {
			what, old = hunkLines(back.Old), hunkLines(back.New)
		}
		from, to, ok := similar(list, what)
		if !ok {
			return list
		}
		at = []place{{from, to, old}}
	}
	for i := len(at) - 1; i >= 0; i-- {
		list = slices.Concat(list[:at[i].from], at[i].now, list[at[i].to:])
	}
	return list
}

type replay struct {
	steps  []Step
	before []state
	lines  []line
	// whole says that lines are all lines of the file. Else they are those that steps have touched.
	whole bool
	// gone has the lines that the steps of a turn took out, which may come again elsewhere.
	gone []line
	turn int
}

// step applies a step.
func (r *replay) step(i int) {
	s := &r.steps[i]
	if s.Turn != r.turn {
		r.gone, r.turn = nil, s.Turn
	}
	if s.Before != nil {
		r.meet(state{lines: split(*s.Before)})
	}
	switch s.Kind {
	case Write:
		r.put(0, len(r.lines), split(s.Text), s.By, nil)
		r.settle(s.By)
		r.whole = true
	case Append:
		r.add(s)
	case Delete:
		r.gone = append(r.gone, r.lines...)
		r.lines, r.whole = nil, true
	case Replace:
		for j := range s.Edits {
			r.edit(i, j)
		}
	}
}

// edit applies an edit of a step. If it does not fit, the file was changed by something else
// before, and what was worked out backward says how.
func (r *replay) edit(i, j int) {
	s := &r.steps[i]
	e := &s.Edits[j]
	if e.Old == "" && !e.Hunk { // a new file
		if len(r.lines) <= 1 {
			r.put(0, len(r.lines), split(e.New), s.By, nil)
			r.whole = true
		}
		return
	}
	at := find(texts(r.lines), e)
	if (at == nil || !r.whole) && j == 0 && r.before[i].lines != nil {
		r.meet(r.before[i])
		at = find(texts(r.lines), e)
	}
	if at == nil || e.Hunk && e.Old == "" && !r.whole {
		r.island(e, s.By)
		return
	}
	for k := len(at) - 1; k >= 0; k-- {
		r.put(at[k].from, at[k].to, at[k].now, s.By, e.Kept)
	}
}

// island takes an edit whose old text is not found. Where its new text stands already and nobody
// wrote it, it is the edit's. Else its lines are kept: they find their place when a text of the
// whole file comes.
func (r *replay) island(e *Edit, by int) {
	old, now := split(e.Old), split(e.New)
	if e.Hunk {
		old, now = hunkLines(e.Old), hunkLines(e.New)
	}
	lines, _ := carry(written(old, Nobody), now, by)
	at := indexLines(texts(r.lines), now, sameness[0])
	if at < 0 {
		r.lines = append(r.lines, lines...)
		return
	}
	for i := range lines {
		if r.lines[at+i].by < 0 {
			r.lines[at+i].by = lines[i].by
		}
	}
}

func (r *replay) add(s *Step) {
	if n := len(r.lines); n > 0 {
		r.put(n-1, n, split(r.lines[n-1].text+s.Text), s.By, nil)
		return
	}
	r.put(0, 0, split(s.Text), s.By, nil)
}

// put puts lines in the place of others. kept says which of them are the same, if that is known.
func (r *replay) put(from, to int, now []string, by int, kept []int) {
	out, gone := []line(nil), []line(nil)
	if len(kept) == len(now) &&
		!slices.ContainsFunc(kept, func(at int) bool { return at >= to-from }) {
		out, gone = carryPartners(r.lines[from:to], now, by, kept)
	} else {
		out, gone = carry(r.lines[from:to], now, by)
	}
	if len(r.gone) > 0 {
		free := lists.Map(out, func(l line) bool { return l.by == by })
		r.gone = moved(r.gone, out, free)
	}
	r.lines = splice(r.lines, from, to, out)
	r.gone = append(r.gone, gone...)
}

// meet makes the lines those of a text that the file is known to have had. What differs was written
// by something that is not recorded.
func (r *replay) meet(now state) {
	r.lines, _ = carry(r.lines, now.lines, now.by())
	r.settle(now.by())
	r.whole = true
}

// settle gives the lines that were there only perhaps a writer.
func (r *replay) settle(by int) {
	for i := range r.lines {
		if r.lines[i].by == perhaps {
			r.lines[i].by = by
		}
	}
}
