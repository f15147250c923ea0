package brief

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/message"
	"github.com/gemini-ctx/ctx/internal/prose"
)

// ofNote returns the section of a note. Only a person gives rules and decides.
func ofNote(f *digest.Fact) Section {
	switch person := f.Kind == digest.Told; {
	case f.Key == message.Next:
		return Todos
	case person && f.Key == message.Rule:
		return Heed
	case person && f.Key == message.Decision:
		return Decided
	}
	return Story
}

// noteText returns the line of a note, which says whose words it has, and of what kind.
func noteText(f *digest.Fact) string {
	switch section := ofNote(f); {
	case section == Todos && f.Kind == digest.Told:
		return "open: > " + f.Text
	case section == Todos:
		return "open: " + f.Text
	case section == Story && f.Kind == digest.Told:
		return "> " + f.Text
	case section == Story && f.Key != message.Finding:
		return f.Key + " (the agent's): " + f.Text
	}
	return f.Text
}

// standing leaves out notes that a newer note supersedes, by their ids, or those that they had in
// another store.
func standing(facts []digest.Fact) []digest.Fact {
	old, there := map[string]bool{}, map[uint64]bool{}
	for i := range facts {
		if f := &facts[i]; f.IsNote() && f.Path != "" {
			old[f.Path], there[f.Now] = true, true
		}
	}
	if len(old) == 0 {
		return facts
	}
	return slices.DeleteFunc(slices.Clone(facts), func(f digest.Fact) bool {
		return f.IsNote() && (old[f.Entry.String()] || there[f.Was])
	})
}

// overtaken leaves out words to a refused call of a command that passed later, such as "not yet". A
// rule among them stays.
func overtaken(facts []digest.Fact) []digest.Fact {
	if !slices.ContainsFunc(facts, func(f digest.Fact) bool { return f.Key == digest.Refused }) {
		return facts
	}
	passed := map[string]uint64{} // by command: the seq of the newest that passed
	for i := range facts {
		if f := &facts[i]; f.Kind == digest.Command && f.State == digest.Passed {
			passed[f.Command()] = f.Seq
		}
	}
	last := uint64(0) // of the command that was refused last
	return slices.DeleteFunc(slices.Clone(facts), func(f digest.Fact) bool {
		if f.Kind == digest.Decision {
			last = passed[strings.TrimPrefix(f.Text, digest.Refused+"ran ")]
		}
		return f.Key == digest.Refused && last > f.Seq && !prose.IsRule(f.Text)
	})
}

// notes takes what somebody wanted remembered, newest first.
func (c *chooser) notes(purse int) []Line {
	var out []Line
	for i := range slices.Backward(c.items) {
		it := &c.items[i]
		if !it.fact.IsNote() || it.taken || c.shown[it.fact.Entry] {
			continue
		}
		it.line.Turn = 0
		l := c.cutLine(it.line, c.withText(it.line, maxAsked), prose.Cut)
		n := c.cost(l)
		if n > purse || n > c.left {
			continue
		}
		purse, c.left = purse-n, c.left-n
		it.taken = true
		c.say(it.terms)
		out = append(out, l)
	}
	return out
}

// Notes returns what somebody wanted remembered, by sections: rules, and of the rest the newest
// that fit. The facts are the notes of many sessions, the oldest first.
func Notes(facts []digest.Fact, o Options) []Line {
	c := newChooser(itemsOf(standing(facts), o.Root), o.Root, o)
	lines := append(c.heed(o.Room), c.notes(c.left)...)
	slices.SortStableFunc(lines, func(a, b Line) int {
		return cmp.Compare(slices.Index(order, a.Section), slices.Index(order, b.Section))
	})
	return lines
}
