package recall

import (
	"cmp"
	"slices"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/view"
)

// manyClusters is the number of live clusters above which a rendering does not read all of them.
var manyClusters = 256 // a test sets it

// candidates returns the live clusters that a rendering of the branch at value may show, sorted by
// number, and how many it leaves out: those of other sessions only for which limitOthers has no
// room in any case. Clusters are looked at from the newest on, until each message of the branch is
// found. So a rendering of a current branch reads little of a forest of many thousand clusters.
func (r *clusterReader) candidates(
	st *forest.State, value format.Value, budget int,
) (list []*forest.Cluster, left int, err error) {
	live := st.Live()
	p := r.filter
	if len(live) <= manyClusters || p.single || p.line != nil || p.suffix != "" {
		return live, 0, nil
	}
	own := map[format.ID]bool{}
	missing := 0
	for e, err := range r.Walk(value.ID, history.WithJoined) {
		if err != nil {
			return nil, 0, err
		}
		if e.Kind == format.KindMessage && e.Session == p.session {
			own[e.ID] = true
			if e.Seq <= value.Through {
				missing++
			}
		}
	}
	slices.SortStableFunc(live,
		func(a, b *forest.Cluster) int { return cmp.Compare(b.Arrival, a.Arrival) })
	others := othersRoom(budget)/view.HeadingCost(view.Cluster{Members: 1}) + 1
	for i, c := range live {
		if missing == 0 && others == 0 {
			left += len(live) - i
			break
		}
		found := 0
		if missing > 0 {
			if found, err = ownMembers(st, c, own); err != nil {
				return nil, 0, err
			}
			missing -= found
		}
		switch {
		case found > 0:
			list = append(list, c)
		case others > 0:
			others--
			list = append(list, c)
		default:
			left++
		}
	}
	slices.SortFunc(list, func(a, b *forest.Cluster) int { return cmp.Compare(a.Number, b.Number) })
	return list, left, nil
}

// ownMembers counts the members of a cluster that are in own, among its first and its last ones.
func ownMembers(st *forest.State, c *forest.Cluster, own map[format.ID]bool) (n int, err error) {
	last := min(c.Count(), format.FanOut)
	first := min(c.Count()-last, sampledMembers)
	for _, part := range [][2]uint64{{0, first}, {c.Count() - last, c.Count()}} {
		members, err := st.Slice(c, part[0], part[1])
		if err != nil {
			return 0, err
		}
		for _, id := range members {
			if own[id] {
				n++
			}
		}
	}
	return n, nil
}
