package conversation

import (
	"context"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// GraduateAndAdoptAll is GraduateAndAdopt for the branch main of each session, in this order. It
// makes the same decisions, and records as many sessions in one operation as one record carries.
func (s *Writer) GraduateAndAdoptAll(ctx context.Context, sessions []string) error {
	for len(sessions) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := 0
		err := s.Locked(ctx, func(t *Tx) (err error) {
			n, err = t.graduateSome(sessions)
			return err
		})
		if err == nil && n == 0 {
			n = 1
			_, err = s.GraduateAndAdopt(ctx, sessions[0], history.MainBranch)
		}
		if err != nil {
			return err
		}
		for _, session := range sessions[:n] { // most of them are over
			s.DropHead(session, history.MainBranch)
		}
		sessions = sessions[n:]
	}
	return nil
}

// graduatedMessages is how many messages graduate in one operation of several sessions, at most. It
// bounds how long the lock is held: some 50 ms on an idle machine.
const graduatedMessages = 512

// graduateSome graduates the first sessions in one operation, and returns how many. It returns 0 if
// the first one takes more than one operation, or is not there.
func (t *Tx) graduateSome(sessions []string) (n int, err error) {
	t.store.ResumeForest(history.MainForest)
	t.store.BeforeOthers()
	t.store.Hold()
	op := &format.Operation{Verb: refs.VerbGraduate}
	seen := 0
	for _, session := range sessions {
		name := history.RefName(session, history.MainBranch)
		old := t.store.View.Get(name)
		if !old.Exists() {
			break
		}
		h, err := t.Head(session, history.MainBranch, old)
		if err != nil {
			return 0, err
		}
		if h.Lags || len(h.Items) > history.MaxBacklog ||
			n > 0 && seen+len(h.Items) > graduatedMessages {
			break
		}
		n, seen = n+1, seen+len(h.Items)
		if h.Fork != "" {
			continue
		}
		told, err := t.graduateAndAdopt(h)
		if err != nil {
			return 0, err
		}
		if err := t.store.Flush(); err != nil { // the next session reads the summaries
			return 0, err
		}
		if h.Value == old {
			continue
		}
		if op.Session = session; len(op.Refs) > 0 {
			op.Session = "" // it is about several
		}
		op.Refs = append(append(op.Refs, format.RefUpdate{Name: name, Old: old, New: h.Value}),
			told...)
	}
	if n == 0 {
		return 0, nil
	}
	return n, t.recordGraduation(op)
}

// graduateAndAdopt is what GraduateAndAdopt does with a branch, without the record.
func (t *Tx) graduateAndAdopt(h *history.Head) (told []format.RefUpdate, err error) {
	if err := t.clusters.GraduateDue(h); err != nil {
		return nil, err
	}
	st, err := t.store.Draft()
	if err != nil {
		return nil, err
	}
	var bare []*forest.Cluster
	for _, c := range st.Live() {
		if !c.Renderable() {
			bare = append(bare, c)
		}
	}
	if len(bare) > 0 {
		if t.extracts, err = t.extractNow(st); err != nil {
			return nil, err
		}
		for _, c := range bare {
			if err := t.addInterims(st, c); err != nil {
				return nil, err
			}
		}
	}
	return t.adoptIfLong(h)
}

// recordGraduation commits what several sessions have graduated.
func (t *Tx) recordGraduation(op *format.Operation) error {
	decided := len(t.store.Decided(history.MainForest)) > 0
	if !decided && t.store.View.PendingCount(history.MainForest) == 0 && len(op.Refs) == 0 {
		t.store.KeepForest(history.MainForest)
		return nil
	}
	if _, err := t.store.WriteForestOf(history.MainForest); err != nil {
		return err
	}
	if err := t.store.Commit(op); err != nil {
		return err
	}
	if err := t.store.ShortenLog(); err != nil {
		return err
	}
	t.store.KeepForest(history.MainForest)
	return nil
}
