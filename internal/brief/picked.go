package brief

import (
	"slices"

	"github.com/gemini-ctx/ctx/internal/prose"
)

// maxPicked is the length in bytes of the longest text of an item that was picked.
const maxPicked = 200

// setPicked marks the items of an answer that the next prompt names by a number or a letter: "2,
// please" says nothing without them.
func (c *chooser) setPicked() {
	for t := range c.turns[:max(len(c.turns)-1, 0)] {
		var marks []string
		for _, i := range c.turns[t+1].asked {
			marks = append(marks, prose.Picks(c.items[i].fact.Text)...)
		}
		for _, i := range c.turns[t].came {
			it := &c.items[i]
			it.picked = slices.ContainsFunc(marks, func(mark string) bool {
				return isWord(it.fact) && prose.IsPicked(it.fact.Text, mark)
			})
		}
	}
}

// addPicked adds the picked items to the line of a turn's answer that does not have them, and
// returns by how many bytes the line grows.
func (c *chooser) addPicked(t *turn, items []int, l *Line) int {
	before := len(l.Text)
	for _, i := range items {
		if c.items[i].picked && !slices.Contains(t.covers, i) {
			l.Text += gap + prose.Cut(c.items[i].fact.Text, maxPicked)
			t.covers = append(t.covers, i)
		}
	}
	return len(l.Text) - before
}
