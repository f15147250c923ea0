package brief

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/message"
	"github.com/gemini-ctx/ctx/internal/prose"
)

// heed takes what the user told to heed, newest first: words to a call that was refused, and
// rules. Of rules about the same, which agree or contradict each other, the newest holds.
func (c *chooser) heed(purse int) []Line {
	var out []Line
	var told []*item     // of which those of one message do not replace each other
	var lifted [][]int32 // the terms of what lifts rules
	typed := func(i int) bool { return c.sentences[c.items[i].fact.Seq] <= typedPrompt }
	for i := range slices.Backward(c.items) {
		it := &c.items[i]
		f := it.fact
		rule := f.Kind == digest.Told && f.Key == message.Rule
		lifts := f.Kind == digest.Prompt && typed(i) && prose.Lifts(f.Text)
		if f.Kind != digest.Prompt && !rule || !rule && !lifts && f.Key != digest.Refused &&
			!(c.keep && isOrder(f)) && !(typed(i) && prose.IsRule(f.Text)) {
			continue
		}
		if lifts {
			lifted = append(lifted, it.terms)
		}
		// The newest prompt is there anyway, and what lifts a rule is no rule
		if c.shown[f.Entry] || isAsked(f) && c.turnOf[i] == len(c.turns)-1 && !c.rules && !c.keep ||
			lifts && !prose.IsRule(f.Text) {
			told = append(told, it)
			continue
		}
		if c.wasAllowed(i) && (!prose.IsRule(f.Text) || prose.HoldsForNow(f.Text)) {
			continue
		}
		if slices.ContainsFunc(told, func(o *item) bool {
			return o.fact.Seq != f.Seq && isSame(o.terms, it.terms)
		}) ||
			!lifts && slices.ContainsFunc(lifted, func(terms []int32) bool {
				return len(it.terms) <= 2 && 2*shared(terms, it.terms) >= len(it.terms)
			}) {
			it.taken = true // a newer rule about the same stands in its place
			continue
		}
		told = append(told, it)
		l := it.line
		l.Section, l.Turn = Heed, 0
		most := c.withText(l, c.asked)
		if utf8.RuneCountInString(l.Text) <= c.asked { // letters of some scripts cost more
			most = max(most, c.cost(l))
		}
		l = c.cutLine(l, most, withoutAside)
		if n := c.cost(l); n > purse || n > c.left {
			continue
		}
		purse -= c.cost(l)
		c.left -= c.cost(l)
		it.taken = true
		c.say(it.terms)
		if t := c.turnAt(i); t != nil && !c.besideSummary() {
			it.heeded = true
			c.setLines(t, c.asked, c.cameOf(c.turnOf[i]))
		}
		out = append(out, l)
	}
	return out
}

// wasAllowed reports whether the call that the user refused with the words of an item was made
// later: they held until then.
func (c *chooser) wasAllowed(words int) bool {
	key := c.items[words].fact.Key
	if key != digest.Refused && key != digest.Instead {
		return false
	}
	refused := ""
	for i := words; i >= 0 && refused == ""; i-- {
		if f := c.items[i].fact; f.Kind == digest.Decision {
			refused, _ = strings.CutPrefix(f.Text, digest.Refused)
		}
	}
	return refused != "" && slices.ContainsFunc(c.items[words:], func(it item) bool {
		return it.fact.State == digest.Passed && strings.HasPrefix(it.fact.Text, refused)
	})
}

// isOrder reports whether a fact says what the user wants in place of a call that was refused. A
// question orders nothing.
func isOrder(f *digest.Fact) bool {
	return f.Key == digest.Instead && !strings.HasSuffix(f.Text, "?")
}
