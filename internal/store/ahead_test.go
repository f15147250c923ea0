package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/objects"
)

// Objects that are written before the lock is taken are in the store if the transaction puts them,
// and leave no file otherwise, be they few or many.
func TestLockedWith(t *testing.T) {
	ctx := context.Background()
	failure := errors.New("no")
	for _, n := range []int{3, 300} {
		for _, c := range []struct {
			name     string
			put, bad bool
		}{{"put", true, false}, {"not put", false, false}, {"failed before", false, true},
			{"failed after", true, true}} {
			t.Run(fmt.Sprint(n, " ", c.name), func(t *testing.T) {
				s := storetest.Create(t)
				var raws []format.Raw
				for i := range n {
					node := format.Node{Count: 1,
						Children: []format.ID{{1: byte(i), 2: byte(i >> 8), 3: 1}}}
					header, err := node.Encode()
					if err != nil {
						t.Fatal(err)
					}
					raws = append(raws, format.Raw{Header: header})
				}
				raws = append(raws, raws[0]) // one twice
				err := s.Store.LockedWith(ctx, raws, func(_ *store.Tx, put func() error) error {
					if c.put {
						if err := put(); err != nil {
							return err
						}
					}
					if c.bad {
						return failure
					}
					return nil
				})
				if c.bad != errors.Is(err, failure) || !c.bad && err != nil {
					t.Errorf("got %v", err)
				}
				packs, err := s.Objects.PackNames(".tmp")
				if err != nil || len(packs) > 0 {
					t.Errorf("left over: %v, %v", packs, err)
				}
				// A few objects come with the operation that names them.
				for i, r := range raws {
					has, err := s.Objects.Has(r.ID())
					if err != nil || has && !c.put || !has && c.put && n > 64 {
						t.Fatalf("object %d of %d: there %v, %v", i, n, has, err)
					}
				}
			})
		}
	}
}

// A body that is forgotten between the writing of a pack and its turn at the lock stays forgotten,
// and so does one that is stored without an operation.
func TestForgottenMeanwhile(t *testing.T) {
	ctx := context.Background()
	s := storetest.Create(t)
	var raws []format.Raw
	for i := range 300 {
		b := fmt.Appendf(nil, "secret %d", i)
		header, err := format.EncodeBlob(format.SumBody(b, format.MediaText))
		if err != nil {
			t.Fatal(err)
		}
		raws = append(raws, format.Raw{Header: header, Body: b})
	}
	id := raws[7].ID()
	err := s.Store.LockedWith(ctx, raws, func(tx *store.Tx, put func() error) error {
		if err := tx.MarkAbsent([]format.ID{id}, format.ReasonForgotten, s.Now()); err != nil {
			return err
		}
		return put()
	})
	var gone *objects.GoneError
	if !errors.As(err, &gone) || gone.ID != id {
		t.Errorf("LockedWith: got %v", err)
	}
	if err := s.Store.Put(ctx, nil, raws[7]); !errors.As(err, &gone) {
		t.Errorf("Put: got %v", err)
	}
	if raw, err := s.Objects.Get(id); err == nil && raw.Body != nil {
		t.Errorf("the body is there: %q", raw.Body)
	}
	if err := s.Store.Put(ctx, nil, raws[8]); err != nil {
		t.Error(err)
	}
	if raw, err := s.Objects.Get(raws[8].ID()); err != nil || string(raw.Body) != "secret 8" {
		t.Errorf("the other body: %q, %v", raw.Body, err)
	}
}
