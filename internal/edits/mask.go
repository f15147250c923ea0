package edits

import (
	"context"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/edits/mask"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
)

// MaskPlan says what masking would do to a branch.
type MaskPlan struct {
	mask.Plan
	Tip  format.ID // of the branch that was looked at
	Gate int       // Prunable has to have so many tokens for there to be Parts
}

// MaskResult is the result of ApplyMasks.
type MaskResult struct {
	Entry format.ID // the mask entry; zero where there was nothing to mask
	Parts []mask.Short
	Saved int          // tokens
	Known []MaskTarget // of those that were named: they are shown shortened already
	Kept  []MaskTarget // of those that were named: they would not be shorter
	Left  int          // parts that did not fit into one entry: the next time
}

// MaskTarget names a part of a message, or with format.WholeEntry all tool outputs in it.
type MaskTarget = format.Target

// The limits of one mask entry, far below those of a body: parts, and bytes of their texts.
const (
	MaxMaskParts = 4096
	maxMaskText  = 8 << 20
)

func (s *Reader) maskParams() mask.Params {
	c := s.Config.Mask
	return mask.Params{
		Protected: c.ProtectedTokens, Gate: c.GateTokens, Newest: c.NewestMessages,
		Exempt: c.ExemptTools, Shell: c.ShellTools,
		PreviewLines: c.PreviewLines, PreviewChars: c.PreviewChars,
	}
}

// PlanMasks returns what the rule of package mask says of a branch. It writes nothing.
func (s *Reader) PlanMasks(view *refs.View, session, branch string) (MaskPlan, error) {
	tip, err := history.Tip(view, session, branch)
	if err != nil {
		return MaskPlan{}, err
	}
	p, err := s.planMasks(tip.ID)
	return MaskPlan{Plan: p, Tip: tip.ID, Gate: s.Config.Mask.GateTokens}, err
}

func (s *Reader) planMasks(tip format.ID) (mask.Plan, error) {
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

// cleanShort sanitizes short forms: a cut may produce what looks like a secret.
func cleanShort(list []mask.Short) error {
	for i := range list {
		clean, _, err := sanitize.Text([]byte(list[i].Text))
		if err != nil {
			return fmt.Errorf("%w: cannot sanitize a mask, so it is not stored: %w",
				history.ErrInput, err)
		}
		list[i].Text = string(clean)
	}
	return nil
}

// ApplyMasks records which parts of a branch are shown shortened from now on: those that are named,
// or with nil those of the plan. It writes one mask entry, or none if nothing becomes shorter. A
// part that is shortened already stays as it is, so that a repetition writes nothing. ErrNotFound
// is for a message or part that the branch does not have, ErrInput for a part that is no tool
// output; nothing is written then.
func (s *Writer) ApplyMasks(
	ctx context.Context, session, branch string, named []MaskTarget,
) (MaskResult, error) {
	return Retry(ctx, s, session, branch, func(tip format.Value) (MaskResult, error) {
		if named == nil {
			plan, err := s.planMasks(tip.ID)
			return MaskResult{Parts: plan.Parts}, err
		}
		return s.chosenMasks(tip.ID, named)
	}, func(t *Tx, done *MaskResult) error { return t.putMask(session, branch, done) })
}

// putMask records a mask of done.Parts, as many of the latest as one entry holds.
func (t *Tx) putMask(session, branch string, done *MaskResult) error {
	from, size := len(done.Parts), 0
	for from > 0 && len(done.Parts)-from < MaxMaskParts &&
		size+len(done.Parts[from-1].Text) <= maxMaskText {
		from--
		size += len(done.Parts[from].Text)
	}
	done.Left, done.Parts = from, done.Parts[from:]
	if len(done.Parts) == 0 {
		return nil
	}
	m := &format.Mask{}
	for _, p := range done.Parts {
		m.Parts = append(m.Parts,
			format.MaskedPart{Entry: p.Entry, Part: p.Index, Call: p.Call, Tool: p.Tool,
				Text: p.Text})
		done.Saved += p.Tokens - p.Left
	}
	body, err := m.Encode()
	if err != nil {
		return err
	}
	c, err := t.store.Control(session, branch, &format.Entry{Kind: format.KindMask}, body,
		format.MediaMask)
	if err != nil {
		return err
	}
	done.Entry = c.ID
	return t.store.CommitControl(refs.VerbMask, c)
}

// chosenMasks makes short forms of named parts.
func (s *Reader) chosenMasks(tip format.ID, named []MaskTarget) (done MaskResult, err error) {
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
