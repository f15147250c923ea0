package session

import (
	"context"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
	"github.com/gemini-ctx/ctx/session/mask"
)

// MaskPlan says what masking would do to a branch.
type MaskPlan struct {
	mask.Plan
	Tip  format.ID // of the branch that was looked at
	Gate int       // Prunable has to have so many tokens for there to be Parts
}

// MaskResult is what ApplyMasks did.
type MaskResult struct {
	Entry format.ID // the mask entry; zero where there was nothing to mask
	Parts []mask.Short
	Saved int          // tokens
	Known []MaskTarget // of those that were named: they are shown shortened already
	Kept  []MaskTarget // of those that were named: they would not be shorter
	Left  int          // parts that did not fit into one entry: the next time
}

// MaskTarget names a part of a message, or with format.WholeEntry all outputs in it.
type MaskTarget = format.Target

// A mask entry has to stay far below what a body may have.
const (
	maxMaskParts = 4096
	maxMaskText  = 8 << 20
)

func (s *Store) maskParams() mask.Params {
	c := s.Config.Mask
	return mask.Params{
		Protected: c.ProtectedTokens, Gate: c.GateTokens, Newest: c.NewestMessages, Exempt: c.ExemptTools, Shell: c.ShellTools,
		PreviewLines: c.PreviewLines, PreviewChars: c.PreviewChars,
	}
}

// PlanMasks returns what the rule of package mask says of a branch. It writes nothing.
func (s *Store) PlanMasks(view *refs.View, session, branch string) (MaskPlan, error) {
	tip, err := Tip(view, session, branch)
	if err != nil {
		return MaskPlan{}, err
	}
	p, err := s.planMasks(tip.ID)
	return MaskPlan{Plan: p, Tip: tip.ID, Gate: s.Config.Mask.GateTokens}, err
}

func (s *Store) planMasks(tip format.ID) (mask.Plan, error) {
	o, err := s.outputsOf(tip)
	if err != nil {
		return mask.Plan{}, err
	}
	planner := mask.NewPlanner(s.maskParams())
	for _, m := range slices.Backward(o.messages) {
		parts, err := o.read(&m)
		if err != nil {
			return mask.Plan{}, err
		}
		planner.Add(parts)
	}
	plan := planner.Plan()
	return plan, cleanShort(plan.Parts)
}

// cleanShort sanitises short forms: a cut may leave what looks like something else.
func cleanShort(list []mask.Short) error {
	for i := range list {
		clean, _, err := sanitize.Text([]byte(list[i].Text))
		if err != nil {
			return fmt.Errorf("%w: cannot sanitise a mask, so it is not stored: %w", ErrInput, err)
		}
		list[i].Text = string(clean)
	}
	return nil
}

// ApplyMasks records on a branch which parts are shown shortened from now on: those of the plan, or else those that are named. It is one mask entry,
// or none where nothing becomes shorter. What is shown shortened already stays as it is, so that doing it again writes nothing.
// ErrNotFound is for a message or part that the branch has not, ErrInput for what no tool printed; then nothing is written.
func (s *Store) ApplyMasks(ctx context.Context, session, branch string, named []MaskTarget) (MaskResult, error) {
	return retry(ctx, s, session, branch, func(tip format.Value) (MaskResult, error) {
		if named == nil {
			plan, err := s.planMasks(tip.ID)
			return MaskResult{Parts: plan.Parts}, err
		}
		return s.chosenMasks(tip.ID, named)
	}, func(t *tx, done *MaskResult) error { return t.putMask(session, branch, done) })
}

// maxTries is how often what was made of a branch without the lock is made again because the branch has moved. After that it is made under the lock.
const maxTries = 4

