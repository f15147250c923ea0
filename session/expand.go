package session

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// Members calls each for the entries that an object stands for, in order: an entry for itself, a replacement for what it replaces, a node for its run, a summary or a tombstone for
// its node, a forest for its live clusters. It stops when each returns an error, and returns that.
func (s *Store) Members(view *refs.View, id format.ID, each func(format.ID) error) error {
	header, err := s.Objects.Header(id)
	if errors.Is(err, objects.ErrNotFound) {
		return s.unwritten(view, id, each)
	}
	if err != nil {
		return err
	}
	kind, _, err := format.HeaderKind(header)
	if err != nil {
		return err
	}
	switch kind {
	case "entry":
		e, err := format.DecodeEntry(header)
		if err != nil {
			return fmt.Errorf("object %v: %w", id, err)
		}
		if e.Kind == format.KindReplace {
			return s.replacedBy(id, each)
		}
		return each(id)
	case "node":
		return s.walk(id, each)
	case "summary":
		sum, err := format.DecodeSummary(header)
		if err != nil {
			return err
		}
		return s.walk(sum.Node, each)
	case "tombstone":
		stone, err := format.DecodeTombstone(header)
		if err != nil {
			return err
		}
		return s.walk(stone.Node, each)
	case "forest":
		f, err := format.DecodeForest(header)
		if err != nil {
			return err
		}
		for _, c := range f.Clusters {
			if err := s.walk(c.Node, each); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("%w: a %s stands for no entries: %v", ErrNotFound, kind, id)
}

func (s *Store) walk(node format.ID, each func(format.ID) error) error {
	var failed error
	err := forest.Walk(s.Loader(), node, func(_ format.ID, entries []format.ID) {
		for _, e := range entries {
			if failed == nil {
				failed = each(e)
			}
		}
	})
	return cmp.Or(failed, err)
}

// unwritten finds a cluster by an id that no object has: that of a cluster between two writings of the forest, now or when it was smaller.
// Ids that were printed so stay good. It costs a pass over the live clusters, and is only for an id that nothing else has.
func (s *Store) unwritten(view *refs.View, id format.ID, each func(format.ID) error) error {
	run, err := s.runOf(view, func(node format.ID) bool { return node == id })
	if err != nil {
		return err
	}
	if run == nil {
		return fmt.Errorf("%w: %v", ErrNotFound, id)
	}
	for _, e := range run {
		if err := each(e); err != nil {
			return err
		}
	}
	return nil
}

// oldSizes is how many sizes a cluster had before its present one are looked through for the id that it had then.
const oldSizes = 1024

// runOf returns the members of the first live cluster, or beginning of one, whose node is wanted; nil if there is none. It looks at the newest sizes
// of each cluster.
func (s *Store) runOf(view *refs.View, wanted func(format.ID) bool) ([]format.ID, error) {
	st, err := s.Forest(view)
	if err != nil {
		return nil, err
	}
	for _, c := range st.Live() {
		members, err := st.Members(c)
		if err != nil {
			return nil, err
		}
		n, err := forest.SizeOf(members, max(0, len(members)-oldSizes), wanted)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			return members[:n], nil
		}
	}
	return nil, nil
}

// ExpandOptions are for Expand.
type ExpandOptions struct {
	Session, Branch string  // only what this branch stands on; "" for the whole store
	Reader          *Reader // only what this reader may see; nil for everybody
	// From leaves out the members before this one; zero for none. ErrNotFound where it is no member.
	From format.ID
}

// Expand streams the entries that an object stands for, with their newest texts, in order.
func (s *Store) Expand(view *refs.View, id format.ID, o ExpandOptions, each func(*Shown) error) error {
	only, err := s.onlyIn(view, o)
	if err != nil {
		return err
	}
	begun := o.From.IsZero()
	err = s.Members(view, id, func(e format.ID) error {
		if begun = begun || e == o.From; !begun {
			return nil
		}
		if only != nil && !only[e] {
			return nil
		}
		newest, err := s.newest(view, e)
		if err != nil {
			return err
		}
		shown, err := s.Version(e, newest)
		if err != nil || o.Reader != nil && !o.Reader.Sees(e, shown.Entry) {
			return err
		}
		return each(shown)
	})
	if err == nil && !begun {
		err = fmt.Errorf("%w: %v is no member of %v", ErrNotFound, o.From, id)
	}
	return err
}

func (s *Store) onlyIn(view *refs.View, o ExpandOptions) (map[format.ID]bool, error) {
	if o.Session == "" {
		return nil, nil
	}
	tip, err := Tip(view, o.Session, o.Branch)
	if err != nil {
		return nil, err
	}
	seen := map[format.ID]bool{}
	return seen, s.reach(seen, tip.ID)
}

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
	First     *format.Entry // its oldest member
	Last      *format.Entry // its newest

	opening []format.ID // the first members of a live cluster
}

