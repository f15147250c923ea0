package clusters

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// NewestOperation is the name of the newest operation.
const NewestOperation = "@"

// Operation returns the number of an operation. name is NewestOperation, a decimal number, or a
// digest or a prefix of one with at least 4 digits. It returns ErrNotFound if there is no such
// operation yet, and ErrGone if the operation is older than the log.
func (s *Reader) Operation(view *refs.View, name string) (uint64, error) {
	if name == NewestOperation {
		if view.Number == 0 {
			return 0, fmt.Errorf("%w: no operation yet", history.NoStep)
		}
		return view.Number, nil
	}
	if n, err := strconv.ParseUint(name, 10, 64); err == nil {
		return n, s.inLog(view, n)
	}
	if len(name) < 4 || len(name) > format.IDLen || !isHex(name) {
		return 0, fmt.Errorf("%w: %q is neither the number of an operation nor the digest of one",
			history.ErrInput, history.Clip(name))
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
		return 0,
			fmt.Errorf("%w: no operation with the digest %s in the log", history.NoStep, name)
	case len(found) > 1:
		return 0,
			fmt.Errorf("%w: digest %s is ambiguous: operations %d and %d", history.NoStep,
				name, found[1], found[0])
	}
	return found[0], nil
}

// inLog reports whether the refs after an operation can be had from the kept log.
func (s *Reader) inLog(view *refs.View, number uint64) error {
	base, err := s.Refs.Base()
	switch {
	case err != nil:
		return err
	case number == 0:
		return fmt.Errorf("%w: operations are numbered from 1", history.ErrInput)
	case number > view.Number:
		return fmt.Errorf("%w: no operation %d yet: the newest is %d", history.NoStep,
			number, view.Number)
	case number < base.Number:
		return fmt.Errorf("%w: operation %d is older than the log, which begins after operation %d",
			history.ErrGone, number, base.Number)
	}
	return nil
}

// ForestAt returns the main forest as it was after an operation. It reads the newest complete
// forest before the operation, or the forest at the beginning of the log if gc has removed the
// others, and applies the later decisions. Errors are those of Operation.
func (s *Reader) ForestAt(view *refs.View, number uint64) (*forest.State, error) {
	return s.ForestOfAt(view, history.MainForest, number)
}

// ForestOfAt is ForestAt for the forest of a name.
func (s *Reader) ForestOfAt(view *refs.View, name string, number uint64) (*forest.State, error) {
	if err := s.inLog(view, number); err != nil {
		return nil, err
	}
	start, decisions, err := s.forestBefore(view, name, number)
	if err != nil {
		return nil, err
	}
	st, err := s.ReadForest(start)
	if err != nil {
		return nil, err
	}
	st.Name = name // an empty forest has no name
	return st, st.ApplyAll(decisions)
}

// forestBefore returns the newest complete forest of a name up to an operation, the zero ID for
// an empty forest, and the decisions between the two.
func (s *Reader) forestBefore(
	view *refs.View, name string, number uint64,
) (start format.ID, decisions []format.Decision, err error) {
	var since [][]format.Decision // newest first
	found := false
	var failed error
	err = s.Refs.Backward(view, func(r refs.Record) bool {
		if r.Op.Number > number {
			return true
		}
		for _, u := range r.Op.Refs {
			if u.Name == history.ForestRefOf(name) {
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
			if r.Name == history.ForestRefOf(name) {
				start = r.Value.ID // it is truth, and there
			}
		}
	}
	for _, list := range slices.Backward(since) {
		decisions = append(decisions, list...)
	}
	return start, decisions, nil
}

// isWhole reports whether a forest is complete: whether the nodes of its live clusters and the
// pages of its tombstones exist. The log keeps everything that decisions name.
func (s *Reader) isWhole(id format.ID) (bool, error) {
	if id.IsZero() {
		return true, nil
	}
	st, err := s.ReadForest(id)
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
