package store

import (
	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// A compaction has many transactions, one after the other, and each would read the forest anew: all
// live clusters. So it keeps the forest between them, as of the operation that was recorded last.
// Where another process has recorded one since, the forest is read.

// kept is a forest as of an operation.
type kept struct {
	number uint64
	digest format.ID
	state  *forest.State
}

// TakeForest returns the forest of a name as of view. The caller may change it; whoever has not
// changed it may give it back.
func (s *Store) TakeForest(view *refs.View, name string) (*forest.State, error) {
	if st := s.takeKept(view, name); st != nil {
		return st, nil
	}
	return s.ForestOf(view, name)
}

func (s *Store) takeKept(view *refs.View, name string) *forest.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.kept[name]
	delete(s.kept, name)
	if k.state == nil || k.number != view.Number || k.digest != view.Digest {
		return nil
	}
	return k.state
}

// GiveForest gives the forest of a name as of view for the next TakeForest, or for the next
// transaction.
func (s *Store) GiveForest(view *refs.View, name string, st *forest.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = map[string]kept{}
	}
	s.kept[name] = kept{number: view.Number, digest: view.Digest, state: st}
}

// ResumeForest has the transaction go on with the forest of a name if it was kept. Without it, the
// transaction would not take the forest before it needs it, and what it decides would be missing
// in the one that was kept.
func (t *Tx) ResumeForest(name string) {
	f := t.draft(name)
	if f.state == nil && len(f.decided) == 0 {
		f.state = t.takeKept(t.View, name)
	}
}

// KeepForest gives the forest of a name as the transaction leaves it. The transaction must decide
// nothing more.
func (t *Tx) KeepForest(name string) {
	f := t.draft(name)
	if f.state != nil && len(f.decided) == 0 && f.written.IsZero() {
		f.state.Forget()
		t.GiveForest(t.View, name, f.state)
		f.state = nil
	}
}