// Clusters returns the clusters of the shared forest: the live ones in the order they were opened, then the tombstones, newest first.
func (s *Store) Clusters(view *refs.View) ([]ClusterInfo, error) {
	st, err := s.Forest(view)
	if err != nil {
		return nil, err
	}
	return s.clustersOf(st)
}

// NewestClusters returns the live clusters that something joined last, the newest first, no more than n.
func (s *Store) NewestClusters(view *refs.View, n int) ([]ClusterInfo, error) {
	st, err := s.Forest(view)
	if err != nil {
		return nil, err
	}
	live := slices.Clone(st.Live())
	slices.SortStableFunc(live, func(a, b *forest.Cluster) int { return cmp.Compare(b.Arrival, a.Arrival) })
	return s.infosOf(st, live[:min(n, len(live))])
}

// infosOf reads live clusters.
func (s *Store) infosOf(st *forest.State, live []*forest.Cluster) (list []ClusterInfo, err error) {
	for _, c := range live {
		info := ClusterInfo{Number: c.Number, Count: c.Count(), Covers: c.Covers, Dirty: c.Dirty(), Arrival: c.Arrival}
		if info.ID, err = st.Node(c); err == nil {
			info.First, info.Last, err = s.endsOf(st, c)
		}
		if err == nil {
			info.opening, err = st.Slice(c, 0, min(c.Count(), openingMembers))
		}
		if err != nil {
			return nil, err
		}
		list = append(list, info)
	}
	return list, nil
}

