package recall

import (
	"errors"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/internal/view"
	"github.com/gemini-ctx/ctx/objects"
)

const (
	// shownTombstones is the number of tombstones that a rendering reads. The others are only counted.
	shownTombstones = 20

	// maxEvicted is the number of evicted clusters, the newest, among which a rendering under a budget
	// chooses.
	maxEvicted = 256
)

// clusterReader reads the clusters of a pin for the rendering of one branch.
type clusterReader struct {
	*Reader
	lists  *summaries.ListReader
	filter *memberFilter // which members the branch renders
}

// liveCluster reads a live cluster. It returns the zero Cluster if the branch renders none of its
// members.
func (r *clusterReader) liveCluster(st *forest.State, c *forest.Cluster) (view.Cluster, error) {
	node, err := st.Node(c)
	if err != nil {
		return view.Cluster{}, err
	}
	cluster := view.Cluster{ID: node, Members: int(c.Count())}
	if cluster.Sessions, cluster.OthersOnly, err = r.filter.sessionsOf(st, c); err != nil {
		return cluster, err
	}
	cut, err := r.filter.partialLive(st, c)
	if err != nil {
		return cluster, err
	}
	if cut != nil {
		shown := cut.shown(0, c.Count())
		if len(shown) == 0 {
			return view.Cluster{}, nil
		}
		cluster.Members = len(shown)
		first, last, err := r.clusters.Headers(shown[0], shown[len(shown)-1])
		if err != nil {
			return cluster, err
		}
		cluster.First, cluster.Last = first.Time, last.Time
		cluster.Parts, err = r.partialParts(c.Covers, cut)
		return cluster, err
	}
	first, last, err := r.clusters.FirstAndLast(st, c)
	if err != nil {
		return cluster, err
	}
	cluster.First, cluster.Last = first.Time, last.Time
	cluster.Parts, err = r.lists.PartsOf(c.Covers, true)
	return cluster, err
}

// readEvicted reads the newest tombstones. With summaries it also reads the summaries of more
// evicted clusters.
func (r *clusterReader) readEvicted(st *forest.State, in *view.Input, summaries bool) error {
	most := shownTombstones
	if summaries {
		most = maxEvicted
	}
	newest, all, err := st.NewestEvicted(most)
	if err != nil {
		return err
	}
	in.OlderTombstones = int(all) - min(len(newest), shownTombstones)
	for i, e := range newest {
		stone, line, err := r.clusters.Tombstone(e.Tombstone)
		if err != nil {
			return err
		}
		if cut, err := r.filter.partialTombstone(stone.Node); err != nil {
			return err
		} else if cut != nil {
			// The line and the summary may contain text of another branch. A tombstone with a member
			// that this branch has counts as not listed.
			if i < shownTombstones && len(cut.shown(0, stone.Count)) > 0 {
				in.OlderTombstones++
			}
			continue
		}
		if is, err := r.isOthersOnly(stone); err != nil {
			return err
		} else if is {
			if i < shownTombstones {
				in.OlderTombstones++
			}
			continue
		}
		if i < shownTombstones {
			in.Tombstones = append(in.Tombstones,
				view.Tombstone{ID: stone.Node, Line: line, Members: int(stone.Count)})
		}
		if !summaries {
			continue
		}
		parts, err := r.lists.Parts([]format.Cover{{Summary: stone.Summary, Count: stone.Count}})
		var gone *objects.GoneError
		if err != nil && !errors.As(err, &gone) {
			return err
		}
		in.Evicted = append(in.Evicted,
			view.Cluster{ID: stone.Node, Members: int(stone.Count), Parts: parts})
	}
	return nil
}
