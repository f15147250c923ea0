package session

import (
	"context"
	"fmt"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// UserRefs is what the names of refs that people give begin with.
const UserRefs = "user/"

// UpdateRef makes a ref under user/ name an object, in one operation. The zero id takes the ref away. Where expect is not nil it is what the ref must
// hold, the zero ID for nothing, else ErrStale. A ref that is where it is to be stays, and nothing is recorded. ErrInput says that the name is
// none that can be given, ErrNotFound that there is no such object, or no such ref to take away.
func (s *Store) UpdateRef(ctx context.Context, name string, id format.ID, expect *format.ID) error {
	if err := checkUserRef(name); err != nil {
		return err
	}
	if !id.IsZero() {
		there, err := s.Objects.Has(id)
		if err != nil {
			return err
		}
		if !there {
			return fmt.Errorf("%w: no object %v", ErrNotFound, id)
		}
	}
	return s.locked(ctx, func(t *tx) error {
		old := t.view.Get(name)
		if expect != nil && *expect != old.ID {
			return fmt.Errorf("%w: %s names %s; %s was expected", ErrStale, name, orNothing(old.ID), orNothing(*expect))
		}
		want := format.Value{}
		if !id.IsZero() {
			want = format.Value{Kind: format.ObjectValue, ID: id}
		}
		if old == want {
			if id.IsZero() {
				return fmt.Errorf("%w: no ref %q", ErrNotFound, clip(name))
			}
			return nil
		}
		return t.commit(&format.Operation{Verb: refs.VerbUpdateRef, Refs: []format.RefUpdate{{Name: name, Old: old, New: want}}})
	})
}

func orNothing(id format.ID) string {
	if id.IsZero() {
		return "nothing"
	}
	return id.String()
}

func checkUserRef(name string) error {
	if !strings.HasPrefix(name, UserRefs) {
		return fmt.Errorf("%w: ref %q is not under %s", ErrRefused, clip(name), UserRefs)
	}
	if err := format.CheckRefName(name); err != nil {
		return fmt.Errorf("%w: ref %q: %w", ErrInput, clip(name), err)
	}
	return nil
}

// EndAt makes a branch end at one of its entries, as Rewind does: what follows leaves, and so does a call whose result follows. At the tip nothing is
// done, and the Rewound has no Entry. ErrRefused says that the entry is not in the branch: a session's ref goes nowhere but back.
func (s *Store) EndAt(ctx context.Context, session, branch string, id format.ID, o RewindOptions) (Rewound, error) {
	view, err := s.Refs.Read()
	if err != nil {
		return Rewound{}, err
	}
	tip, err := tipAs(view, session, branch, o.Expect)
	if err != nil {
		return Rewound{}, err
	}
	if tip.ID == id {
		return Rewound{Left: tip.ID, Known: true}, nil
	}
	next, found := format.ID{}, false
	err = s.back(tip.ID, func(at format.ID, _ *format.Entry) bool {
		if found = at == id; !found {
			next = at
		}
		return !found
	})
	if err != nil {
		return Rewound{}, err
	}
	if !found {
		return Rewound{}, fmt.Errorf("%w: entry %v is not in %s/%s", ErrRefused, id, session, branch)
	}
	o.Expect = tip.ID
	return s.Rewind(ctx, session, branch, next, o)
}
