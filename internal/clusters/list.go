package clusters

import (
	"errors"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
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
	for _, c := range live {
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
		list = append(list, info)
	}
	return list, nil
}

func (s *Reader) Infos(st *forest.State) ([]ClusterInfo, error) {
	list, err := s.LiveInfos(st, st.Live())
	if err != nil {
		return nil, err
	}
	evicted, err := st.Evicted()
	if err != nil {
		return nil, err
	}
	for _, e := range evicted {
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
	var gone *objects.GoneError
	if errors.As(err, &gone) {
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
	slices.SortStableFunc(live, func(a, b *forest.Cluster) int {
		switch {
		case a.Arrival < b.Arrival:
			return -1
		case a.Arrival > b.Arrival:
			return 1
		}
		return 0
	})
	return live
}
