package edits

import (
	"context"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
)

// MaxTries limits how often Retry prepares a change without the lock. The next attempt prepares it
// under the lock.
const MaxTries = 4

// Retry prepares a change of a branch with look, without the lock, and makes it with act, under the
// lock. It starts again if the branch has moved between the two, or words were forgotten.
func Retry[T any](
	ctx context.Context, s *Writer, session, branch string, look func(format.Value) (T, error),
	act func(*Tx, *T) error,
) (T, error) {
	var done, none T
	for try := 1; ; try++ {
		mark, err := s.ForgetMark()
		if err != nil {
			return none, err
		}
		v, err := s.Refs.Read()
		if err != nil {
			return none, err
		}
		seen, err := history.Tip(v, session, branch)
		if err == nil {
			done, err = look(seen)
		}
		if err != nil {
			return none, err
		}
		moved := false
		err = s.Locked(ctx, func(t *Tx) error {
			now, err := history.Tip(t.store.View, session, branch)
			if err != nil {
				return err
			}
			forgot, err := t.ForgetMark()
			if err != nil {
				return err
			}
			if moved = now != seen || forgot != mark; moved && try < MaxTries {
				return nil
			}
			if moved {
				if done, err = look(now); err != nil {
					return err
				}
			}
			moved = false
			return act(t, &done)
		})
		if err != nil {
			return none, err
		}
		if !moved {
			return done, nil
		}
	}
}
