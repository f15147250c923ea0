package forest

// Keep takes out the live clusters and the tombstones of which it is not told to keep them. Numbers
// stay as they are. It is for forests that no decisions are made about: they would not say that a
// cluster went.
func (s *State) Keep(live func(*Cluster) (bool, error), evicted func(Evicted) (bool, error)) error {
	for _, c := range s.Live() {
		keep, err := live(c)
		if err != nil {
			return err
		}
		if !keep {
			delete(s.live, c.Number)
		}
	}
	list, err := s.Evicted()
	if err != nil {
		return err
	}
	for _, e := range list {
		keep, err := evicted(e)
		if err == nil && !keep {
			err = s.tombs.remove(s.load, e.Cluster)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Empty reports whether a forest has neither clusters nor tombstones.
func (s *State) Empty() bool { return len(s.live) == 0 && s.tombs.count == 0 }
