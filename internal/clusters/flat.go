package clusters

import (
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/store"
)

// BeginFlat makes the flat forest of all clustered messages, by branch and then in order. It does
// not read the main forest, which may be damaged, but it applies the pending decisions of the
// transaction.
func (t *Tx) BeginFlat() error {
	cold := map[format.ID]bool{}
	var list []format.ID
	add := func(id format.ID) {
		if !cold[id] {
			cold[id] = true
			list = append(list, id)
		}
	}
	for _, name := range t.store.View.Names("sessions/") {
		ids, err := t.coldOf(t.store.View.Get(name))
		if err != nil {
			return err
		}
		for _, id := range ids {
			add(id)
		}
	}
	for _, d := range t.store.Decided(history.MainForest) {
		switch d.Kind {
		case format.DecideJoin, format.DecideRestore:
			add(d.ID)
		case format.DecideRetract:
			delete(cold, d.ID)
			list = slices.DeleteFunc(list, func(id format.ID) bool { return id == d.ID })
		}
	}
	joins := make([]format.Decision, len(list))
	for i, id := range list {
		joins[i] = format.Decision{Kind: format.DecideJoin, Cluster: store.FlatCluster, ID: id}
	}
	if err := t.store.DecideIn(history.FlatForest, joins...); err != nil {
		return err
	}
	_, err := t.store.WriteForestOf(history.FlatForest)
	return err
}

// coldOf returns the messages of a branch up to its frontier, oldest first.
func (s *Reader) coldOf(v format.Value) ([]format.ID, error) {
	var list []format.ID
	for e, err := range s.Walk(v.ID, history.WithJoined) {
		if err != nil {
			return nil, err
		}
		if e.Kind == format.KindMessage && e.Seq <= v.Frontier {
			list = append(list, e.ID)
		}
	}
	slices.Reverse(list)
	return list, nil
}

// RestoreFlat adds messages to the flat forest that were restored to the main forest, if the flat
// forest began after they were retracted and so does not have them.
func (t *Tx) RestoreFlat(back []format.Decision) error {
	if !t.store.HasFlat() || len(back) == 0 {
		return nil
	}
	ids := map[format.ID]bool{}
	for _, d := range back {
		ids[d.ID] = true
	}
	st, err := t.store.DraftOf(history.FlatForest)
	if err != nil {
		return err
	}
	there, err := st.Find(ids)
	if err != nil {
		return err
	}
	for _, d := range back {
		if _, ok := there[d.ID]; ok {
			continue
		}
		if err := t.store.DecideIn(history.FlatForest,
			format.Decision{Kind: format.DecideJoin, Cluster: store.FlatCluster,
				ID: d.ID}); err != nil {
			return err
		}
	}
	return nil
}
