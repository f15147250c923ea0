package forest

import (
	"cmp"
	"math"
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// Place is the place of a member: its cluster, and the number of members before it.
type Place struct {
	Cluster uint64
	Offset  uint64
}

// The bounds of the first look of Find, which examines the most recent part of a forest, where most
// searched entries are: newestMembers members at the end of each of newestClusters clusters, and
// newestStones tombstones.
const (
	newestMembers  = format.FanOut
	newestClusters = 64
	newestStones   = 64
)

// Sieve is a Loader that remembers the members below nodes. So Find reads those of most clusters
// once, and not each time that it is asked for an entry which is in none, as those of the window
// are.
type Sieve interface {
	// Lacks reports whether none of some entries is below a node. It is false where the members are
	// not known.
	Lacks(node format.ID, entries map[format.ID]bool) bool
	// Remember takes the members below nodes.
	Remember(members map[format.ID][]format.ID)
}

// Find returns the places of those ids that are members. It first examines the newest members of
// live clusters, then those of recently evicted clusters, so that the cost of finding recent
// entries does not grow with the forest. Only if entries are still missing does it read all
// members, but for those that a Sieve remembers.
func (s *State) Find(ids map[format.ID]bool) (map[format.ID]Place, error) {
	f := &finder{s: s, ids: ids, found: make(map[format.ID]Place, len(ids))}
	if sieve, ok := s.load.(Sieve); ok {
		f.sieve, f.met = sieve, map[format.ID][]format.ID{}
		defer func() { sieve.Remember(f.met) }()
	}
	for _, look := range []func() error{f.newestLive, f.newestEvicted, f.live, f.evicted} {
		if f.done() {
			break
		}
		if err := look(); err != nil {
			return nil, err
		}
	}
	return f.found, nil
}

type finder struct {
	s     *State
	ids   map[format.ID]bool
	found map[format.ID]Place
	sieve Sieve                     // nil for none
	met   map[format.ID][]format.ID // what the sieve is to remember
}

// below returns the members below a node from number start to count, and the number of the first
// one: none where the sieve knows that no entry is among them.
func (f *finder) below(node format.ID, start, count uint64) ([]format.ID, uint64, error) {
	if f.sieve != nil && f.sieve.Lacks(node, f.ids) {
		return nil, count, nil
	}
	members, err := Slice(f.s.load, node, start, count)
	if f.sieve != nil && start == 0 && err == nil {
		f.met[node] = members
	}
	return members, start, err
}

func (f *finder) done() bool { return len(f.found) == len(f.ids) }

// take notes the wanted entries among members, which are those of a cluster from number start on.
func (f *finder) take(cluster, start uint64, members []format.ID) {
	for i, m := range members {
		if f.ids[m] {
			f.found[m] = Place{Cluster: cluster, Offset: start + uint64(i)}
		}
	}
}

func (f *finder) inLive(live []*Cluster, most uint64) error {
	for _, c := range live {
		if f.done() {
			return nil
		}
		start := c.Count() - min(most, c.Count())
		if !c.loaded && start < c.written {
			members, at, err := f.below(c.node, start, c.written)
			if err != nil {
				return err
			}
			f.take(c.Number, at, members)
			start = c.written
		}
		members, err := f.s.Slice(c, start, c.Count())
		if err != nil {
			return err
		}
		f.take(c.Number, start, members)
	}
	return nil
}

func (f *finder) newestLive() error {
	live := f.s.Live()
	slices.SortFunc(live, func(a, b *Cluster) int { return cmp.Compare(b.Arrival, a.Arrival) })
	return f.inLive(live[:min(len(live), newestClusters)], newestMembers)
}

func (f *finder) live() error { return f.inLive(f.s.Placed(f.s.Live()), math.MaxUint64) }

func (f *finder) inEvicted(list []Evicted, most uint64) error {
	for _, e := range list {
		if f.done() {
			return nil
		}
		stone, err := f.s.load.Tombstone(e.Tombstone)
		if err != nil {
			return err
		}
		members, start, err := f.below(stone.Node, stone.Count-min(most, stone.Count), stone.Count)
		if err != nil {
			return err
		}
		f.take(e.Cluster, start, members)
	}
	return nil
}

func (f *finder) newestEvicted() error {
	list, _, err := f.s.NewestEvicted(newestStones)
	if err != nil {
		return err
	}
	return f.inEvicted(list, newestMembers)
}

func (f *finder) evicted() error {
	list, err := f.s.Evicted()
	if err != nil {
		return err
	}
	return f.inEvicted(list, math.MaxUint64)
}

// Retract returns the decisions that take the given entries out of the forest. It ignores entries
// that are no members. The decisions take the last member of a cluster first, so that Return can
// restore the members in reverse order at the same offsets.
func (s *State) Retract(ids map[format.ID]bool) ([]format.Decision, error) {
	found, err := s.Find(ids)
	if err != nil {
		return nil, err
	}
	var list []format.Decision
	for id, p := range found {
		list = append(list,
			format.Decision{Kind: format.DecideRetract, Cluster: p.Cluster, ID: id,
				Offset: p.Offset})
	}
	slices.SortFunc(list, func(a, b format.Decision) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(b.Offset, a.Offset))
	})
	return list, nil
}

// Return returns the decisions that bring back the entries that decided retracts, except those that
// are members again. Each entry returns to its former offset, or to the end of a cluster that is
// now shorter.
func (s *State) Return(decided []format.Decision) ([]format.Decision, error) {
	ids := map[format.ID]bool{}
	for _, d := range decided {
		if d.Kind == format.DecideRetract {
			ids[d.ID] = true
		}
	}
	there, err := s.Find(ids)
	if err != nil {
		return nil, err
	}
	room := map[uint64]uint64{}
	var list []format.Decision
	for i := len(decided) - 1; i >= 0; i-- {
		d := decided[i]
		if _, ok := there[d.ID]; ok || d.Kind != format.DecideRetract {
			continue
		}
		if _, ok := room[d.Cluster]; !ok {
			n, err := s.size(d.Cluster)
			if err != nil {
				return nil, err
			}
			room[d.Cluster] = n
		}
		list = append(list,
			format.Decision{Kind: format.DecideRestore, Cluster: d.Cluster, ID: d.ID,
				Offset: min(d.Offset, room[d.Cluster])})
		room[d.Cluster]++
	}
	return list, nil
}

// size returns the number of members of a live or evicted cluster, and 0 for any other number.
func (s *State) size(number uint64) (uint64, error) {
	if c := s.live[number]; c != nil {
		return c.Count(), nil
	}
	id, ok, err := s.Tombstone(number)
	if err != nil || !ok {
		return 0, err
	}
	stone, err := s.load.Tombstone(id)
	if err != nil {
		return 0, err
	}
	return stone.Count, nil
}
