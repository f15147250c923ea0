package importer

import (
	"errors"
	"fmt"
	"io"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/history"
)

// RemovedError says that a transcript is of a session that somebody has removed from the store.
// What was removed stays removed, whoever imports: only an undo, or an import that somebody has
// asked for by the name of the file or of the session, brings it back.
type RemovedError struct{ Session string }

func (e *RemovedError) Error() string {
	name := history.Clip(e.Session)
	return fmt.Sprintf("session %q was removed from this store, and stays so until `ctx undo -s %s` "+
		"or `ctx import FILE` brings it back", name, name)
}

// Goes returns the session into which an import of a transcript goes, and whether somebody has
// removed it. It reads only the beginning; what is wrong with a transcript, the import says.
func (s *Writer) Goes(read transcript.Read) (session string, removed bool) {
	im := &transcriptImporter{importer: &importer{Writer: s}}
	var of *RemovedError
	_, _ = read(func(st transcript.Step) error {
		_ = errors.As(im.begin(&st), &of)
		return io.EOF // it is known now
	})
	return im.out.Session, of != nil
}

// wasRemoved reports whether a session is not there because it was removed, and may not come back.
// Where it may, it is noted as one that does.
func (im *transcriptImporter) wasRemoved(session string) (bool, error) {
	view, err := im.refs()
	if err != nil || !history.WasRemoved(view, session) {
		return false, err
	}
	if im.named {
		im.out.Back = append(im.out.Back, session)
	}
	return !im.named, nil
}
