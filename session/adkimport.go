package session

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gemini-ctx/ctx/agent/adk"
	"github.com/gemini-ctx/ctx/agent/transcript"
	"github.com/gemini-ctx/ctx/format"
)

// ImportedADK is what ImportADK reports.
type ImportedADK struct {
	Tally
	Session string
	Stats   adk.Stats
}

// importBytes is how much an import holds in memory before it records it.
const importBytes = 8 << 20

// ImportADK brings a session of ADK into the session named as, or where as is "" the one of its own id. It can be run again on the same events, or on
// more of them: what is known is not added again. What an export of this store has wrought comes back as what it was.
func (s *Store) ImportADK(ctx context.Context, r io.Reader, as string, unit adk.Unit) (ImportedADK, error) {
	im := &messageImporter{Store: s, ctx: ctx, as: as, ids: map[transcript.Origin]format.ID{}}
	stats, err := adk.Read(r, adk.ReadOptions{Unit: unit, Session: as}, im.step)
	if err == nil {
		err = im.flush()
	}
	im.out.Stats = stats
	if im.out.Session == "" {
		im.out.Session = stats.Session
	}
	if errors.Is(err, adk.ErrForm) {
		err = fmt.Errorf("%w: %w", ErrInput, err)
	}
	return im.out, err
}
