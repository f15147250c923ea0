package forest

import (
	"cmp"
	"math"
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// Place is where an entry is a member: the cluster, and how many members came before it.
type Place struct {
	Cluster uint64
	Offset  uint64
}

// newestMembers is how many members at the end of a cluster are looked at first, and newestStones how many tombstones: what is looked for has as a rule
// arrived lately.
const (
	newestMembers = format.FanOut
	newestStones  = 64
)

// Find returns the places of those of ids that are members. It looks first at what arrived last, in live clusters and then in those evicted last, so that
// what has graduated lately is found at a cost that does not depend on how much there is; only if some are missing it reads every member.
func (s *State) Find(ids map[format.ID]bool) (map[format.ID]Place, error) {
	f := &finder{s: s, ids: ids, found: make(map[format.ID]Place, len(ids))}
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
}

func (f *finder) done() bool { return len(f.found) == len(f.ids) }

// take looks at members of a cluster from start on.
func (f *finder) take(cluster, start uint64, members []format.ID) {
	for i, m := range members {
		if f.ids[m] {
			f.found[m] = Place{Cluster: cluster, Offset: start + uint64(i)}
		}
	}
}

func (f *finder) inLive(most uint64) error {
	live := f.s.Live()
	slices.SortStableFunc(live, func(a, b *Cluster) int { return cmp.Compare(b.Arrival, a.Arrival) })
	for _, c := range live {
		if f.done() {
			return nil
		}
		start := c.Count() - min(most, c.Count())
		members, err := f.s.Slice(c, start, c.Count())
		if err != nil {
			return err
		}
		f.take(c.Number, start, members)
	}
	return nil
}

func (f *finder) newestLive() error { return f.inLive(newestMembers) }
func (f *finder) live() error       { return f.inLive(math.MaxUint64) }

func (f *finder) inEvicted(list []Evicted, most uint64) error {
	for _, e := range list {
		if f.done() {
			return nil
		}
		stone, err := f.s.load.Tombstone(e.Tombstone)
		if err != nil {
			return err
		}
		start := stone.Count - min(most, stone.Count)
		members, err := Slice(f.s.load, stone.Node, start, stone.Count)
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

// Retract returns the decisions that take entries out of the forest; those that are no members are passed over. Per cluster the last member
// goes first, so that Return can bring them back by the same places in reverse.
func (s *State) Retract(ids map[format.ID]bool) ([]format.Decision, error) {
	found, err := s.Find(ids)
	if err != nil {
		return nil, err
	}
	var list []format.Decision
	for id, p := range found {
		list = append(list, format.Decision{Kind: format.DecideRetract, Cluster: p.Cluster, ID: id, Offset: p.Offset})
	}
	slices.SortFunc(list, func(a, b format.Decision) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(b.Offset, a.Offset))
	})
	return list, nil
}

// Return gives the decisions that bring back what an operation retracted: the same members, at the same places where the cluster has not
// shrunk since.
func (s *State) Return(decided []format.Decision) ([]format.Decision, error) {
	room := map[uint64]uint64{}
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
		list = append(list, format.Decision{Kind: format.DecideRestore, Cluster: d.Cluster, ID: d.ID, Offset: min(d.Offset, room[d.Cluster])})
		room[d.Cluster]++
	}
	return list, nil
}

// size is the number of members of a cluster, live or evicted; 0 where it has none.
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
