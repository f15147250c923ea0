package conversation

import (
	"context"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// Sessions that work for a session, as those of subagents do, are removed and come back with it.
// Each removal is an operation of its own, that of the session itself the last one.

// RemoveTree is RemoveSession for a session and for those that work for it, which it returns.
func (s *Writer) RemoveTree(
	ctx context.Context, session string,
) (messages int, workers []string, err error) {
	if workers, err = s.removeWorkers(ctx, session); err == nil {
		messages, err = s.RemoveSession(ctx, session)
	}
	return messages, workers, err
}

// removeWorkers removes the sessions that work for a session.
func (s *Writer) removeWorkers(
	ctx context.Context, session string,
) (removed []string, err error) {
	view, err := s.Refs.Read()
	if err != nil {
		return nil, err
	}
	parents := map[string][]string{}
	for _, ref := range view.Names(history.ParentRef("")) {
		name := strings.TrimPrefix(ref, history.ParentRef(""))
		p, ok, err := s.ParentOf(view, name)
		if err != nil {
			return nil, err
		}
		if ok && len(history.BranchesIn(view, name)) > 0 {
			parents[p.Session] = append(parents[p.Session], name)
		}
	}
	found := []string{session}
	for i := 0; i < len(found); i++ {
		for _, worker := range parents[found[i]] {
			if !slices.Contains(found, worker) { // links may make a ring
				found = append(found, worker)
			}
		}
	}
	for _, worker := range slices.Backward(found[1:]) {
		if _, err := s.RemoveSession(ctx, worker); err != nil {
			return removed, err
		}
		removed = append(removed, worker)
	}
	return removed, nil
}

// applyToWorkers has an undo or a redo of a removal reach the sessions that work for the session.
func (s *Writer) applyToWorkers(
	ctx context.Context, session, verb string, done *Undone,
) error {
	if verb == refs.VerbRedo {
		_, err := s.removeWorkers(ctx, session)
		return err
	}
	view, err := s.Refs.Read()
	if err != nil {
		return err
	}
	back := []string{session}
	err = s.Refs.Backward(view, func(r refs.Record) bool {
		op := r.Op
		if op.Number >= done.Operation {
			return true
		}
		i := slices.IndexFunc(op.Refs, func(u format.RefUpdate) bool {
			return u.Name == history.ParentRef(op.Session) && !u.New.Exists()
		})
		if op.Verb != refs.VerbSessionRm || i < 0 {
			return false
		}
		p, ok, err := s.ParentAt(op.Session, op.Refs[i].Old)
		if err != nil || !ok || !slices.Contains(back, p.Session) {
			return false
		}
		back = append(back, op.Session)
		return true
	})
	for _, worker := range back[1:] {
		if err != nil {
			break
		}
		var more Undone
		more, err = s.applyOne(ctx, worker, verb, func(*Tx, *Undone) error { return nil })
		done.Back += more.Back
	}
	return err
}
