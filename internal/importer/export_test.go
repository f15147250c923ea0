package importer

import (
	"context"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// ImportAhead is ImportTranscript for a transcript that is read in a goroutine of its own.
func (s *Writer) ImportAhead(ctx context.Context, a *Ahead, as string) (ImportedTranscript, error) {
	im := s.newTranscript(ctx, as)
	return im.read(func() (transcript.Stats, error) { return im.readAhead(a) })
}
