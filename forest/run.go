package forest

import (
	"fmt"

	"github.com/gemini-ctx/ctx/format"
)

// applyRun applies a run of decisions at the start of list in one pass over their cluster. A run
// either retracts members of one cluster from its end on, or restores members of one cluster from
// its start on. applyRun returns the number of decisions applied: 0 if there is no run of at least
// two.
func (s *State) applyRun(list []format.Decision) (int, error) {
	first := list[0]
	n := 1
	for n < len(list) && list[n].Kind == first.Kind && list[n].Cluster == first.Cluster &&
		follows(first.Kind, list[n-1].Offset, list[n].Offset) {
		n++
	}
	if n < 2 || first.Kind != format.DecideRetract && first.Kind != format.DecideRestore {
		return 0, nil
	}
	var err error
	if first.Kind == format.DecideRetract {
		err = s.retractRun(list[:n])
	} else {
		err = s.restoreRun(list[:n])
	}
	if err != nil {
		return 0, fmt.Errorf("forest %q: cluster %d: %w", s.Name, first.Cluster, err)
	}
	return n, nil
}

// follows reports whether two offsets may be neighbours in a run. In a run of retracts, all offsets
// refer to the members before the run; in a run of restores, to the members after it.
func follows(kind format.DecisionKind, before, after uint64) bool {
	if kind == format.DecideRetract {
		return after < before
	}
	return after > before
}

func (s *State) retractRun(run []format.Decision) error {
	c := s.live[run[0].Cluster]
	if c == nil {
		var err error
		if c, err = s.revive(run[0].Cluster); err != nil {
			return err
		}
	}
	if c == nil {
		return fmt.Errorf("has no members")
	}
	members, err := s.Members(c)
	if err != nil {
		return err
	}
	left := make([]format.ID, 0, len(members))
	next := len(run) - 1 // the smallest offset comes last
	for i, m := range members {
		if next >= 0 && run[next].Offset == uint64(i) {
			if run[next].ID != m {
				return fmt.Errorf("entry %v is not member %d", run[next].ID, i)
			}
			next--
			continue
		}
		left = append(left, m)
	}
	if next >= 0 {
		return fmt.Errorf("entry %v is not member %d", run[next].ID, run[next].Offset)
	}
	for _, d := range run {
		c.Covers = coversWithout(c.Covers, d.Offset)
	}
	if c.members, c.changed = left, true; len(left) == 0 {
		delete(s.live, c.Number)
	}
	return nil
}

func (s *State) restoreRun(run []format.Decision) error {
	c, err := s.open(run[0].Cluster, false)
	if err != nil {
		return err
	}
	members, err := s.Members(c)
	if err != nil {
		return err
	}
	whole := make([]format.ID, 0, len(members)+len(run))
	for _, d := range run {
		gap := d.Offset - min(d.Offset, uint64(len(whole)))
		if gap > uint64(len(members)) {
			return fmt.Errorf("entry %v cannot be member %d of %d", d.ID, d.Offset,
				len(whole)+len(members)+1)
		}
		whole = append(append(whole, members[:gap]...), d.ID)
		members = members[gap:]
		c.Covers = coversWith(c.Covers, d.Offset)
	}
	c.members, c.changed = append(whole, members...), true
	return nil
}
