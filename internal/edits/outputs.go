package edits

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/edits/mask"
	"github.com/gemini-ctx/ctx/internal/history"
)

// outputs are the messages of a branch, of which some have tool outputs.
type outputs struct {
	s        *Reader
	edits    *Edits
	messages []outputAt        // all messages, oldest first
	place    map[format.ID]int // of a message in them
}

// outputAt is a message as its header describes it.
type outputAt struct {
	ID, version format.ID
	tool        bool              // something of a tool's may be in it
	tools       map[string]string // by the call that it answers, the tool, where the call says so
}

// outputsOf reads the headers of a branch.
func (s *Reader) outputsOf(tip format.ID) (*outputs, error) {
	o := &outputs{s: s, place: map[format.ID]int{}}
	l, err := s.lineOf(tip)
	if err != nil {
		return nil, err
	}
	if o.edits, err = s.editsOn(l); err != nil {
		return nil, err
	}
	calls := map[string]string{}
	for _, first := range slices.Backward(l.messages) {
		m := outputAt{ID: first.ID, version: first.ID}
		e := first.Entry
		if v, ok := l.latest[first.ID]; ok {
			m.version, e = v.ID, v.Entry
		}
		// A result that names no call is in the parts alone.
		m.tool = e.Role == "tool" || len(e.Results) > 0 ||
			e.Role != "model" && e.Body != nil && e.Body.Media == format.MediaParts
		for _, r := range e.Results {
			if tool, ok := calls[r]; ok {
				if m.tools == nil {
					m.tools = map[string]string{}
				}
				m.tools[r] = tool
			}
		}
		for _, c := range e.Calls {
			calls[c.ID] = c.Tool
		}
		o.place[m.ID] = len(o.messages)
		o.messages = append(o.messages, m)
	}
	return o, nil
}

// read returns the tool outputs that are shown in a message, in order. Forgotten and replaced
// outputs are not shown.
func (o *outputs) read(m *outputAt) ([]mask.Part, error) {
	if !m.tool {
		return nil, nil
	}
	shown, err := o.s.Version(m.ID, m.version)
	if err != nil || shown.Gone != "" {
		return nil, err
	}
	var list []mask.Part
	for _, p := range m.outputsIn(shown) {
		if o.edits.by(format.Target{Entry: m.ID, Part: p.Index}) == nil {
			_, p.Masked = o.edits.Masks[m.ID][p.Index]
			list = append(list, p)
		}
	}
	return list, nil
}

// outputsIn returns the tool outputs of a message, in order.
func (m *outputAt) outputsIn(shown *history.Shown) (list []mask.Part) {
	e := shown.Entry
	if shown.Parts == nil {
		if e.Role != "tool" && len(e.Results) == 0 {
			return nil
		}
		p := mask.Part{Entry: m.ID, Text: shown.Text}
		if len(e.Results) > 0 {
			p.Call = e.Results[0]
			p.Tool = m.tools[p.Call]
		}
		return []mask.Part{p}
	}
	for i, raw := range mask.Split(shown.Parts) {
		kind, call, tool := mask.KindOf(raw)
		if kind != mask.Result {
			continue
		}
		tool = cmp.Or(tool, m.tools[call])
		list = append(list, mask.Part{Entry: m.ID, Index: i, Call: call, Tool: tool, Raw: raw})
	}
	return list
}

// Shortened returns a message with some outputs shortened as a mask would show them. tools names
// the tools of the calls that the message answers; pick selects outputs by the index of their part.
func (s *Reader) Shortened(
	shown *history.Shown, tools map[string]string, pick func(part int) bool,
) *history.Shown {
	short := map[int]string{}
	at := outputAt{ID: shown.ID, tools: tools}
	for _, p := range at.outputsIn(shown) {
		if !pick(p.Index) {
			continue
		}
		list := []mask.Short{{}}
		list[0], _ = mask.Shorten(p, s.maskParams())
		if cleanShort(list) == nil {
			short[p.Index] = list[0].Text
		}
	}
	return (&Edits{Masks: map[format.ID]map[int]string{shown.ID: short}}).MaskedShown(shown)
}

// named returns the outputs of a target.
func (o *outputs) named(t MaskTarget) ([]mask.Part, error) {
	at, ok := o.place[t.Entry]
	if !ok {
		return nil, fmt.Errorf("%w: message %v is not in the branch", history.NoID, t.Entry)
	}
	m := o.messages[at]
	shown, err := o.s.Version(m.ID, m.version)
	if err != nil {
		return nil, err
	}
	if shown.Gone != "" {
		return nil, fmt.Errorf("%w: message %v: %s", history.ErrGone, t.Entry, shown.Gone)
	}
	if err := checkPart(t, shown.Parts); err != nil {
		return nil, err
	}
	if r := o.edits.by(t); r != nil {
		return nil, fmt.Errorf("%w: %v is replaced by %v", history.ErrRefused, t, r.id)
	}
	m.tool = true
	all, err := o.read(&m)
	if err != nil {
		return nil, err
	}
	if t.Part != format.WholeEntry {
		all = slices.DeleteFunc(all, func(p mask.Part) bool { return p.Index != t.Part })
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: %v is not what a tool printed", history.ErrInput, t)
	}
	return all, nil
}

// checkPart returns ErrNotFound for a part that a message does not have. A plain text is part 0.
func checkPart(t format.Target, parts []byte) error {
	n := 1
	if parts != nil {
		n = len(mask.Split(parts))
	}
	if t.Part < n {
		return nil
	}
	if n == 0 {
		return fmt.Errorf("%w: part %d of %v: it has none", history.NoID, t.Part, t.Entry)
	}
	return fmt.Errorf("%w: part %d of %v: its parts are 0 to %d", history.NoID,
		t.Part, t.Entry, n-1)
}
