package brief

import (
	"slices"
	"strings"
	"unicode"

	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/prose"
)

// lastSteps leads what the model did last in a turn that has not ended.
const lastSteps = "last steps: "

const (
	maxStep      = 100 // the cost of the text of a step
	maxStepNames = 3   // of a file that was read
	maxSteps     = 800
	stepsShare   = 8 // of the room, in hundredths, that the line has at least
)

// reserve keeps room for the steps of a turn that has not ended.
func (c *chooser) reserve(o Options) {
	if c.turnOf == nil || o.InOrder || c.besideSummary() {
		return
	}
	edited := false // what was looked at before is done with
	for i := range slices.Backward(c.items) {
		kind := c.items[i].fact.Kind
		if c.turnAt(i) != c.turnAt(len(c.items)-1) || kind == digest.Answer {
			break
		}
		edited = edited || kind == digest.Edit
		if !(edited && c.items[i].fact.Looks()) && !c.items[i].taken &&
			!c.shown[c.items[i].fact.Entry] && c.step(i) != "" &&
			(len(c.trail) == 0 || !prose.Announces(c.items[i].fact.Text)) { // the calls say it
			c.trail = append(c.trail, i)
		}
	}
	if len(c.trail) > 0 {
		c.spare = min(o.Room*stepsShare/100, maxSteps)
		c.left -= c.spare
	}
}

// steps takes one line with what the model did last in a turn that has not ended: the next step
// builds on it, and no answer says it yet. The newest steps enter first.
func (c *chooser) steps() (out []Line) {
	c.left += c.spare
	text := ""
	for _, i := range c.trail {
		l := c.items[c.trail[0]].line
		text = strings.TrimSuffix(c.step(i), ".") + text
		l.Section, l.Turn, l.Text = State, 0, lastSteps+text
		if c.cost(l) > min(c.left, maxSteps) {
			break
		}
		out, text = []Line{l}, dot+text
	}
	for _, l := range out {
		c.left -= c.cost(l)
	}
	c.spare, c.trail = 0, nil
	return out
}

// step returns the text of an item that is a step: a call, or words of the model about what it
// does. It is "" for any other, and never has words of a tool.
func (c *chooser) step(i int) string {
	it := &c.items[i]
	text := it.line.Text
	switch f := it.fact; f.Kind {
	case digest.Read:
		if what, names, ok := strings.Cut(text, ": "); ok {
			list := strings.Split(names, ", ")
			text = what + ": " + strings.Join(list[:min(len(list), maxStepNames)], ", ")
		}
	case digest.Said:
		if f.Slight || f.Key == digest.Title || f.Seq == c.plan || !c.isBare(i) ||
			!prose.HasName(f.Text) || unicode.IsDigit(rune(text[0])) {
			return ""
		}
		text = strings.TrimSuffix(text, ":")
	case digest.Command:
		if f.Checks() && f.Ran() { // a line of its own says how the newest one ended
			return ""
		}
		text, _ = c.outcome(i)
		text = strings.TrimSuffix(text, ": passed")
		if ran, why, ok := strings.Cut(text, " # "); ok && len(ran) > maxStep {
			text = "ran: " + why
		} else if ok {
			text = ran
		}
	case digest.Search, digest.Act:
	default:
		return ""
	}
	return prose.Cut(text, maxStep)
}
