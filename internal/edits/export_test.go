package edits

import (
	"context"

	"github.com/gemini-ctx/ctx/format"
)

// The limits that the tests go to.
const (
	MaxMaskParts = maxMaskParts
	MaxTries     = maxTries
)

// Retry is retry for a change that looks up an id.
func Retry(
	ctx context.Context, s *Writer, session, branch string,
	look func(format.Value) (format.ID, error), act func(*Tx, *format.ID) error,
) (format.ID, error) {
	return retry(ctx, s, session, branch, look, act)
}
