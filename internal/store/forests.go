package store

import (
	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// FlatCluster is the number of the one cluster of the flat forest.
const FlatCluster = 0

// forestNames are the forests that a store can have, in the order in which operations name them.
var forestNames = []string{history.FlatForest, history.MainForest}

// draft is what a transaction does to one forest.
type draft struct {
	decided []format.Decision // since the last commit
	written format.ID         // the forest object that holds them; zero until it is made
	state   *forest.State     // with decided applied; nil until asked for
}

func (t *Tx) draft(name string) *draft {
	if name == history.FlatForest {
		return &t.flat
	}
	return &t.main
}

// HasFlat reports whether the store has a flat forest, which then has every member of the main one.
func (t *Tx) HasFlat() bool {
	return t.View.Get(history.ForestRefOf(history.FlatForest)).Exists() || !t.flat.written.IsZero()
}

// Forests returns the names of the forests that the store has.
func (t *Tx) Forests() []string {
	if t.HasFlat() {
		return forestNames
	}
	return []string{history.MainForest}
}

// Decide takes decisions about the main forest; the next commit records them. What joins the main
// forest joins the flat one too, where there is one.
func (t *Tx) Decide(list ...format.Decision) error {
	if err := t.DecideIn(history.MainForest, list...); err != nil || !t.HasFlat() {
		return err
	}
	for _, d := range list {
		if d.Kind != format.DecideJoin {
			continue
		}
		if err := t.DecideIn(history.FlatForest,
			format.Decision{Kind: format.DecideJoin, Cluster: FlatCluster, ID: d.ID}); err != nil {
			return err
		}
	}
	return nil
}

// DecideIn takes decisions about the named forest alone.
func (t *Tx) DecideIn(name string, list ...format.Decision) error {
	f := t.draft(name)
	if f.state != nil {
		if err := f.state.ApplyAll(list); err != nil {
			return err
		}
	}
	f.decided = append(f.decided, list...)
	return nil
}

// Decided returns the decisions about the named forest since the last commit.
func (t *Tx) Decided(name string) []format.Decision { return t.draft(name).decided }

// Draft returns the main forest with everything decided so far.
func (t *Tx) Draft() (*forest.State, error) { return t.DraftOf(history.MainForest) }

// DraftOf is Draft for the named forest.
func (t *Tx) DraftOf(name string) (*forest.State, error) {
	f := t.draft(name)
	if f.state != nil {
		return f.state, nil
	}
	st, err := t.TakeForest(t.View, name)
	if err != nil {
		return nil, err
	}
	if err := st.ApplyAll(f.decided); err != nil {
		return nil, err
	}
	f.state = st
	return st, nil
}

// WriteForestOf has the named forest written whole by the next commit, and returns its id.
func (t *Tx) WriteForestOf(name string) (format.ID, error) {
	st, err := t.DraftOf(name)
	if err != nil {
		return format.ID{}, err
	}
	w, err := st.Write()
	if err != nil {
		return format.ID{}, err
	}
	t.Add(w.Objects...)
	t.draft(name).written = w.Forest
	return w.Forest, nil
}

// WriteForests is WriteForestOf for every forest that the store has.
func (t *Tx) WriteForests() error {
	for _, name := range t.Forests() {
		if _, err := t.WriteForestOf(name); err != nil {
			return err
		}
	}
	return nil
}

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
