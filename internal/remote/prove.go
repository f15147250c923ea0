package remote

import (
	"context"
	"errors"
	"fmt"
)

// Prove checks that a remote keeps what PutNew and Swap promise: it writes a small file under the
// name check/ID, tries what has to be refused, and removes the file. Several stores depend on these
// refusals, and some endpoints ignore them without a word. Errors are those of the remote, or say
// what it does wrong.
func Prove(ctx context.Context, r Remote, id string) (err error) {
	name := "check/" + id
	if err := r.Swap(ctx, name, nil, []byte("one")); err != nil {
		return fmt.Errorf("cannot write: %w", err)
	}
	defer func() { err = errors.Join(err, r.Delete(ctx, []string{name})) }()
	switch b, err := r.Get(ctx, name); {
	case err != nil:
		return fmt.Errorf("cannot read what was written: %w", err)
	case string(b) != "one":
		return errors.New("what was written does not come back")
	}
	if err := r.Swap(ctx, name, nil, []byte("two")); !errors.Is(err, ErrStale) {
		return fmt.Errorf("it makes a file that is there: stores would overwrite one another (%w)",
			orNone(err))
	}
	if err := r.Swap(ctx, name, []byte("zero"), []byte("two")); !errors.Is(err, ErrStale) {
		return fmt.Errorf(
			"it replaces a file that has changed: stores would overwrite one another (%w)",
			orNone(err))
	}
	if err := r.Swap(ctx, name, []byte("one"), []byte("two")); err != nil {
		return fmt.Errorf("cannot replace: %w", err)
	}
	return nil
}

func orNone(err error) error {
	if err == nil {
		return errors.New("no error")
	}
	return err
}
