package exchange

import (
	"context"

	"github.com/gemini-ctx/ctx/internal/agent/unionfind"
)

// AppendForest is the first operation of an import that is cut short after it: it adds the nodes of
// a document to a session as messages.
func (s *Writer) AppendForest(ctx context.Context, doc *unionfind.Document, session string) error {
	im := &forestImporter{Writer: s, doc: doc, out: ImportedForest{Session: session}}
	return im.append(ctx)
}
