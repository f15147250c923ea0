package view

import "github.com/gemini-ctx/ctx/forest/summarize"

// Under a budget the ranking looks at so many times the tokens that there is room for, within bounds: what was far behind in its own
// cluster does not come first among all, and the time that it takes is bounded.
const (
	poolFactor = 6
	poolLeast  = 16_000
	poolMost   = 48_000
)

// enough is a room in which hardly any sentence fits.
const enough = room(6 * perToken)

// listed says where a list of the pool comes from.
type listed struct{ section, part int }

// rank takes sentences of all sections, the best first, each worth what it adds to those before it.
func (c *chooser) rank() {
	var lists [][]summarize.Sentence
	var from []listed
	for i, s := range c.block.sections {
		for j, part := range s.Parts {
			if !s.expanded && len(part.Sentences) > 0 {
				lists, from = append(lists, part.Sentences), append(from, listed{i, j})
			}
		}
	}
	printed := map[string]bool{}
	pool := summarize.NewPool(lists, poolSize(c.left), int(c.left/perToken))
	pool.Said(c.quoted)
	for c.left > enough {
		pick, ok := pool.Next()
		if !ok {
			break
		}
		at := from[pick.List]
		l := sentenceLine(lists[pick.List], at.part, pick.Index)
		if l.text == "" || printed[l.text] || !c.payLine(at.section, c.p.lineCost(l)) {
			continue
		}
		printed[l.text] = true
		c.take(offer{section: at.section, line: l})
		pool.Take(pick)
	}
	c.missing(printed)
}

func poolSize(r room) int { return min(max(int(r/perToken)*poolFactor, poolLeast), poolMost) }

// demand is what the sentences of all sections cost, about.
func (c *chooser) demand() int {
	n := 0
	for _, s := range c.block.sections {
		for _, part := range s.Parts {
			for _, sent := range part.Sentences {
				n += len(sent.Text) + 1
			}
		}
	}
	return n
}
