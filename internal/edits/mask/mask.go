// Package mask is the rule by which old outputs of tools are shown shortened, and what is shown of
// them. It is pure: values in, values out.
//
// The rule looks at a conversation from its newest message back. The newest outputs of tools stay
// as they are, up to a number of tokens; all that is older may be shortened, and is where together
// it is worth while. What was shortened before is passed over: whoever asks says so, and the words
// of an output never do.
package mask

import (
	"encoding/json"
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// Params are the numbers of the rule.
type Params struct {
	Protected    int      // tokens of the newest outputs that stay as they are
	Gate         int      // tokens that may be shortened, from which on they are
	Newest       int      // messages at the end that are not looked at
	Exempt       []string // tools whose outputs stay as they are
	Shell        []string // tools that print sections: Output, Error, Exit Code and so on
	PreviewLines int      // of the output of a command: longer ones keep half at each end
	PreviewChars int      // of any other output, in UTF-16 units: longer ones keep half at each end
}

// Part is what a tool printed: a part of a message, or all of one of plain text.
type Part struct {
	Entry  format.ID       `json:"entry"`
	Index  int             `json:"part"`
	Call   string          `json:"call"` // that it answers; "" where that is not known
	Tool   string          `json:"tool"` // "" where that is not known
	Raw    json.RawMessage `json:"-"`    // the part as it is stored; nil for plain text
	Text   string          `json:"-"`    // plain text
	Masked bool            `json:"-"`    // it is shown shortened already
}

// Short is a part and what is shown of it in its place.
type Short struct {
	Part
	Tokens int    `json:"tokens"` // of the part
	Left   int    `json:"left"`   // of it as it is shown
	Text   string `json:"text"`   // that is shown
}

// Plan is what the rule says of a conversation.
type Plan struct {
	Protected int     // tokens of outputs that stay as they are
	Prunable  int     // tokens of outputs that may be shortened
	Saved     int     // tokens that Parts save
	Parts     []Short // oldest first; those alone that become shorter. Empty where Prunable is less than Params.Gate
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

// Add takes the next older message: what tools printed in it, in order; none for any other message.
func (r *Planner) Add(parts []Part) {
	if r.seen++; r.seen <= r.p.Newest {
		return
	}
	for _, part := range slices.Backward(parts) {
		if part.Masked || slices.Contains(r.p.Exempt, part.Tool) || part.isEmpty() {
			continue
		}
		n := Tokens(part)
		// The output that crosses the line is itself beyond it.
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

// Plan returns what is to be done.
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
