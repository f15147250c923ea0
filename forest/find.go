package forest

import (
	"cmp"
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// Place is where an entry is a member: the cluster, and how many members came before it.
type Place struct {
	Cluster uint64
	Offset  uint64
}

// Find returns the places of those of ids that are members, live clusters first and then, only if some are missing, evicted ones.
func (s *State) Find(ids map[format.ID]bool) (map[format.ID]Place, error) {
	found := make(map[format.ID]Place, len(ids))
	for _, c := range s.Live() {
		if len(found) == len(ids) {
			return found, nil
		}
		members, err := s.Members(c)
		if err != nil {
			return nil, err
		}
		for i, m := range members {
			if ids[m] {
				found[m] = Place{Cluster: c.Number, Offset: uint64(i)}
			}
		}
	}
	if len(found) == len(ids) {
		return found, nil
	}
	evicted, err := s.Evicted()
	if err != nil {
		return nil, err
	}
	for _, e := range evicted {
		if len(found) == len(ids) {
			break
		}
		stone, err := s.load.Tombstone(e.Tombstone)
		if err != nil {
			return nil, err
		}
		offset := uint64(0)
		err = Walk(s.load, stone.Node, func(_ format.ID, entries []format.ID) {
			for _, m := range entries {
				if ids[m] {
					found[m] = Place{Cluster: e.Cluster, Offset: offset}
				}
				offset++
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
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