// retry looks at a branch without the lock, and acts under it if the branch is still what was looked at.
func retry[T any](ctx context.Context, s *Store, session, branch string, look func(format.Value) (T, error), act func(*tx, *T) error) (T, error) {
	var done, none T
	for try := 1; ; try++ {
		mark, err := s.ForgetMark()
		if err != nil {
			return none, err
		}
		v, err := s.Refs.Read()
		if err != nil {
			return none, err
		}
		seen, err := Tip(v, session, branch)
		if err == nil {
			done, err = look(seen)
		}
		if err != nil {
			return none, err
		}
		moved := false
		err = s.locked(ctx, func(t *tx) error {
			now, err := Tip(t.view, session, branch)
			if err != nil {
				return err
			}
			forgot, err := t.ForgetMark()
			if err != nil {
				return err
			}
			if moved = now != seen || forgot != mark; moved && try < maxTries {
				return nil
			}
			if moved {
				if done, err = look(now); err != nil {
					return err
				}
			}
			moved = false
			return act(t, &done)
		})
		if err != nil {
			return none, err
		}
		if !moved {
			return done, nil
		}
	}
}

// putMask records a mask of done.Parts, as many as one entry holds: the newest ones first.
func (t *tx) putMask(session, branch string, done *MaskResult) error {
	from, size := len(done.Parts), 0
	for from > 0 && len(done.Parts)-from < maxMaskParts && size+len(done.Parts[from-1].Text) <= maxMaskText {
		from--
		size += len(done.Parts[from].Text)
	}
	done.Left, done.Parts = from, done.Parts[from:]
	if len(done.Parts) == 0 {
		return nil
	}
	m := &format.Mask{}
	for _, p := range done.Parts {
		m.Parts = append(m.Parts, format.MaskedPart{Entry: p.Entry, Part: p.Index, Call: p.Call, Tool: p.Tool, Text: p.Text})
		done.Saved += p.Tokens - p.Left
	}
	body, err := m.Encode()
	if err != nil {
		return err
	}
	c, err := t.control(session, branch, &format.Entry{Kind: format.KindMask}, body, format.MediaMask)
	if err != nil {
		return err
	}
	done.Entry = c.id
	return t.commitControl(refs.VerbMask, c)
}

// chosenMasks makes short forms of named parts.
func (s *Store) chosenMasks(tip format.ID, named []MaskTarget) (done MaskResult, err error) {
	o, err := s.outputsOf(tip)
	if err != nil {
		return done, err
	}
	seen := map[MaskTarget]bool{}
	for _, t := range named {
		parts, err := o.named(t)
		if err != nil {
			return done, err
		}
		for _, p := range parts {
			at := MaskTarget{Entry: p.Entry, Part: p.Index}
			if seen[at] {
				continue
			}
			seen[at] = true
			switch short, shorter := mask.Shorten(p, s.maskParams()); {
			case p.Masked:
				done.Known = append(done.Known, at)
			case !shorter:
				done.Kept = append(done.Kept, at)
			default:
				done.Parts = append(done.Parts, short)
			}
		}
	}
	// The same parts make the same entry, in whatever order they were named.
	slices.SortFunc(done.Parts, func(a, b mask.Short) int {
		if x, y := o.place[a.Entry], o.place[b.Entry]; x != y {
			return x - y
		}
		return a.Index - b.Index
	})
	return done, cleanShort(done.Parts)
}

// outputs are the messages of a branch in which a tool may have printed something.
type outputs struct {
	s        *Store
	edits    *edits
	messages []outputAt        // all messages, oldest first
	place    map[format.ID]int // of a message in them
}

// outputAt is a message as its header tells of it.
type outputAt struct {
	id, version format.ID
	tool        bool              // something of a tool's may be in it
	tools       map[string]string // by the call that it answers, the tool, where the call says so
}

