package brief

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/prose"
)

// lastSteps leads what the model did last in a turn that has not ended.
const lastSteps = "last steps: "

const (
	maxStep      = 70 // the cost of the text of a step
	maxEnd       = 60 // of how it ended
	maxStepNames = 3  // of a file that was read
	maxSteps     = 800
	stepsShare   = 8 // of the room, in hundredths, that the line has at least
)

// reserve keeps room for the steps of a turn that has not ended.
func (c *chooser) reserve(o Options) {
	if c.turnOf == nil || o.InOrder || c.besideSummary() {
		return
	}
	edited, acts := false, 0 // what was looked at before is done with
	for i := range slices.Backward(c.items) {
		it := &c.items[i]
		f, told := it.fact, it.fact.Checks() || it.fact.Kind == digest.Edit // in lines of their own
		if c.turnAt(i) != c.turnAt(len(c.items)-1) || f.Kind == digest.Answer {
			break
		}
		edited = edited || f.Kind == digest.Edit
		if edited && f.Looks() || acts > 0 && prose.Announces(f.Text) || // the calls say it
			it.taken && !told || c.shown[f.Entry] || c.step(i) == "" {
			continue
		}
		if c.trail = append(c.trail, i); !told {
			acts++
		}
	}
	if acts == 0 {
		c.trail = nil
	} else {
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
		step := strings.TrimSuffix(c.step(i), ".")
		if verb, name, _ := strings.Cut(step, " "); c.items[i].fact.Kind == digest.Edit &&
			strings.HasPrefix(text, dot+verb+" ") && !strings.Contains(name, " ") {
			text = ", " + strings.TrimPrefix(text, dot+verb+" ") // files in a row
		}
		text = step + text
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
	case digest.Command, digest.Search:
		command, why, end := f.Parts()
		if text = "ran " + c.root.Shorten(command); f.Kind == digest.Search && f.Key == "" {
			text = it.line.Text
		} else if len(text) > maxStep && why != "" {
			text = "ran: " + why
		}
		if f.Checks() && f.State == digest.Passed {
			end = cmp.Or(end, "passed")
		}
		if text = prose.Cut(text, maxStep); end != "" {
			text += ": " + prose.Cut(end, maxEnd)
		}
		return text
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
	case digest.Edit:
		if verb, _, _ := strings.Cut(f.Text, " "); verb != "moved" {
			text = verb + " " + path.Base(c.root.Name(f.Path))
		}
	case digest.Act:
	default:
		return ""
	}
	return prose.Cut(text, maxStep)
}
