package view

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/prose"
)

// offer is a line that may be printed.
type offer struct {
	section int
	weight  int64 // per token
	cost    int   // in the format of the output
	size    int   // of the text alone, with a newline
	line    line
}

// summaries takes lines of all summaries. Without a budget it takes plain texts whole, and
// sentences by their stored weights up to a limit. Under a budget the sentences of all clusters
// compete in one new ranking, so that the clusters together say no less than one flat list would.
func (c *chooser) summaries() {
	if c.left == endless {
		n := min(maxSentenceTokens, sentencesBase+sentencesPerCluster*len(c.block.sections))
		c.takeTexts(c.texts(), 0)
		c.takeSentences(c.offers(), room(perToken*n))
	} else {
		texts := c.texts()
		total := c.demand()
		for _, o := range texts {
			total += o.cost
		}
		c.takeTexts(texts, total)
		c.rank()
	}
}

// texts lists the plain summaries of all sections that are not expanded, in order.
func (c *chooser) texts() []offer {
	var texts []offer
	for i, s := range c.block.sections {
		if s.expanded {
			continue
		}
		for j, part := range s.Parts {
			l := line{from: part.Summary, text: strings.TrimSpace(part.Text),
				order: lineOrder{part: j}}
			if l.text != "" {
				texts = append(texts, offer{section: i, cost: c.p.lineCost(l), line: l})
			}
		}
	}
	return texts
}

// offers lists the sentences of all sections that are not expanded, in order.
func (c *chooser) offers() []offer {
	var sentences []offer
	for i, s := range c.block.sections {
		if s.expanded {
			continue
		}
		for j, part := range s.Parts {
			for k := range part.Sentences {
				if l := sentenceLine(part.Sentences, j, k); l.text != "" {
					o := offer{section: i, weight: part.Sentences[k].Weight, cost: c.p.lineCost(l),
						size: cost(l.text) + 1, line: l}
					sentences = append(sentences, o)
				}
			}
		}
	}
	return sentences
}

// sentenceLine returns sentence k of a summary that is part j of its cluster.
func sentenceLine(list []summarize.Sentence, j, k int) line {
	s := list[k]
	return line{sentence: true, from: s.Entry, text: oneLine(s.Text), byTool: s.Role == "tool",
		order: lineOrder{j, s.Seq, s.Entry, s.Pos, k}}
}

// takeTexts takes plain texts. If everything that is offered, which costs total, does not fit, they
// get their share of the room, and the longest are cut to one length: short ones stay whole.
func (c *chooser) takeTexts(texts []offer, total int) {
	for _, o := range texts {
		c.payIn(o.section, 0)
	}
	whole := c.left
	most := 0
	if cut := whole != endless && !whole.holds(total); cut {
		sum := 0
		for _, o := range texts {
			sum += o.cost
		}
		hi, lo := bits.Mul64(uint64(whole), uint64(sum))
		share, _ := bits.Div64(hi, lo, uint64(total))
		most = fairShare(texts, int(share))
	}
	for _, o := range texts {
		full := o.line.text
		if most > 0 && o.cost > most {
			o.line.text = c.cutTo(o, most)
		}
		taken := o.line.text != "" && c.payIn(o.section, c.p.lineCost(o.line))
		if taken {
			c.take(o)
		}
		if !taken || o.line.text != full {
			c.drops.add(DropShortened, 1, c.block.sections[o.section].ID)
		}
	}
}

// fairShare returns the cost to which texts are cut so that all of them fit into room.
func fairShare(texts []offer, room int) int {
	costs := lists.Map(texts, func(o offer) int { return o.cost })
	slices.Sort(costs)
	for i, c := range costs {
		if share := room / (len(costs) - i); c > share {
			return max(share, 1)
		}
		room -= c
	}
	return math.MaxInt
}

// cutTo returns as much of the text of o as costs at most most.
func (c *chooser) cutTo(o offer, most int) string {
	return cutEnd(o.line.text, func(s string) bool {
		l := o.line
		l.text = s
		return c.p.lineCost(l) <= most
	})
}

// takeSentences takes sentences, best first, while their texts fit into purse. Weights are values
// per token, so they compare as they are; the order decides between equals. A sentence is printed
// only once, and a repeated one is not missing.
func (c *chooser) takeSentences(sentences []offer, purse room) {
	slices.SortStableFunc(sentences,
		func(a, b offer) int { return cmp.Compare(b.weight, a.weight) })
	printed := map[string]bool{}
	for _, o := range sentences {
		if c.quoted(o.line.from, o.line.text) {
			printed[o.line.text] = true
		}
		if printed[o.line.text] || !purse.holds(o.size) || !c.payIn(o.section, o.cost) {
			continue
		}
		printed[o.line.text] = true
		c.take(o)
		purse -= room(o.size)
	}
	c.missing(printed)
}

// missing counts the sentences of live clusters that are printed nowhere.
func (c *chooser) missing(printed map[string]bool) {
	for _, s := range c.block.sections {
		if s.expanded || s.evicted {
			continue
		}
		for _, part := range s.Parts {
			if part.Unread > 0 {
				c.drops.add(DropSentence, part.Unread, s.ID)
			}
			for _, sent := range part.Sentences {
				if text := oneLine(sent.Text); text != "" && !printed[text] {
					c.drops.add(DropSentence, 1, s.ID)
				}
			}
		}
	}
}

func (c *chooser) take(o offer) {
	s := &c.block.sections[o.section]
	s.lines = append(s.lines, o.line)
}

// Under a budget the ranking reads poolFactor times the tokens that fit, within bounds. A sentence
// that is far behind in its own cluster is never among the first of all, and the bounds limit the
// time.
const (
	poolFactor = 6
	minPool    = 16_000
	maxPool    = 48_000
)

// minRankedRoom is a room in which hardly any sentence fits.
const minRankedRoom = room(6 * perToken)

// listed is the place of a list of the pool.
type listed struct{ section, part int }

// rank takes sentences of all sections by the value that each adds to those before it.
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
	take := func(pick summarize.Pick) bool {
		at := from[pick.List]
		l := sentenceLine(lists[pick.List], at.part, pick.Index)
		if l.text == "" || printed[l.text] || !c.payLine(at.section, c.p.lineCost(l)) {
			return false
		}
		printed[l.text] = true
		c.take(offer{section: at.section, line: l})
		return true
	}
	var thin []summarize.Pick // in a short rendering, remarks of a word or two come last
	for c.left > minRankedRoom {
		pick, ok := pool.Next()
		if !ok {
			break
		}
		if c.how.Short && prose.IsThin(lists[pick.List][pick.Index].Text) {
			thin = append(thin, pick)
		} else if take(pick) {
			pool.Take(pick)
		}
	}
	for _, pick := range thin {
		take(pick)
	}
	c.missing(printed)
}

func poolSize(r room) int { return min(max(int(r/perToken)*poolFactor, minPool), maxPool) }

// demand returns about what the sentences of all sections cost.
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