func (s *Store) clustersOf(st *forest.State) ([]ClusterInfo, error) {
	list, err := s.infosOf(st, st.Live())
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

func (s *Store) evictedInfo(e forest.Evicted) (ClusterInfo, error) {
	stone, line, err := s.stone(e.Tombstone)
	if err != nil {
		return ClusterInfo{}, err
	}
	info := ClusterInfo{
		ID: stone.Node, Number: e.Cluster, Tombstone: e.Tombstone, Count: stone.Count, Line: line, Label: labelOfLine(line), Arrival: stone.Arrival,
		Covers: []format.Cover{{Summary: stone.Summary, Count: stone.Count}},
	}
	first, err := forest.Slice(s.Loader(), stone.Node, 0, 1)
	if err != nil {
		return info, err
	}
	last, err := forest.Slice(s.Loader(), stone.Node, stone.Count-1, stone.Count)
	if err != nil {
		return info, err
	}
	info.First, info.Last, err = s.ends(first[0], last[0])
	return info, err
}

// endsOf reads a cluster's oldest and newest members.
func (s *Store) endsOf(st *forest.State, c *forest.Cluster) (*format.Entry, *format.Entry, error) {
	first, err := st.Slice(c, 0, 1)
	if err != nil {
		return nil, nil, err
	}
	last, err := st.Slice(c, c.Count()-1, c.Count())
	if err != nil {
		return nil, nil, err
	}
	return s.ends(first[0], last[0])
}

func (s *Store) ends(first, last format.ID) (*format.Entry, *format.Entry, error) {
	a, err := s.entry(first)
	if err != nil {
		return nil, nil, err
	}
	b, err := s.entry(last)
	return a, b, err
}

// stone reads a tombstone and its line; the line of one that was forgotten is "".
func (s *Store) stone(id format.ID) (*format.Tombstone, string, error) {
	header, text, err := s.text(id)
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
	// Targets is what a replacement stands for, ReplacedBy the replacements that stand for an entry in branches of its session.
	Targets    []format.Target
	ReplacedBy []format.ID
}

// Provenance answers both ways: for a summary, a node or a tombstone what it was made of; for an entry the clusters and summaries that it went into.
func (s *Store) Provenance(view *refs.View, id format.ID) (*Provenance, error) {
	p := &Provenance{ID: id, Kind: "node", Node: id}
	header, err := s.Objects.Header(id)
	if err == nil {
		p.Kind, _, err = format.HeaderKind(header)
	} else if errors.Is(err, objects.ErrNotFound) {
		err = nil
	}
	if err == nil {
		switch p.Kind {
		case "summary":
			if p.Summary, err = format.DecodeSummary(header); err == nil {
				p.Node, p.Inputs = p.Summary.Node, p.Summary.Inputs
			}
		case "tombstone":
			var stone *format.Tombstone
			if stone, err = format.DecodeTombstone(header); err == nil {
				p.Node = stone.Node
			}
		case "entry":
			p.Node = format.ID{}
			err = s.replacements(view, header, p)
		}
	}
	if err != nil {
		return nil, err
	}
	members := map[format.ID]bool{}
	if p.Targets != nil {
		return p, nil // each of them has an answer of its own
	}
	if err := s.Members(view, id, func(e format.ID) error { members[e] = true; return nil }); err != nil {
		return nil, err
	}
	st, err := s.Forest(view)
	if err != nil {
		return nil, err
	}
	found, err := st.Find(members)
	if err != nil {
		return nil, err
	}
	all, err := s.Clusters(view)
	if err != nil {
		return nil, err
	}
	in := map[uint64]bool{}
	for _, place := range found {
		in[place.Cluster] = true
	}
	for _, c := range all {
		if in[c.Number] {
			p.Clusters = append(p.Clusters, coversOf(c, p.Kind, found[id]))
		}
	}
	return p, nil
}

// coversOf leaves, for an entry, only the summaries that cover it.
func coversOf(c ClusterInfo, kind string, at forest.Place) ClusterInfo {
	if kind == "entry" {
		c.Covers = slices.DeleteFunc(slices.Clone(c.Covers), func(v format.Cover) bool {
			return at.Offset < v.Offset || at.Offset >= v.Offset+v.Count
		})
	}
	return c
}

// ResolveCluster finds the clusters between two writings of the forest whose id starts with prefix.
func (s *Store) resolveUnwritten(view *refs.View, prefix string) (format.ID, bool, error) {
	var found format.ID
	run, err := s.runOf(view, func(node format.ID) bool {
		if strings.HasPrefix(node.String(), prefix) {
			found = node
			return true
		}
		return false
	})
	return found, run != nil, err
}

// NodeOf returns the node of a summary or a tombstone, and any other id as it is: what is named in one place by its summary, and in another by
// its cluster, is the same cluster.
func (s *Store) NodeOf(id format.ID) (format.ID, error) {
	header, err := s.Objects.Header(id)
	if errors.Is(err, objects.ErrNotFound) {
		return id, nil // a cluster between two writings of the forest
	}
	if err != nil {
		return id, err
	}
	kind, _, err := format.HeaderKind(header)
	if err != nil {
		return id, fmt.Errorf("object %v: %w", id, err)
	}
	switch kind {
	case "summary":
		sum, err := format.DecodeSummary(header)
		if err != nil {
			return id, err
		}
		return sum.Node, nil
	case "tombstone":
		stone, err := format.DecodeTombstone(header)
		if err != nil {
			return id, err
		}
		return stone.Node, nil
	}
	return id, nil
}
