package conversation

import (
	"context"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// Graduate moves every due unit of a branch into the forest, each batch in an operation of its own.
// It then gives interim summaries to clusters that have none, so that the next adoption has little
// to do, and writes the forest.
func (s *Writer) Graduate(
	ctx context.Context, session, branch string,
) (clusters.Graduation, error) {
	g, err := s.clusters.GraduateAll(ctx, session, branch, nil)
	for more := true; more && err == nil; {
		if err = ctx.Err(); err != nil {
			return g, err
		}
		made := s.extract()
		err = s.Locked(ctx, func(t *Tx) error {
			t.extracts = made
			if more, err = t.addSomeInterims(session); err != nil || more {
				return err
			}
			st, err := t.store.Draft()
			if err != nil {
				return err
			}
			g.Roots, g.Forest = len(st.Live()), t.store.View.Get(history.ForestRef).ID
			if t.store.View.PendingCount(history.MainForest) > 0 {
				if g.Forest, err = t.store.WriteForestOf(history.MainForest); err != nil {
					return err
				}
				if err := t.store.Commit(&format.Operation{Verb: refs.VerbGraduate,
					Session: session}); err != nil {
					return err
				}
			}
			return t.store.ShortenLog()
		})
	}
	return g, err
}

// addSomeInterims gives interim summaries to some clusters that cannot be rendered whole, in one
// operation. more says that there are others.
func (t *Tx) addSomeInterims(session string) (more bool, err error) {
	t.store.ResumeForest(history.MainForest)
	t.store.BeforeOthers()
	st, err := t.store.Draft()
	if err != nil {
		return false, err
	}
	made, most := 0, clusters.SmallBatch
	if t.extracts.holdFor(t.store.View) {
		most = clusters.InterimBatch
	}
	for _, c := range st.Live() {
		if c.Renderable() {
			continue
		}
		if made == most {
			more = true
			break
		}
		if err := t.addInterims(st, c); err != nil {
			return false, err
		}
		made++
	}
	if made == 0 {
		return false, nil
	}
	if err := t.store.Commit(&format.Operation{Verb: refs.VerbGraduate,
		Session: session}); err != nil {
		return false, err
	}
	t.store.KeepForest(history.MainForest) // or each batch would read all of it
	return more, nil
}

// GraduateAndAdopt is Graduate; then the branch adopts the forest if its tail has grown past
// window.evict_at. It completes batches appended with NoGraduation.
func (s *Writer) GraduateAndAdopt(
	ctx context.Context, session, branch string,
) (clusters.Graduation, error) {
	g, err := s.Graduate(ctx, session, branch)
	if err != nil {
		return g, err
	}
	return g, s.Locked(ctx, func(t *Tx) error {
		name := history.RefName(session, branch)
		old := t.store.View.Get(name)
		if !old.Exists() {
			return nil // removed meanwhile
		}
		h, err := t.Head(session, branch, old)
		if err != nil || h.Fork != "" {
			return err
		}
		told, err := t.adoptIfLong(h)
		if err != nil || h.Value == old {
			return err
		}
		op := &format.Operation{Verb: refs.VerbGraduate, Session: session, Refs: told}
		op.Refs = append(op.Refs, format.RefUpdate{Name: name, Old: old, New: h.Value})
		if err := t.store.Commit(op); err != nil {
			return err
		}
		g.Forest = t.store.View.Get(history.ForestRef).ID
		t.SaveHead(h)
		return t.store.ShortenLog()
	})
}
