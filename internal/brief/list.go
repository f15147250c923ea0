package brief

import (
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/prose"
)

const (
	maxList = 240 // the length in bytes of the longest list that is told as a whole
	minList = 2   // the number of items of the shortest list that is counted
	maxHead = 48  // the length in bytes of the longest name of an item
)

// setLists looks for lists in the words of the model. An item of a list that is short, or short by
// the names of its items alone, brings the others with it. A number says of how many it is.
func (c *chooser) setLists() {
	plan := uint64(0) // the newest message that begins with a plan, of which no step is a list
	for i := 0; i < len(c.items); i++ {
		f := c.items[i].fact
		if f.Key == digest.Plan {
			plan = f.Seq
		}
		count, size, names, end := 0, 0, 0, i
		for end < len(c.items) && isListed(c.items[end].fact) && c.items[end].fact.Seq == f.Seq &&
			c.items[end].fact.Heading == f.Heading {
			it := &c.items[end]
			it.line.number = numberOf(it.fact.Text)
			count, size = max(count, it.line.number), size+len(it.fact.Text)
			if it.name = nameOf(it.fact.Text); it.name == "" {
				names += maxList
			}
			names += len(it.name)
			end++
		}
		for j := i; j < end; j++ {
			it := &c.items[j]
			if f.Seq != plan && (size <= maxList || names <= maxList) {
				it.list = [2]int{i, end}
			}
			if size <= maxList {
				it.name = ""
			}
			if l := &it.line; l.number > 0 && count >= minList {
				l.of = count
				l.Text = l.Heading + l.numbered(l.Text[len(l.Heading):])
			} else if j > i && it.line.number == 0 && c.items[j-1].line.of+c.items[j-1].lead > 0 {
				before := &c.items[j-1]
				it.lead, it.over = before.lead+1, it.over || before.over
			}
		}
		i = max(i, end-1)
	}
}

// isListed reports whether a fact has words of the model in a list.
func isListed(f *digest.Fact) bool { return isWord(f) && f.Key == digest.Item }

// numberOf returns the number with which an item of a list begins, 0 for none.
func numberOf(text string) int {
	mark, _, _ := strings.Cut(text, " ")
	n, err := strconv.Atoi(strings.TrimRight(mark, ".)"))
	if err != nil || !strings.ContainsAny(mark, ".)") {
		return 0
	}
	return n
}

// nameOf returns the beginning of an item of a list that names what it is about, "" for none.
func nameOf(text string) string {
	for _, sep := range [...]string{": ", " — ", " – ", " - ", " ("} {
		name, _, ok := strings.Cut(text, sep)
		if ok && len(name) <= maxHead && prose.HasName(name) {
			return name
		}
	}
	return ""
}

// numbered returns the text of an item with the number of all behind its own: 2 of 5: ports.
func (l Line) numbered(text string) string {
	mark, rest, _ := strings.Cut(text, " ")
	return strings.TrimRight(mark, ".)") + l.ofAll() + rest
}

// plainNumber returns a text without what numbered adds.
func (l Line) plainNumber(text string) string {
	return strings.Replace(text, l.ofAll(), ". ", 1)
}

func (l Line) ofAll() string { return " of " + strconv.Itoa(l.of) + ": " }

// isWhole reports whether all numbered items of the list that a line is in are among lines.
func (l Line) isWhole(lines []Line) bool {
	n := 0
	for _, o := range lines {
		if o.of == l.of && o.Seq == l.Seq && o.Section == l.Section && o.Heading == l.Heading {
			n++
		}
	}
	return l.of > 0 && n == l.of
}

// takeWithLead takes item i, with the sentence that its item of a list begins with, and with the
// others of a short list. It takes nothing if it is taken, or does not fit.
func (c *chooser) takeWithLead(i int) []Line {
	var out []Line
	if lead := i - c.items[i].lead; !c.items[lead].taken && lead != i {
		if c.costOf(lead)+c.costOf(i) > c.left {
			return nil
		}
		out = c.takeWithLead(lead)
	}
	if l, ok := c.take(i); ok {
		out = append(append(out, l), c.siblings(i)...)
	}
	return out
}

// siblings takes the other items of the list that an item is in, if all of them fit.
func (c *chooser) siblings(i int) (out []Line) {
	sum, list := 0, c.items[i].list
	for j := list[0]; j < list[1]; j++ {
		if it := &c.items[j]; !it.taken && !it.over {
			l := it.line
			if it.name != "" {
				l.Text = l.Heading + it.name
			}
			out = append(out, l)
			sum += c.cost(l)
		}
	}
	if sum > c.left {
		return nil
	}
	c.left -= sum
	for j := list[0]; j < list[1]; j++ {
		c.items[j].taken = true
		c.say(c.items[j].terms)
	}
	return out
}
