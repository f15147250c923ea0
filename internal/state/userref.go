package state

import (
	"context"
	"fmt"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// UserRefs is the prefix of the refs that people name.
const UserRefs = "user/"

// UpdateRef makes a ref under user/ name an object, in one operation; the zero ID removes the ref.
// If expect is not nil, the ref must hold it, the zero ID for nothing, else ErrStale. A ref that
// already has the value is left alone. ErrInput says that the name is not valid, ErrNotFound that
// there is no such object, or no such ref to remove.
func (s *Writer) UpdateRef(
	ctx context.Context, name string, id format.ID, expect *format.ID,
) error {
	if err := checkUserRef(name); err != nil {
		return err
	}
	if !id.IsZero() {
		there, err := s.Objects.Has(id)
		if err != nil {
			return err
		}
		if !there {
			return fmt.Errorf("%w: no object %v", history.NoID, id)
		}
	}
	return s.Locked(ctx, func(t *Tx) error {
		old := t.store.View.Get(name)
		if expect != nil && *expect != old.ID {
			return fmt.Errorf("%w: %s names %s; %s was expected", history.ErrStale, name,
				history.OrNothing(old.ID), history.OrNothing(*expect))
		}
		want := format.Value{}
		if !id.IsZero() {
			want = format.Value{Kind: format.ObjectValue, ID: id}
		}
		if old == want {
			if id.IsZero() {
				return fmt.Errorf("%w: no ref %q", history.ErrNotFound, history.Clip(name))
			}
			return nil
		}
		return t.store.Commit(&format.Operation{Verb: refs.VerbUpdateRef,
			Refs: []format.RefUpdate{{Name: name, Old: old, New: want}}})
	})
}

func checkUserRef(name string) error {
	if !strings.HasPrefix(name, UserRefs) {
		return fmt.Errorf("%w: ref %q is not under %s", history.ErrRefused,
			history.Clip(name), UserRefs)
	}
	if err := format.CheckRefName(name); err != nil {
		return fmt.Errorf("%w: ref %q: %w", history.ErrInput, history.Clip(name), err)
	}
	return nil
}
