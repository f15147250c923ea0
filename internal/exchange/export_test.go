package exchange

import (
	"context"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/agent/unionfind"
)

// ImportAhead is ImportTranscript for a transcript that is read in a goroutine of its own.
func (s *Writer) ImportAhead(ctx context.Context, a *Ahead, as string) (ImportedTranscript, error) {
	im := s.newTranscript(ctx, as)
	return im.read(func() (transcript.Stats, error) { return im.readAhead(a) })
}

// AppendForest is the first operation of an import that is cut short after it: it adds the nodes of
// a document to a session as messages.
func (s *Writer) AppendForest(ctx context.Context, doc *unionfind.Document, session string) error {
	im := &forestImporter{Writer: s, doc: doc, out: ImportedForest{Session: session}}
	return im.append(ctx)
}
