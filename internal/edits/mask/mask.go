// Package mask decides which old outputs of tools are shown shortened, and makes the short texts.
// It reads and writes nothing.
//
// The rule goes through a conversation from its newest message back. The newest outputs stay as
// they are, up to a number of tokens. All older outputs are shortened, if together they have enough
// tokens. The caller says which outputs are shortened already; the rule passes over these and never
// guesses it from their words.
package mask

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// Params are the numbers of the rule.
type Params struct {
	Protected    int      // tokens of the newest outputs that stay as they are
	Gate         int      // nothing is shortened below this number of tokens that may be
	Newest       int      // messages at the end that stay as they are
	Exempt       []string // tools whose outputs stay as they are
	Shell        []string // tools that print sections: Output, Error, Exit Code and so on
	PreviewLines int      // of the output of a command: longer ones keep half at each end
	PreviewChars int      // of any other output, in UTF-16 units: longer ones keep half at each end
}

// Part is the output of a tool: a part of a message, or a whole message of plain text.
type Part struct {
	Entry  format.ID       `json:"entry"`
	Index  int             `json:"part"`
	Call   string          `json:"call"` // that it answers; "" where that is not known
	Tool   string          `json:"tool"` // "" where that is not known
	Raw    json.RawMessage `json:"-"`    // the part as it is stored; nil for plain text
	Text   string          `json:"-"`    // plain text
	Masked bool            `json:"-"`    // it is shown shortened already
}

// Short is a part with the short text that is shown in its place.
type Short struct {
	Part
	Tokens int    `json:"tokens"` // of the part
	Left   int    `json:"left"`   // of it as it is shown
	Text   string `json:"text"`   // that is shown
}

// Plan is the result of the rule for a conversation.
type Plan struct {
	Protected int // tokens of outputs that stay as they are
	Prunable  int // tokens of outputs that may be shortened
	Saved     int // tokens that Parts save
	// Oldest first; those alone that become shorter. Empty where Prunable is less than Params.Gate
	Parts []Short
}

// Planner goes through a conversation, newest message first.
type Planner struct {
	p       Params
	seen    int
	past    bool // the protected outputs are behind us
	plan    Plan
	shorter []Short // newest first
}

// NewPlanner returns a planner at the end of a conversation.
func NewPlanner(p Params) *Planner { return &Planner{p: p} }

// Add takes the next older message: the outputs of tools in it, in order; none if it has no output.
func (r *Planner) Add(parts []Part) {
	if r.seen++; r.seen <= r.p.Newest {
		return
	}
	for _, part := range slices.Backward(parts) {
		if part.Masked || slices.Contains(r.p.Exempt, part.Tool) || part.isEmpty() {
			continue
		}
		n := Tokens(part)
		// The output that exceeds the limit is not protected itself.
		if r.past = r.past || r.plan.Protected+n > r.p.Protected; !r.past {
			r.plan.Protected += n
			continue
		}
		r.plan.Prunable += n
		if short, ok := Shorten(part, r.p); ok {
			r.shorter = append(r.shorter, short)
		}
	}
}

// Plan returns the parts to shorten.
func (r *Planner) Plan() Plan {
	plan := r.plan
	if plan.Prunable < r.p.Gate {
		return plan
	}
	plan.Parts = slices.Clone(r.shorter)
	slices.Reverse(plan.Parts)
	for _, s := range plan.Parts {
		plan.Saved += s.Tokens - s.Left
	}
	return plan
}

// Shorten makes the short form of a part, and reports whether it saves tokens.
func Shorten(part Part, p Params) (Short, bool) {
	s := Short{Part: part, Tokens: Tokens(part)}
	s.Text = snippet(preview(part, p), part.Entry)
	after := part
	if part.Raw == nil {
		after.Text = s.Text
	} else {
		after.Raw = Replace(part.Raw, s.Text)
	}
	s.Left = Tokens(after)
	return s, s.Left < s.Tokens
}

// Offload says when an output is too long for a message, and how much of it the message keeps.
type Offload struct {
	Threshold int // UTF-16 units that a message may have; 0 for any number
	// Percent of the threshold that is kept of the beginning; the rest is kept of the end
	Head int
}

// TooLong reports whether an output has to be offloaded.
func (o Offload) TooLong(text string) bool { return o.Threshold > 0 && units(text) > o.Threshold }

// Short returns the text of a message whose output is stored under an id.
func (o Offload) Short(text string, id format.ID) string {
	most := o.Threshold * o.Head / 100
	first, last := head(text, most), tail(text, o.Threshold-most)
	return fmt.Sprintf(
		"Output too large. Here are its first %d and last %d characters; `ctx expand %v` shows "+
			"all of it.\n%s\n\n... [%d characters omitted] ...\n\n%s",
		units(first), units(last), id, first, units(text)-units(first)-units(last), last)
}

// Units is how long a text is, in UTF-16 units: what agents count as characters.
func Units(s string) int { return units(s) }
