package clusters

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// ClusterInfo is a cluster as `forest` lists it.
type ClusterInfo struct {
	ID        format.ID // its node
	Number    uint64
	Tombstone format.ID // zero while it is live
	Count     uint64
	Covers    []format.Cover
	Dirty     bool
	Line      string // of a tombstone
	Label     string // of a tombstone; of a live cluster once SetLabels was called
	Arrival   uint64
	First     *format.Entry // the earlier one by time of its oldest and newest member
	Last      *format.Entry // the later one

	Opening []format.ID // the first members of a live cluster
}

// LiveInfos reads live clusters.
func (s *Reader) LiveInfos(
	st *forest.State, live []*forest.Cluster,
) (list []ClusterInfo, err error) {
	infos := map[*forest.Cluster]ClusterInfo{}
	for _, c := range st.Placed(live) {
		info := ClusterInfo{Number: c.Number, Count: c.Count(), Covers: c.Covers, Dirty: c.Dirty(),
			Arrival: c.Arrival}
		if info.ID, err = st.Node(c); err == nil {
			info.First, info.Last, err = s.FirstAndLast(st, c)
		}
		if err == nil {
			info.Opening, err = st.Slice(c, 0, min(c.Count(), OpeningMembers))
		}
		if err != nil {
			return nil, err
		}
		infos[c] = info
	}
	return lists.Map(live, func(c *forest.Cluster) ClusterInfo { return infos[c] }), nil
}

// Infos reads all clusters: the live ones, then the evicted ones.
func (s *Reader) Infos(st *forest.State) ([]ClusterInfo, error) {
	return s.InfosOf(st, func(uint64) bool { return true })
}

// InfosOf reads the clusters whose numbers are wanted, in the order of Infos.
func (s *Reader) InfosOf(st *forest.State, wanted func(number uint64) bool) ([]ClusterInfo, error) {
	list, err := s.LiveInfos(st, slices.DeleteFunc(st.Live(),
		func(c *forest.Cluster) bool { return !wanted(c.Number) }))
	if err != nil {
		return nil, err
	}
	evicted, err := st.Evicted()
	if err != nil {
		return nil, err
	}
	for _, e := range evicted {
		if !wanted(e.Cluster) {
			continue
		}
		info, err := s.evictedInfo(e)
		if err != nil {
			return nil, err
		}
		list = append(list, info)
	}
	return list, nil
}

func (s *Reader) evictedInfo(e forest.Evicted) (ClusterInfo, error) {
	stone, line, err := s.Tombstone(e.Tombstone)
	if err != nil {
		return ClusterInfo{}, err
	}
	info := ClusterInfo{
		ID: stone.Node, Number: e.Cluster, Tombstone: e.Tombstone, Count: stone.Count, Line: line,
		Label: LabelOfLine(line), Arrival: stone.Arrival,
		Covers: []format.Cover{{Summary: stone.Summary, Count: stone.Count}},
	}
	info.First, info.Last, err = s.ends(stone.Count, func(from, to uint64) ([]format.ID, error) {
		return forest.Slice(s.Loader(), stone.Node, from, to)
	})
	return info, err
}

// FirstAndLast reads a cluster's oldest and newest members, the earlier one by time first.
func (s *Reader) FirstAndLast(
	st *forest.State, c *forest.Cluster,
) (*format.Entry, *format.Entry, error) {
	return s.ends(c.Count(), func(from, to uint64) ([]format.ID, error) {
		return st.Slice(c, from, to)
	})
}

// ends is FirstAndLast for n members. Those of most clusters are in one object.
func (s *Reader) ends(
	n uint64, members func(from, to uint64) ([]format.ID, error),
) (*format.Entry, *format.Entry, error) {
	list, err := members(0, min(n, format.FanOut))
	if err != nil {
		return nil, nil, err
	}
	last := list[len(list)-1:]
	if n > format.FanOut {
		if last, err = members(n-1, n); err != nil {
			return nil, nil, err
		}
	}
	return s.Headers(list[0], last[0])
}

// Headers reads two members of a cluster, the earlier one by time first. Transcripts may be
// imported in another order than they were written: the member that came last may be the older.
func (s *Reader) Headers(one, other format.ID) (first, last *format.Entry, err error) {
	if first, err = s.Header(one); err != nil || other == one {
		return first, first, err
	}
	if last, err = s.Header(other); err != nil {
		return nil, nil, err
	}
	if last.Time.Before(first.Time) {
		first, last = last, first
	}
	return first, last, nil
}

// Tombstone reads a tombstone and its line; the line of one that was forgotten is "".
func (s *Reader) Tombstone(id format.ID) (*format.Tombstone, string, error) {
	header, text, err := s.Text(id)
	if errors.As(err, new(*objects.GoneError)) {
		header, err = s.Objects.Header(id)
	}
	if err != nil {
		return nil, "", err
	}
	stone, err := format.DecodeTombstone(header)
	return stone, string(text), err
}

// Provenance says what an object was made of, or what was made of it.
type Provenance struct {
	ID       format.ID
	Kind     string
	Node     format.ID      // of a summary or tombstone: what it stands for
	Inputs   []format.Input // of a summary
	Summary  *format.Summary
	Clusters []ClusterInfo // that hold the entry, or that the summary or node is of
	// Targets is what a replacement stands for. ReplacedBy lists the replacements that stand for
	// an entry in the branches of its session.
	Targets    []format.Target
	ReplacedBy []format.ID
}

// OpeningMembers is the number of first members of a cluster that are searched for its goal.
const OpeningMembers = 8

