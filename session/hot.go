package session

import (
	"context"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session/window"
)

// tailFrom returns up to which message a pin speaks for a branch of seq messages that leaves now: the tail begins after it. That is as many messages
// before the tip as the window says, or fewer where a result of the tail would be parted from its call; never past the frontier.
func (t *tx) tailFrom(v format.Value, seq uint64) (uint64, error) {
	border := window.Leave(v.Frontier, seq, t.params())
	if border == v.Frontier {
		return border, nil // graduation parts no call from its result
	}
	if err := t.flush(); err != nil { // the tip may be of this operation
		return 0, err
	}
	tail := leaving{ids: map[format.ID]bool{}}
	from, looked := border, 0
	err := t.back(v.ID, func(id format.ID, e *format.Entry) bool {
		if e.Kind == format.KindMessage && e.Seq <= border {
			if looked++; len(tail.results) == 0 || looked > maxPairDistance {
				return false
			}
			if tail.answers(e) {
				from = e.Seq - 1
			}
		}
		tail.add(id, e)
		return true
	})
	return from, err
}

// leaveIfLong has a branch leave whose tail has grown past window.evict_at, if that makes the tail shorter. It returns how the ref of its epoch moves.
func (t *tx) leaveIfLong(h *head) (told []format.RefUpdate, err error) {
	if !t.params().Crosses(h.Seq, h.value.Through) || h.value.Frontier <= h.value.Through {
		return nil, nil
	}
	from, err := t.tailFrom(h.value, h.Seq)
	if err != nil || from <= h.value.Through {
		return nil, err
	}
	v, err := t.leave(h.value, h.Seq)
	if err != nil {
		return nil, err
	}
	h.value, told, err = t.foldAt(h.session, h.branch, v, h.Seq)
	return told, err
}

// GraduateAndLeave is Graduate, and then has the branch leave if its tail has grown past window.evict_at: for whoever has appended batches with
// NoGraduation.
func (s *Store) GraduateAndLeave(ctx context.Context, session, branch string) (Graduation, error) {
	g, err := s.Graduate(ctx, session, branch)
	if err != nil {
		return g, err
	}
	return g, s.locked(ctx, func(t *tx) error {
		name := RefName(session, branch)
		old := t.view.Get(name)
		if !old.Exists() {
			return nil // removed meanwhile
		}
		h, err := t.head(session, branch, old)
		if err != nil || h.Fork != "" {
			return err
		}
		told, err := t.leaveIfLong(h)
		if err != nil || h.value == old {
			return err
		}
		op := &format.Operation{Verb: refs.VerbGraduate, Session: session, Refs: told}
		op.Refs = append(op.Refs, format.RefUpdate{Name: name, Old: old, New: h.value})
		if err := t.commit(op); err != nil {
			return err
		}
		g.Forest = t.view.Get(forestRef).ID
		t.saveHead(h)
		return t.shortenLog()
	})
}
