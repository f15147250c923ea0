package storetest

import (
	"context"
	"errors"

	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/lock"
)

// SpreadOf moves the objects that the log of a store carries into packs of one object each.
func SpreadOf(c context.Context, r *repo.Repo) error {
	held, err := r.Lock(c)
	if err != nil {
		return err
	}
	return errors.Join(move(r, held), held.Release())
}

func move(r *repo.Repo, held *lock.Held) error {
	v, err := r.Refs.Begin(held)
	if err != nil {
		return err
	}
	for _, raw := range v.Carried() {
		if err := r.Objects.Put(raw); err != nil {
			return err
		}
	}
	_, err = r.Refs.Unload(held, v, false)
	return err
}
