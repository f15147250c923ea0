package store

import (
	"context"
	"errors"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
)

// LockedWith is Locked for an operation that names many objects: they are written before the lock
// is taken, and do decides under it whether they are to be. put gives them to the store; do must
// call it before it commits what names them. If do does not, or fails before, none is kept.
func (s *Store) LockedWith(
	ctx context.Context, raws []format.Raw, do func(t *Tx, put func() error) error,
) error {
	raws, ids := distinct(raws)
	gone, err := s.repo.Objects.Gone(ids)
	if err != nil {
		return err
	}
	if len(raws) <= objects.MaxCarried || len(gone) > 0 { // Put sees to records of lost bodies
		return s.Locked(ctx, func(t *Tx) error {
			return do(t, func() error {
				t.Add(raws...)
				return t.Flush()
			})
		})
	}
	each := func(yield func(format.Raw, error) bool) {
		for _, r := range raws {
			if !yield(r, nil) {
				return
			}
		}
	}
	var done bool    // do has put them
	var failed error // what do or the lock says
	_, err = s.repo.Objects.WritePackWhen(each, objects.Fast, func(publish func() error) error {
		failed = s.Locked(ctx, func(t *Tx) error {
			return do(t, func() error {
				if gone, err := s.repo.Objects.Gone(ids); err != nil {
					return err
				} else if len(gone) > 0 { // a forget came in between
					t.Add(raws...)
					return t.Flush()
				}
				if err := publish(); err != nil {
					return err
				}
				for _, id := range ids {
					t.present[id] = true
				}
				done = true
				return nil
			})
		})
		if failed == nil && !done {
			return errNotPut
		}
		return failed
	})
	switch {
	case failed != nil:
		return failed
	case errors.Is(err, errNotPut):
		return nil
	}
	return err
}

// errNotPut has WritePackWhen drop a pack that is not wanted.
var errNotPut = errors.New("the objects are not wanted")
