package session

import (
	"slices"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session/view"
)

// What a rendering says of other sessions of the project. Their clusters are in the forest that all sessions share; they get a fifth of a budget at most, and
// without a budget no more than the brief of a project.

// sampledMembers is how many members at each end of a cluster say which sessions it is of.
const sampledMembers = 16

// leastElsewhere is the least room, in bytes, that is worth a cluster of another session.
const leastElsewhere = 200

// sessionsOf returns the other sessions that a cluster is of, sorted, as its first and last members tell; alone says that it is of no other than these.
func (p *pinned) sessionsOf(st *forest.State, c *forest.Cluster) (names []string, alone bool, err error) {
	if p == nil || p.single {
		return nil, false, nil
	}
	first, err := st.Slice(c, 0, min(c.Count(), sampledMembers))
	if err != nil {
		return nil, false, err
	}
	last, err := st.Slice(c, c.Count()-min(c.Count(), sampledMembers), c.Count())
	if err != nil {
		return nil, false, err
	}
	return p.sessionsIn(append(slices.Clone(first), last...))
}

// sessionsIn is sessionsOf for some members.
func (p *pinned) sessionsIn(members []format.ID) (names []string, alone bool, err error) {
	alone = true
	for _, id := range members {
		e, err := p.entry(id)
		if err != nil {
			return nil, false, err
		}
		switch {
		case e.Session == p.session:
			alone = false
		case !slices.Contains(names, e.Session):
			names = append(names, e.Session)
		}
	}
	slices.Sort(names)
	return names, alone, nil
}

// isElsewhere reports whether an evicted cluster is of other sessions alone, as its first and last members tell.
func (r *listReader) isElsewhere(stone *format.Tombstone) (bool, error) {
	if r.pin == nil || r.pin.single {
		return false, nil
	}
	var ends []format.ID
	for _, at := range []uint64{0, stone.Count - 1} {
		one, err := forest.Slice(r.Loader(), stone.Node, at, at+1)
		if err != nil {
			return false, err
		}
		ends = append(ends, one...)
	}
	_, alone, err := r.pin.sessionsIn(ends)
	return alone, err
}

// elsewhere keeps of the clusters that are of other sessions alone as many as there is room for, those of the newest arrival first, and cuts the summary of the
// last one. Clusters that are left out are counted with what is not listed.
func (r *listReader) elsewhere(st *forest.State, in *view.Input, budget int) {
	room := 4 * projectBudget
	if budget > 0 {
		room = view.OthersRoom(budget)
	}
	arrival := map[format.ID]uint64{}
	for _, c := range st.Live() {
		if node, err := st.Node(c); err == nil {
			arrival[node] = c.Arrival
		}
	}
	var others []*view.Cluster
	for i := range in.Clusters {
		if in.Clusters[i].Elsewhere {
			others = append(others, &in.Clusters[i])
		}
	}
	slices.SortStableFunc(others, func(a, b *view.Cluster) int { return int(int64(arrival[b.ID]) - int64(arrival[a.ID])) })
	out := map[format.ID]bool{}
	for _, c := range others {
		room -= view.HeadingCost(*c)
		if room < leastElsewhere {
			out[c.ID], room = true, 0
			continue
		}
		for i := range c.Parts {
			room -= r.limit(&c.Parts[i], room)
		}
	}
	in.OlderTombstones += len(out)
	in.Clusters = slices.DeleteFunc(in.Clusters, func(c view.Cluster) bool { return out[c.ID] })
}

// limit has a part say no more than room bytes, and returns how many it says at most.
func (r *listReader) limit(part *view.Part, room int) int {
	if part.Text != "" {
		if len(part.Text) > room {
			part.Text = ""
		}
		return len(part.Text)
	}
	for i := range r.lists {
		if r.lists[i].part == part {
			r.lists[i].most = max(1, room)
			return min(room, len(r.lists[i].body))
		}
	}
	return 0
}

// AddProject tells a branch that has not left yet of its project: the brief that a session which does not exist yet renders, of the sessions whose newest
// messages are older than its own first one. A session that goes on beside it is left out, so that not every message there changes what is rendered here. Of a budget it takes a fifth at most, and none of what
// the branch's own messages need. At its first leave the clusters of other sessions take its place.
func (s *Store) AddProject(v *refs.View, in *view.Input, budget int) error {
	if !in.Pin.IsZero() || in.Unread > 0 || len(in.Tail) == 0 || in.Work != nil && budget > 0 {
		return nil
	}
	first := in.Tail[0]
	if first.Seq != 1 || first.Time.IsZero() {
		return nil
	}
	if _, child, err := s.ParentOf(v, in.Session); err != nil || child {
		return err
	}
	newest, err := s.newestSessions(v, in.Session, len(v.Names("sessions/")))
	if err != nil {
		return err
	}
	newest = slices.DeleteFunc(newest, func(b SessionBrief) bool { return b.Last.After(first.Time) })
	newest = newest[:min(len(newest), projectSessions)]
	room := view.BriefRoom(projectBudget)
	if budget > 0 {
		room = min(view.OthersRoom(budget), view.BriefRoom(budget)-2*view.TailSize(in.Tail))
	}
	room = room*7/8 - view.ProjectFrame(projectView(newest))
	if len(newest) == 0 || room < leastElsewhere {
		return nil
	}
	if err := s.addLines(v, newest, room, view.BriefCost); err != nil {
		return err
	}
	if !slices.ContainsFunc(newest, func(b SessionBrief) bool { return len(b.Lines) > 0 }) {
		return nil
	}
	in.Epoch = append([]view.EpochPart{{Key: "project", Text: view.ProjectText(projectView(newest))}}, in.Epoch...)
	return nil
}
