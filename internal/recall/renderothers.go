package recall

import (
	"slices"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/brief"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/view"
	"github.com/gemini-ctx/ctx/refs"
)

// sampledMembers is the number of members at each end of a cluster that are read to find its
// sessions.
const sampledMembers = 16

// minOthersRoom is the smallest room, in quarters of a token, in which text of another session is
// printed.
const minOthersRoom = 200

// sessionsOf returns the other sessions of a cluster, sorted, according to its first and last
// members. alone is true if none of these members is of the session itself.
func (p *memberFilter) sessionsOf(
	st *forest.State, c *forest.Cluster,
) (names []string, alone bool, err error) {
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
	return p.sessionsOfMembers(append(slices.Clone(first), last...))
}

// sessionsOfMembers is sessionsOf for given members.
func (p *memberFilter) sessionsOfMembers(
	members []format.ID,
) (names []string, alone bool, err error) {
	alone = true
	for _, id := range members {
		e, err := p.Header(id)
		if err != nil {
			return nil, false, err
		}
		switch {
		case e.Session == p.session:
			alone = false
		case !slices.Contains(names, e.Session+p.suffix):
			names = append(names, e.Session+p.suffix)
		}
	}
	slices.Sort(names)
	return names, alone, nil
}

// isOthersOnly reports whether the first and the last member of an evicted cluster are of other
// sessions.
func (r *clusterReader) isOthersOnly(stone *format.Tombstone) (bool, error) {
	if r.filter == nil || r.filter.single {
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
	_, alone, err := r.filter.sessionsOfMembers(ends)
	return alone, err
}

// othersRoom returns the room for clusters of other sessions only, in quarters of a token.
func othersRoom(budget int) int {
	if budget > 0 {
		return view.OthersRoom(budget)
	}
	return 4 * projectBudget
}

// limitOthers limits the clusters that are of other sessions only. Together they get a fifth of the
// budget, or as much as the brief of a project if there is no budget. The cluster with the newest
// member comes first, and the summary of the last one that fits is cut. Clusters that are left out
// count as not listed.
func (r *clusterReader) limitOthers(st *forest.State, in *view.Input, budget int) {
	room := othersRoom(budget)
	arrival := map[format.ID]uint64{}
	for _, c := range st.Live() {
		if node, err := st.Node(c); err == nil {
			arrival[node] = c.Arrival
		}
	}
	var others []*view.Cluster
	for i := range in.Clusters {
		if in.Clusters[i].OthersOnly {
			others = append(others, &in.Clusters[i])
		}
	}
	slices.SortStableFunc(others,
		func(a, b *view.Cluster) int { return int(int64(arrival[b.ID]) - int64(arrival[a.ID])) })
	out := map[format.ID]bool{}
	for _, c := range others {
		room -= view.HeadingCost(*c)
		if room < minOthersRoom {
			out[c.ID], room = true, 0
			continue
		}
		for i := range c.Parts {
			room -= r.limitPart(&c.Parts[i], room)
		}
	}
	in.OlderTombstones += len(out)
	in.Clusters = slices.DeleteFunc(in.Clusters, func(c view.Cluster) bool { return out[c.ID] })
}

// limitPart limits a part to room bytes, and returns how many bytes it may have.
func (r *clusterReader) limitPart(part *view.Part, room int) int {
	if part.Text != "" {
		if len(part.Text) > room {
			part.Text = ""
		}
		return len(part.Text)
	}
	for i := range r.lists.Lists {
		if r.lists.Lists[i].Part == part {
			r.lists.Lists[i].Most = max(1, room)
			return min(room, len(r.lists.Lists[i].Body))
		}
	}
	return 0
}

// maxOtherSessions is the number of other sessions in which a rendering looks for related lines.
const maxOtherSessions = 4

// maxPrompts is the number of newest prompts that say what a branch is about.
const maxPrompts = 3

// readOthers returns lines of the newest other sessions that share at least two telling terms with
// the newest prompts of the branch, or with the question. All lines together cost at most room.
func (s *Reader) readOthers(v *refs.View, in *view.Input, room int) ([]view.OtherLine, error) {
	about := about(in)
	if len(about) == 0 {
		return nil, nil
	}
	list, _, err := s.newestSessions(v, in.Session, maxOtherSessions)
	if err != nil {
		return nil, err
	}
	var out []view.OtherLine
	for _, o := range list {
		name := history.BranchName{Session: o.Session, Branch: o.Branch}
		facts, root, _, err := s.AllFacts(name, v.Get(history.RefName(o.Session, o.Branch)))
		if err != nil {
			return nil, err
		}
		lines := brief.Choose(facts, brief.Options{Root: root, Room: room / len(list),
			Cost: view.BriefCost, About: about})
		for _, l := range lines {
			out = append(out, view.OtherLine{Session: o.Session, Entry: l.Entry, Text: l.Text})
		}
	}
	return out, nil
}

// about returns texts that say what a branch is about: the question and the newest prompts.
func about(in *view.Input) []string {
	var texts []string
	if in.Query != "" {
		texts = append(texts, in.Query)
	}
	left := maxPrompts
	for i := len(in.Tail) - 1; i >= 0 && left > 0; i-- {
		if m := in.Tail[i]; m.Role == "user" && m.Text != "" && !m.Update {
			texts = append(texts, m.Text)
			left--
		}
	}
	return texts
}
