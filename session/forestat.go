package session

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// NewestOperation is the name of the newest operation.
const NewestOperation = "@"

// Operation returns the number of the operation that a name means: NewestOperation, a number, or the digest of one, whole or the first 4 digits of it or more. What
// consists of decimal digits is a number. ErrNotFound where there is none yet, ErrGone where it is older than the kept log.
func (s *Store) Operation(view *refs.View, name string) (uint64, error) {
	if name == NewestOperation {
		if view.Number == 0 {
			return 0, fmt.Errorf("%w: no operation yet", ErrNotFound)
		}
		return view.Number, nil
	}
	if n, err := strconv.ParseUint(name, 10, 64); err == nil {
		return n, s.inLog(view, n)
	}
	if len(name) < 4 || len(name) > format.IDLen || !isHex(name) {
		return 0, fmt.Errorf("%w: %q is neither the number of an operation nor the digest of one", ErrInput, clip(name))
	}
	var found []uint64
	err := s.Refs.Backward(view, func(r refs.Record) bool {
		if strings.HasPrefix(r.Digest.String(), name) {
			found = append(found, r.Op.Number)
		}
		return len(found) < 2
	})
	switch {
	case err != nil:
		return 0, err
	case len(found) == 0:
		return 0, fmt.Errorf("%w: no operation with the digest %s in the log", ErrNotFound, name)
	case len(found) > 1:
		return 0, fmt.Errorf("%w: digest %s is ambiguous: operations %d and %d", ErrNotFound, name, found[1], found[0])
	}
	return found[0], nil
}

// inLog reports whether the refs after an operation can be had from the kept log.
func (s *Store) inLog(view *refs.View, number uint64) error {
	base, err := s.Refs.Base()
	switch {
	case err != nil:
		return err
	case number == 0:
		return fmt.Errorf("%w: operations are numbered from 1", ErrInput)
	case number > view.Number:
		return fmt.Errorf("%w: no operation %d yet: the newest is %d", ErrNotFound, number, view.Number)
	case number < base.Number:
		return fmt.Errorf("%w: operation %d is older than the log, which begins after operation %d", ErrGone, number, base.Number)
	}
	return nil
}

// ForestAt returns the shared forest as it was after an operation. It starts from the newest forest before it that is still there whole, and applies
// the decisions since; where gc has left none, from where the log begins. ErrNotFound and ErrGone as of Operation.
func (s *Store) ForestAt(view *refs.View, number uint64) (*forest.State, error) {
	return s.forestOfAt(view, MainForest, number)
}

// forestOfAt is ForestAt for the forest of a name.
func (s *Store) forestOfAt(view *refs.View, name string, number uint64) (*forest.State, error) {
	if err := s.inLog(view, number); err != nil {
		return nil, err
	}
	start, decisions, err := s.forestBefore(view, name, number)
	if err != nil {
		return nil, err
	}
	st, err := s.forestAt(start)
	if err != nil {
		return nil, err
	}
	st.Name = name // an empty one has none yet
	return st, st.ApplyAll(decisions)
}

// forestBefore returns a forest of a name that is there whole, the zero ID for the empty one, and what was decided from it up to an operation.
func (s *Store) forestBefore(view *refs.View, name string, number uint64) (start format.ID, decisions []format.Decision, err error) {
	var since [][]format.Decision // newest first
	found := false
	var failed error
	err = s.Refs.Backward(view, func(r refs.Record) bool {
		if r.Op.Number > number {
			return true
		}
		for _, u := range r.Op.Refs {
			if u.Name == forestRefOf(name) {
				if found, failed = s.isWhole(u.New.ID); found {
					start = u.New.ID
				}
			}
		}
		if found || failed != nil {
			return false
		}
		for _, f := range r.Op.Forests {
			if f.Name == name {
				since = append(since, f.Decisions)
			}
		}
		return true
	})
	if err := errors.Join(failed, err); err != nil {
		return start, nil, err
	}
	if !found {
		base, err := s.Refs.Base()
		if err != nil {
			return start, nil, err
		}
		for _, r := range base.Refs {
			if r.Name == forestRefOf(name) {
				start = r.Value.ID // it is truth, and there
			}
		}
	}
	for _, list := range slices.Backward(since) {
		decisions = append(decisions, list...)
	}
	return start, decisions, nil
}

// isWhole reports whether a forest is there with all that was made for it: the nodes of its live clusters and the pages of its tombstones. What
// decisions name the log keeps.
func (s *Store) isWhole(id format.ID) (bool, error) {
	if id.IsZero() {
		return true, nil
	}
	st, err := s.forestAt(id)
	if err == nil {
		_, err = st.Evicted()
	}
	if err == nil {
		for _, c := range st.Live() {
			if _, err = st.Members(c); err != nil {
				break
			}
		}
	}
	if errors.Is(err, objects.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// ClustersAt is Clusters as it was after an operation.
func (s *Store) ClustersAt(view *refs.View, number uint64) ([]ClusterInfo, error) {
	st, err := s.ForestAt(view, number)
	if err != nil {
		return nil, err
	}
	return s.clustersOf(st)
}
