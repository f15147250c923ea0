package fsck

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
)

// checkForests replays the log. It compares the result with the forests that records name and that
// still exist, with the runs that summaries and tombstones name, and with the sessions.
func (f *checker) checkForests() {
	if !f.logOK || f.graph == nil {
		return
	}
	f.graph.LetGoSeqs() // the replay takes much memory
	r, err := graph.New(f.s, f.base)
	if err != nil {
		f.fault("forest", "refs/base", "", "%v", err)
		return
	}
	r.Differs = func(subject, why string) { f.fault("forest", subject, "", "%s", why) }
	r.Wanted = func(id format.ID) bool {
		_, there := f.graph.Find(id)
		return there
	}
	r.Stored = func(id format.ID) bool {
		i, there := f.graph.Find(id)
		return there && f.graph.Kind(i) != format.AnyKind
	}
	r.NodeOf = f.nodeNamedBy
	r.StoneOf = func(id format.ID) (*format.Tombstone, error) {
		node, _ := f.nodeNamedBy(id)
		i, _ := f.graph.Find(id)
		n, ok := slices.BinarySearchFunc(f.stones, i,
			func(s stone, i uint32) int { return cmp.Compare(s.at, i) })
		if !ok || node.IsZero() {
			return r.Tombstone(id)
		}
		s := f.stones[n]
		return &format.Tombstone{Cluster: s.cluster, Arrival: s.arrival, Count: s.count, Node: node,
			Summary: f.graph.ID(f.graph.Below(i)[1].To())}, nil
	}
	r.BaseCovers(func(name string, why error) {
		f.fault("forest", graph.ForestsPrefix+name, "", "%v", why)
	})
	if _, err := r.All(f.ctx, f.number, f.o.Progress); err != nil {
		f.fault("forest", "log", "", "%v", err)
		return
	}
	// Every forest has every member. The main forest exists from the first member on, another
	// forest from its first operation on.
	for _, name := range slices.Sorted(maps.Keys(r.States)) {
		f.markMembers(r.States[name], r)
		f.checkMembers()
	}
	if r.States[history.MainForest] == nil {
		f.checkMembers()
	}
}

// markMembers marks the entries of all clusters of one forest, live and evicted.
func (f *checker) markMembers(st *forest.State, r *graph.Forests) {
	f.graph.Clear(member | twice)
	markAt := func(i uint32) {
		if f.graph.Marks[i]&member != 0 {
			f.graph.Marks[i] |= twice
		}
		f.graph.Marks[i] |= member
	}
	mark := func(ids []format.ID) {
		for _, id := range ids {
			if i, err := f.graph.Meet(id); err == nil { // checkGraph reports it
				markAt(i)
			}
		}
	}
	for _, c := range st.Live() {
		members, err := st.Members(c)
		if err != nil {
			f.fault("forest", fmt.Sprintf("cluster %d", c.Number), "", "%v", err)
		}
		mark(members)
	}
	err := st.EachEvicted(func(e forest.Evicted) {
		if node, ok := f.nodeNamedBy(e.Tombstone); ok {
			if entries, ok := f.entriesBelow(node); ok {
				for _, i := range entries {
					markAt(i)
				}
				return
			}
		}
		stone, err := r.Tombstone(e.Tombstone)
		if err == nil {
			err = forest.Walk(r, stone.Node,
				func(_ format.ID, entries []format.ID) { mark(entries) })
		}
		if err != nil {
			f.fault("forest", fmt.Sprintf("cluster %d", e.Cluster), "", "%v", err)
		}
	})
	if err != nil {
		f.fault("forest", "tombstones", "", "%v", err)
	}
}

// nodeNamedBy returns the node that a summary or a tombstone names, if the graph knows it.
func (f *checker) nodeNamedBy(id format.ID) (node format.ID, ok bool) {
	i, ok := f.graph.Find(id)
	if !ok || len(f.graph.Lost[i]) > 0 {
		return node, false
	}
	if k := f.graph.Kind(i); k != format.SummaryKind && k != format.TombstoneKind {
		return node, false
	}
	return f.graph.ID(f.graph.Below(i)[0].To()), true // the first link of both kinds
}

// entriesBelow returns the entries below a node, if the graph has all nodes there.
func (f *checker) entriesBelow(node format.ID) (entries []uint32, ok bool) {
	top, ok := f.graph.Find(node)
	if !ok {
		return nil, false
	}
	for stack := []uint32{top}; len(stack) > 0; {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if f.graph.Kind(i) != format.NodeKind || len(f.graph.Lost[i]) > 0 {
			return nil, false
		}
		for _, e := range f.graph.Below(i) {
			if e.Want() == format.EntryKind {
				entries = append(entries, e.To())
			} else {
				stack = append(stack, e.To())
			}
		}
	}
	return entries, true
}

// checkMembers checks that every message up to the frontier of its branch is a member of exactly
// one cluster, and that there are no other members. Beside an entry that is lost this is a note:
// what stood on it may be out of reach of its branch.
func (f *checker) checkMembers() {
	apart := 0
	for i := range uint32(f.graph.Len()) {
		wrong := func(why string, args ...any) {
			f.fault("forest", f.graph.ID(i).String(), "", why, args...)
		}
		m := f.graph.Marks[i]
		if f.graph.Holed() && m&twice == 0 {
			if !f.graph.Stands(i) && (m&due != 0) != (m&member != 0) {
				apart++
			}
			continue
		}
		switch {
		case m&due != 0 && m&member == 0:
			wrong("message %d is up to its branch's frontier, and in no cluster", f.graph.Seq(i))
		case m&member == 0:
		case m&twice != 0:
			wrong("entry is a member more than once")
		case m&inBranch == 0:
			wrong("member without session: no branch stands on the entry")
		case m&due == 0:
			wrong("entry is a member, and no message up to its branch's frontier")
		}
	}
	if apart > 0 {
		f.note("the clusters of %d messages do not fit their sessions, of which entries are lost",
			apart)
	}
}
