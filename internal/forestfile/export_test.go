package forestfile

import (
	"context"
)

// Append is the first operation of an import that is cut short after it: it adds the nodes of
// a document to a session as messages.
func (s *Writer) Append(ctx context.Context, doc *Document, session string) error {
	im := &importer{Writer: s, doc: doc, out: Imported{Session: session}}
	return im.append(ctx)
}
