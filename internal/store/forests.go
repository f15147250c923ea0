package store

import (
	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
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
