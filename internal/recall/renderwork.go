package recall

import (
	"slices"
	"sync"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/internal/view"
)

// keptFacts are the facts of a branch for renderings of it that differ in their pins.
type keptFacts struct {
	mu      sync.Mutex
	tip     format.ID
	through uint64
	facts   *sessions.BranchFacts // nil until read
}

// of returns the facts up to a message, and reads them unless it did that last.
func (k *keptFacts) of(
	tip format.ID, through uint64, read func() (*sessions.BranchFacts, error),
) (w *sessions.BranchFacts, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.facts == nil || k.tip != tip || k.through != through {
		if w, err = read(); err != nil {
			return nil, err
		}
		k.tip, k.through, k.facts = tip, through, w
	}
	return k.facts, nil
}

// readWork reads the facts of the work of an agent; it returns nil if the branch is not an agent's.
// It sets in.Through, where the prefix ends: at the end of the pin or, if bounded is true and the
// pin lags behind or is missing, at the start of the window.
func (s *Reader) readWork(
	kept *keptFacts, v format.Value, in *view.Input, bounded bool,
) (*view.Work, error) {
	tip, err := s.Header(v.ID)
	if err != nil {
		return nil, err
	}
	if bounded {
		in.Through = s.DigestBorder(v, tip)
	}
	w, err := kept.of(v.ID, in.Through, func() (*sessions.BranchFacts, error) {
		return s.ReadFacts(history.BranchName{Session: in.Session, Branch: in.Branch}, v.ID,
			in.Through, false)
	})
	if err != nil {
		return nil, err
	}
	if !w.Agent {
		in.Through = v.Through
		return nil, nil
	}
	return &view.Work{Facts: w.Before, Tail: w.After, Whole: w.Whole, Root: w.Root}, nil
}

// readWorkClusters reads the clusters that contain the facts of a branch: their headings and
// labels, and the texts of models, but no ranked extracts.
func (r *clusterReader) readWorkClusters(st *forest.State, in *view.Input) error {
	entries := map[format.ID]bool{}
	for _, f := range in.Work.Facts {
		if entries[f.Entry] {
			continue
		}
		// No cluster has a note: one that is looked for makes Find read the whole forest.
		e, err := r.Header(f.Entry)
		if err != nil {
			return err
		}
		if e.Kind == format.KindMessage {
			entries[f.Entry] = true
		}
	}
	places, err := st.Find(entries)
	if err != nil {
		return err
	}
	nodes := map[uint64]format.ID{}
	for _, f := range in.Work.Facts {
		p, ok := places[f.Entry]
		if !ok {
			continue
		}
		if _, known := nodes[p.Cluster]; known {
			continue
		}
		c, err := r.workCluster(st, p.Cluster)
		if err != nil {
			return err
		}
		if !c.ID.IsZero() {
			in.Clusters = append(in.Clusters, c)
		}
		nodes[p.Cluster] = c.ID
	}
	return r.addLabels(st, in, nodes)
}

// addLabels sets the labels of the live clusters of an input. nodes has the nodes of the clusters
// by number.
func (r *clusterReader) addLabels(
	st *forest.State, in *view.Input, nodes map[uint64]format.ID,
) error {
	var live []*forest.Cluster
	for _, c := range st.Live() {
		if nodes[c.Number].IsZero() {
			continue
		}
		cut, err := r.filter.partialLive(st, c)
		if err != nil {
			return err
		}
		// Else the label may contain words of another branch
		if cut == nil || !cut.hides(0, c.Count()) {
			live = append(live, c)
		}
	}
	labels, err := r.summaries.LiveLabels(st, live)
	if err != nil {
		return err
	}
	for _, c := range live {
		for i := range in.Clusters {
			if in.Clusters[i].ID == nodes[c.Number] {
				in.Clusters[i].Label = labels[c.Number]
			}
		}
	}
	return nil
}

// workCluster reads a cluster, live or evicted, without ranked extracts, but for what they have on
// a focus.
func (r *clusterReader) workCluster(st *forest.State, number uint64) (view.Cluster, error) {
	var c view.Cluster
	if live := st.Cluster(number); live != nil {
		var err error
		if c, err = r.liveCluster(st, live); err != nil {
			return c, err
		}
	} else {
		id, ok, err := st.Tombstone(number)
		if err != nil || !ok {
			return c, err
		}
		stone, line, err := r.clusters.Tombstone(id)
		if err != nil {
			return c, err
		}
		if cut, err := r.filter.partialTombstone(stone.Node); err != nil || cut != nil {
			return c, err // the line and the summary may contain words of another branch
		}
		c = view.Cluster{ID: stone.Node, Members: int(stone.Count),
			Label: clusters.LabelOfLine(line)}
		if c.Parts, err = r.lists.PartsOf(
			[]format.Cover{{Summary: stone.Summary, Count: stone.Count}}, true); err != nil {
			return c, err
		}
	}
	if err := r.lists.TakeFocus(); err != nil {
		return c, err
	}
	c.Parts = slices.DeleteFunc(c.Parts, func(p view.Part) bool { return p.Text == "" })
	return c, nil
}
