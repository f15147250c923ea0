package conversation

import (
	"slices"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
)

// dropShared takes the clusters of a session of another store, which is removed, out of the forest
// that the store shares: the words of the session go, and the summaries have some of them. It keeps
// the clusters with messages of the store's other sessions alone.
func (t *Tx) dropShared(session, label string) ([]format.RefUpdate, error) {
	view := t.store.View
	st, err := t.SharedForest(view, label)
	if st == nil || err != nil {
		return nil, err
	}
	stay := map[format.ID]bool{}
	for _, ref := range view.Names("sessions/") {
		other, _, _ := history.BranchOfRef(ref)
		if of, shared := history.Owner(view, other); !shared || of != label || other == session {
			continue
		}
		if err := t.Reach(stay, view.Get(ref).ID); err != nil {
			return nil, err
		}
	}
	keep := func(members []format.ID) bool {
		return !slices.ContainsFunc(members, func(id format.ID) bool { return !stay[id] })
	}
	err = st.Keep(func(c *forest.Cluster) (bool, error) {
		members, err := st.Members(c)
		return err == nil && keep(members), err
	}, func(e forest.Evicted) (bool, error) {
		stone, err := t.Loader().Tombstone(e.Tombstone)
		if err != nil {
			return false, err
		}
		var members []format.ID
		err = t.clusters.EachMember(stone.Node,
			func(id format.ID) error { members = append(members, id); return nil })
		return err == nil && keep(members), err
	})
	if err != nil {
		return nil, err
	}
	move := format.RefUpdate{Name: history.SharedForestRef(label),
		Old: view.Get(history.SharedForestRef(label))}
	if !st.Empty() {
		written, err := st.Write()
		if err != nil {
			return nil, err
		}
		t.store.Add(written.Objects...)
		move.New = format.Value{Kind: format.ObjectValue, ID: written.Forest}
	}
	if move.Old == move.New {
		return nil, nil
	}
	return []format.RefUpdate{move}, nil
}
