package forest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// Apply adds one decision to the state. An error means that the decision cannot follow the earlier
// ones: the log is damaged, or the program that recorded it has a bug. The state must not be used
// after an error.
func (s *State) Apply(d format.Decision) error { return s.ApplyAll([]format.Decision{d}) }

// ApplyAll applies decisions in order. It makes one pass over a cluster for a whole run of
// decisions that retract or restore its members.
func (s *State) ApplyAll(list []format.Decision) error {
	for len(list) > 0 {
		run := list[:runOf(list)]
		if err := s.apply(run); err != nil {
			return fmt.Errorf("forest %q: cluster %d: %w", s.Name, run[0].Cluster, err)
		}
		list = list[len(run):]
	}
	return nil
}

// apply applies a run of decisions.
func (s *State) apply(run []format.Decision) error {
	switch d := run[0]; d.Kind {
	case format.DecideJoin:
		return s.join(d)
	case format.DecideRetract:
		return s.retractRun(run)
	case format.DecideRestore:
		return s.restoreRun(run)
	case format.DecideSettle:
		return s.settle(d)
	case format.DecideDrop:
		return s.drop(d)
	case format.DecideEvict:
		return s.evict(d)
	default:
		return fmt.Errorf("unknown decision %q", string(rune(d.Kind)))
	}
}

func (s *State) join(d format.Decision) error {
	c, err := s.open(d.Cluster, d.Cluster == s.Opened)
	if err != nil {
		return err
	}
	c.members, c.changed = append(c.members, d.ID), true
	s.Arrivals++
	c.Arrival = s.Arrivals
	return nil
}

// open returns the cluster that members are added to: a live cluster, a revived one, or a new one.
// fresh allows a new number.
func (s *State) open(number uint64, fresh bool) (*Cluster, error) {
	if c := s.live[number]; c != nil {
		return c, nil
	}
	if number >= s.Opened && !fresh {
		return nil, fmt.Errorf("was never opened")
	}
	if fresh {
		s.Opened++
	} else if c, err := s.revive(number); err != nil || c != nil {
		return c, err
	}
	// The cluster is new, or it lost all its members and now gets one back.
	c := &Cluster{Number: number, Arrival: max(1, s.Arrivals), loaded: true}
	s.live[number] = c
	return c, nil
}

// coversWithout removes the cover over the member at offset and moves the covers after it.
func coversWithout(covers []format.Cover, offset uint64) []format.Cover {
	var out []format.Cover
	for _, v := range covers {
		switch {
		case v.Offset > offset:
			v.Offset--
		case v.Offset+v.Count > offset:
			continue
		}
		out = append(out, v)
	}
	return out
}

// coversWith makes room for a member at offset. It removes a cover that would get the member in its
// middle.
func coversWith(covers []format.Cover, offset uint64) []format.Cover {
	var out []format.Cover
	for _, v := range covers {
		switch {
		case v.Offset >= offset:
			v.Offset++
		case v.Offset+v.Count > offset:
			continue
		}
		out = append(out, v)
	}
	return out
}

func (s *State) settle(d format.Decision) error {
	c := s.live[d.Cluster]
	if c == nil {
		return fmt.Errorf("is not live")
	}
	if d.Count == 0 || d.Count > c.Count() || d.Offset > c.Count()-d.Count {
		return fmt.Errorf("summary %v covers %d members from %d on, there are %d", d.ID, d.Count,
			d.Offset, c.Count())
	}
	out := slices.DeleteFunc(slices.Clone(c.Covers), func(v format.Cover) bool {
		return v.Offset+v.Count > d.Offset && v.Offset < d.Offset+d.Count
	})
	c.Covers = append(out,
		format.Cover{Summary: d.ID, Offset: d.Offset, Count: d.Count, Interim: d.Interim})
	slices.SortFunc(c.Covers,
		func(a, b format.Cover) int { return cmp.Compare(a.Offset, b.Offset) })
	return nil
}

func (s *State) drop(d format.Decision) error {
	c := s.live[d.Cluster]
	if c == nil {
		return fmt.Errorf("is not live")
	}
	at := slices.IndexFunc(c.Covers, func(v format.Cover) bool { return v.Summary == d.ID })
	if at < 0 {
		return fmt.Errorf("summary %v covers nothing", d.ID)
	}
	c.Covers = slices.Delete(slices.Clone(c.Covers), at, at+1)
	return nil
}

func (s *State) evict(d format.Decision) error {
	c := s.live[d.Cluster]
	if c == nil {
		return fmt.Errorf("is not live")
	}
	if c.Dirty() {
		return fmt.Errorf("is not summarized and cannot be evicted")
	}
	if err := s.tombs.add(s.load, d.Cluster, s.Evictions, d.ID); err != nil {
		return err
	}
	s.Evictions++
	delete(s.live, d.Cluster)
	return nil
}

// runOf returns how many decisions at the start of list are a run: one pass over their cluster
// applies them. A run either retracts members of one cluster from its end on, or restores members
// of one cluster from its start on. Any other decision is a run of its own.
func runOf(list []format.Decision) int {
	first, n := list[0], 1
	if first.Kind != format.DecideRetract && first.Kind != format.DecideRestore {
		return n
	}
	for n < len(list) && list[n].Kind == first.Kind && list[n].Cluster == first.Cluster &&
		follows(first.Kind, list[n-1].Offset, list[n].Offset) {
		n++
	}
	return n
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
