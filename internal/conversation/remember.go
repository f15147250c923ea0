package conversation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/message"
	"github.com/gemini-ctx/ctx/sanitize"
)

// ErrNoNote is the error of Remember for a note that is to supersede what is none.
var ErrNoNote = errors.New("not a note")

// Remember appends a note that somebody wants remembered: a person with the role user, a model with
// the role model. The entry is one like all others: undo, forget, forks and sharing hold for it.
// Errors are those of Append, and ErrNoNote.
func (s *Writer) Remember(
	ctx context.Context, session, branch string, n message.Note, role string, at time.Time,
) (Appended, []sanitize.Finding, error) {
	if n.Supersedes != "" {
		id, err := format.ParseID(n.Supersedes)
		if err != nil {
			return Appended{}, nil, err
		}
		old, err := s.Version(id, id)
		if err != nil {
			return Appended{}, nil, err
		}
		if _, ok := message.NoteOf(old.Parts); !ok || old.Entry.Kind != format.KindNote {
			return Appended{}, nil, fmt.Errorf("%w: %v", ErrNoNote, id)
		}
	}
	done, found, err := s.Append(ctx, session, branch,
		[]Message{{Note: true, Role: role, Parts: n.Parts(), Time: at}}, AppendOptions{})
	if err != nil {
		return Appended{}, nil, err
	}
	return done[0], found, nil
}