// outputsOf goes through the headers of a branch.
func (s *Store) outputsOf(tip format.ID) (*outputs, error) {
	o := &outputs{s: s, place: map[format.ID]int{}}
	var controls []entryAt
	var said []entryAt
	newest := map[format.ID]entryAt{}
	err := s.backSides(tip, func(id format.ID, e *format.Entry, side bool) bool {
		if isEdit(e, side) {
			controls = append(controls, entryAt{id, e})
		}
		if _, ok := newest[e.Amends]; e.Kind == format.KindAmend && !ok {
			newest[e.Amends] = entryAt{id, e}
		}
		if e.Kind == format.KindMessage {
			said = append(said, entryAt{id, e})
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	slices.Reverse(controls)
	if o.edits, err = s.editsOf(controls); err != nil {
		return nil, err
	}
	calls := map[string]string{}
	for _, first := range slices.Backward(said) {
		m := outputAt{id: first.id, version: first.id}
		e := first.e
		if v, ok := newest[first.id]; ok {
			m.version, e = v.id, v.e
		}
		// A result that names no call is in the parts alone.
		m.tool = e.Role == "tool" || len(e.Results) > 0 || e.Role != "model" && e.Body != nil && e.Body.Media == format.MediaParts
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
		o.place[m.id] = len(o.messages)
		o.messages = append(o.messages, m)
	}
	return o, nil
}

// read returns what tools printed in a message, in order. What is replaced, or forgotten, is not shown and is none.
func (o *outputs) read(m *outputAt) ([]mask.Part, error) {
	if !m.tool {
		return nil, nil
	}
	shown, err := o.s.Version(m.id, m.version)
	if err != nil || shown.Gone != "" {
		return nil, err
	}
	var list []mask.Part
	for _, p := range m.outputsIn(shown) {
		if o.edits.by(format.Target{Entry: m.id, Part: p.Index}) == nil {
			_, p.Masked = o.edits.masks[m.id][p.Index]
			list = append(list, p)
		}
	}
	return list, nil
}

func (m *outputAt) outputsIn(shown *Shown) (list []mask.Part) {
	e := shown.Entry
	if shown.Parts == nil {
		if e.Role != "tool" && len(e.Results) == 0 {
			return nil
		}
		p := mask.Part{Entry: m.id, Text: shown.Text}
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
		if tool == "" {
			tool = m.tools[call]
		}
		list = append(list, mask.Part{Entry: m.id, Index: i, Call: call, Tool: tool, Raw: raw})
	}
	return list
}

// named returns the outputs that somebody named.
func (o *outputs) named(t MaskTarget) ([]mask.Part, error) {
	at, ok := o.place[t.Entry]
	if !ok {
		return nil, fmt.Errorf("%w: message %v is not in the branch", ErrNotFound, t.Entry)
	}
	m := o.messages[at]
	shown, err := o.s.Version(m.id, m.version)
	if err != nil {
		return nil, err
	}
	if shown.Gone != "" {
		return nil, fmt.Errorf("%w: message %v: %s", ErrGone, t.Entry, shown.Gone)
	}
	if err := checkPart(t, shown.Parts); err != nil {
		return nil, err
	}
	if r := o.edits.by(t); r != nil {
		return nil, fmt.Errorf("%w: %v is replaced by %v", ErrRefused, t, r.id)
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
		return nil, fmt.Errorf("%w: %v is not what a tool printed", ErrInput, t)
	}
	return all, nil
}

// checkPart returns ErrNotFound for a part that a message has not. A plain text is part 0.
func checkPart(t format.Target, parts []byte) error {
	n := 1
	if parts != nil {
		n = len(mask.Split(parts))
	}
	if t.Part < n {
		return nil
	}
	if n == 0 {
		return fmt.Errorf("%w: part %d of %v: it has none", ErrNotFound, t.Part, t.Entry)
	}
	return fmt.Errorf("%w: part %d of %v: its parts are 0 to %d", ErrNotFound, t.Part, t.Entry, n-1)
}

// MaskedLog is Log as the branch's masks show it: what an export of the masked view is made of.
func (s *Store) MaskedLog(tip format.ID, each func(*Shown) error) error {
	return s.LogEach(tip, LogOptions{Masked: true}, each)
}
