package compaction

import (
	"context"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// maxRevived is how many evicted clusters, the newest, a focus looks at: a rendering chooses among
// as many.
const maxRevived = 256

// revive makes those evicted clusters of the sessions live again whose extracts have a term of the
// focus, so that they get another one. They leave again when the compaction ends.
func (r *Compaction) revive(ctx context.Context) error {
	if r.o.Focus == "" || r.o.Summarizer != nil || r.Forest != history.MainForest {
		return nil
	}
	nodes, err := r.evictedOnFocus()
	if err != nil || len(nodes) == 0 {
		return err
	}
	return r.Locked(ctx, func(t *Tx) error {
		for _, node := range nodes {
			at, err := t.clusters.Lookup().AnyCluster(node)
			if err != nil || at.Live != nil {
				continue // it has changed since
			}
			if err := t.bare(&at); err != nil {
				return err
			}
		}
		if len(t.store.Decided(r.Forest)) == 0 {
			return nil
		}
		return t.store.Commit(&format.Operation{Verb: refs.VerbCompact})
	})
}

// evictedOnFocus returns the nodes of the clusters to revive.
func (r *Compaction) evictedOnFocus() (nodes []format.ID, err error) {
	view, err := r.Refs.Read()
	if err != nil {
		return nil, err
	}
	st, err := r.TakeForest(view, r.Forest)
	if err != nil {
		return nil, err
	}
	defer r.GiveForest(view, r.Forest, st)
	newest, _, err := st.NewestEvicted(maxRevived)
	if err != nil {
		return nil, err
	}
	for _, e := range newest {
		stone, _, err := r.clusters.Tombstone(e.Tombstone)
		if err != nil {
			return nil, err
		}
		list, _, err := r.summaries.ReadExtract(stone.Summary)
		if err != nil {
			if err = history.ButGone(err); err != nil {
				return nil, err
			}
			continue
		}
		if !summarize.Touches(list, r.o.Focus) {
			continue
		}
		header, err := r.Header(list[0].Entry)
		if err != nil {
			return nil, err
		}
		if r.owners.FocusOf[header.Session] {
			nodes = append(nodes, stone.Node)
		}
	}
	return nodes, nil
}