// LabelOfLine returns the label in the line of a tombstone: everything but the count and the days
// at its end.
func LabelOfLine(line string) string {
	if i := strings.LastIndex(line, " ("); i >= 0 {
		return line[:i]
	}
	if line == "" || strings.HasPrefix(line, "(") {
		return summarize.NoLabel
	}
	return line
}

// ClustersAt is Clusters as it was after an operation.
func (s *Reader) ClustersAt(view *refs.View, number uint64) ([]ClusterInfo, error) {
	st, err := s.ForestAt(view, number)
	if err != nil {
		return nil, err
	}
	return s.Infos(st)
}

// ByArrival returns the live clusters, by the arrival of their newest members.
func ByArrival(st *forest.State) []*forest.Cluster {
	live := st.Live()
	// A cluster that lost all its members and got one back may have another's arrival: the stable
	// order is by number then.
	slices.SortStableFunc(live,
		func(a, b *forest.Cluster) int { return cmp.Compare(a.Arrival, b.Arrival) })
	return live
}

// Rewound collects the entries that a rewind takes out of a branch.
type Rewound struct {
	IDs      map[format.ID]bool
	Messages int
	Results  []string        // calls that are answered in it
	Amended  []format.ID     // messages that lose a version
	Amends   []history.Entry // these versions, newest first
	Epochs   bool            // an epoch is taken out
}

func (l *Rewound) Add(id format.ID, e *format.Entry) {
	l.IDs[id] = true
	l.Epochs = l.Epochs || e.Kind == format.KindEpoch
	if e.Kind == format.KindMessage {
		l.Messages++
	}
	l.Results = append(l.Results, e.Results...)
	if e.Kind == format.KindAmend {
		// The message that it amends may make the same calls, and is further up.
		l.Amended, l.Amends = append(l.Amended, e.Amends),
			append(l.Amends, history.Entry{ID: id, Entry: e})
		return
	}
	l.Results = slices.DeleteFunc(l.Results, func(r string) bool {
		return slices.ContainsFunc(e.Calls, func(c format.Call) bool { return c.ID == r })
	})
}

// Answers reports whether e makes a call whose result is taken out.
func (l *Rewound) Answers(e *format.Entry) bool {
	return slices.ContainsFunc(e.Calls,
		func(c format.Call) bool { return slices.Contains(l.Results, c.ID) })
}

// mayBeMembers removes from ids, messages after the frontier of a branch, those that cannot be
// members of the main forest. Every member is up to the frontier of some branch, which fsck checks:
// so a message is none unless another line has it up to there, or the transaction has decided about
// it. To know that takes no look at the forest, which may have a million members.
//
// A line that is far ahead of the messages is not walked to its end: then all of ids stay.
func (t *Tx) mayBeMembers(h *history.Head, ids map[format.ID]bool) error {
	may := map[format.ID]bool{}
	for _, d := range t.store.Decided(history.MainForest) {
		if ids[d.ID] {
			may[d.ID] = true
		}
	}
	if lines := t.otherLines(h); len(lines) > 0 {
		low, err := t.lowest(ids)
		if err != nil {
			return err
		}
		left := mostWalked
		for _, v := range lines {
			whole, err := t.graduatedOn(v, ids, low, &left, may)
			if err != nil || !whole {
				return err
			}
		}
	}
	maps.DeleteFunc(ids, func(id format.ID, _ bool) bool { return !may[id] })
	return nil
}

// mostWalked is how many entries of other lines are worth reading before the forest is searched: it
// takes a second.
const mostWalked = 1 << 16

// otherLines returns the values of the other branches that may share messages with a branch, as far
// as they have graduated any.
func (t *Tx) otherLines(h *history.Head) (lines []format.Value) {
	view := t.store.View
	var names []string
	if strings.HasPrefix(h.Session, history.RecoveredPrefix) {
		names = view.Names("sessions/")
	} else {
		names = view.Names("sessions/" + history.RecoveredPrefix)
		for _, session := range append(history.Relatives(view, h.Session), h.Session) {
			names = append(names, view.Names("sessions/"+session+"/")...)
		}
		slices.Sort(names)
		names = slices.Compact(names)
	}
	own := history.RefName(h.Session, h.Branch)
	for _, name := range names {
		if v := view.Get(name); name != own && v.Frontier > 0 {
			lines = append(lines, v)
		}
	}
	return lines
}

// lowest returns the least seq that an entry of ids has on the line on which it was said.
func (t *Tx) lowest(ids map[format.ID]bool) (uint64, error) {
	low := ^uint64(0)
	for id := range ids {
		e, err := t.Header(id)
		if err != nil {
			return 0, err
		}
		low = min(low, e.Seq)
	}
	return low, nil
}

// graduatedOn adds to may those of ids that a line at v has up to its frontier. low is the least
// seq of ids. It takes from left what it reads, and returns false if that was not enough.
func (t *Tx) graduatedOn(
	v format.Value, ids map[format.ID]bool, low uint64, left *int, may map[format.ID]bool,
) (whole bool, err error) {
	for e, err := range t.Walk(v.ID, history.WithJoined) {
		if err != nil {
			return false, err
		}
		if *left--; *left < 0 {
			return false, nil
		}
		if e.Seq <= v.Frontier && ids[e.ID] {
			may[e.ID] = true
		}
		// No entry has a higher seq than what stands on it, so nothing of ids is further back. On the
		// own line of a branch, places are seqs.
		if !e.Joined && e.Seq < low {
			break
		}
	}
	return true, nil
}
