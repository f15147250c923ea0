package conversation

import (
	"context"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
)

// Appended says what became of a message.
type Appended struct {
	ID      format.ID `json:"id"`      // of its entry, or of the first entry of the same source
	Known   bool      `json:"known"`   // the branch had it already
	Amended bool      `json:"amended"` // it is a later version of a message
	// Forgotten says that its words or its source were forgotten before: the entry has no words.
	Forgotten bool `json:"forgotten,omitempty"`
}

// AppendOptions are the options of Append.
type AppendOptions struct {
	Verb string // the verb in the log; "" for append
	// If not zero: nothing was said on the branch since this was its tip, else ErrStale
	Expect format.ID
	Orphan bool // accept results whose calls are not in the branch
	// Parent, if not nil, is the call that the session works for. It is linked in the same operation,
	// as by Link; Orphan applies to its call, too.
	Parent *history.Parent
	// NoGraduation leaves graduation to a later Graduate, after many batches.
	NoGraduation bool
}

// Append adds messages to the end of a branch in one operation. It returns what became of each
// message, in order, and what sanitizing found. It creates a session that does not exist, with its
// main branch. Without an error the messages are durable; after an error none of them is in the
// branch, unless errors.Is(err, refs.ErrMaybe).
func (s *Writer) Append(
	ctx context.Context, session, branch string, batch []Message, o AppendOptions,
) ([]Appended, []sanitize.Finding, error) {
	if err := format.CheckName(session); err != nil {
		return nil, nil,
			fmt.Errorf("%w: session %q: %w", history.ErrInput, history.Clip(session), err)
	}
	if err := format.CheckName(branch); err != nil {
		return nil, nil,
			fmt.Errorf("%w: branch %q: %w", history.ErrInput, history.Clip(branch), err)
	}
	batch = slices.Clone(batch)
	secrets := s.PrintedIn(session, branch)
	for i := range batch {
		if found := secrets.In(&batch[i]); len(found) > 0 {
			batch[i].Secrets, batch[i].ahead = found, nil
		}
	}
	clean, found, err := CleanAll(batch)
	if err != nil {
		return nil, nil, err
	}
	b := &history.Batch{Session: session, Branch: branch}
	done, err := store.Do(ctx, s.Room, func(t *Tx) ([]Appended, error) {
		return t.appendAll(b, clean, o)
	})
	if err != nil {
		return nil, nil, err
	}
	if s.Follow != nil && b.From != b.To {
		s.Follow(b)
	}
	return done, found, nil
}

// Append is Writer.Append of messages that were cleaned (CleanAll), in a transaction that is open.
// It tells no follower.
func (t *Tx) Append(session, branch string, clean []Message, o AppendOptions) ([]Appended, error) {
	return t.appendAll(&history.Batch{Session: session, Branch: branch}, clean, o)
}

// Withheld is the remark that messages were kept without their words.
func Withheld(session string, withheld, of int) error {
	return fmt.Errorf(
		"session %q: %d of %d messages hold what was forgotten: they are kept without their words",
		history.Clip(session), withheld, of)
}

// appendAll appends a sanitized batch in one operation. It notes in out what came of it.
func (t *Tx) appendAll(out *history.Batch, batch []Message, o AppendOptions) ([]Appended, error) {
	session, branch := out.Session, out.Branch
	name := history.RefName(session, branch)
	old := t.store.View.Get(name)
	if !old.Exists() && branch != history.MainBranch {
		return nil, t.store.OrJoined(history.UnknownSession(session, branch), session, branch)
	}
	if still, err := t.StillAt(old.ID, o.Expect); err != nil {
		return nil, err
	} else if !still {
		return nil, fmt.Errorf("%w: the tip of %s/%s is %s, not %v", history.ErrStale, session,
			branch, history.TipOf(old), o.Expect)
	}
	h, err := t.Head(session, branch, old)
	if err != nil {
		return nil, err
	}
	w := t.NewAppender(h, o.Orphan)
	w.reserve(len(batch))
	done, withheld := make([]Appended, 0, len(batch)), 0
	for i := range batch {
		a, err := w.write(&batch[i])
		if err != nil {
			return nil, err
		}
		done = append(done, a)
		if a.Forgotten {
			withheld++
		}
	}
	if h.Value.ID == old.ID {
		if o.Parent != nil { // every message was known
			_, err = t.link(session, *o.Parent, o.Orphan)
		}
		return done, err
	}
	if err := w.ReadLinks(); err != nil {
		return nil, err
	}
	if err := t.Refresh(w.Amended); err != nil {
		return nil, err
	}
	if err := t.finish(h, old, o); err != nil {
		return nil, err
	}
	w.LearnLinks()
	out.From, out.To, out.Said = old.ID, h.Value.ID, w.said
	if withheld > 0 {
		t.Report(Withheld(session, withheld, len(batch)))
	}
	return done, nil
}

// GraduateOnAppend graduates some of what is due, and adopts a forest if the tail has grown too
// long. It returns how the ref of the branch's epoch moves.
func (t *Tx) GraduateOnAppend(h *history.Head) ([]format.RefUpdate, error) {
	if h.Lags || h.Fork != "" {
		return nil, nil
	}
	if _, err := t.clusters.Graduate(h, clusters.GraduateOnAppend); err != nil {
		return nil, err
	}
	return t.adoptIfLong(h)
}

// finish graduates what is due, adopts a forest if the tail has grown too long, and commits.
func (t *Tx) finish(h *history.Head, old format.Value, o AppendOptions) error {
	var folded []format.RefUpdate
	if !o.NoGraduation {
		var err error
		if folded, err = t.GraduateOnAppend(h); err != nil {
			return err
		}
	}
	verb := o.Verb
	if verb == "" {
		verb = refs.VerbAppend
	}
	op := &format.Operation{Verb: verb, Session: h.Session}
	op.Refs = append(op.Refs,
		format.RefUpdate{Name: history.RefName(h.Session, h.Branch), Old: old, New: h.Value})
	op.Refs = append(op.Refs, folded...)
	if o.Parent != nil {
		u, err := t.LinkTo(h.Session, *o.Parent, o.Orphan, false)
		if err != nil {
			return err
		}
		if u.New != u.Old {
			op.Refs = append(op.Refs, u)
		}
	}
	op.Refs = append(op.Refs, t.store.HeadTo(h.Session)...)
	if err := t.store.Commit(op); err != nil {
		return err
	}
	t.SaveHead(h)
	return nil
}
