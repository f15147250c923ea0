package session

import (
	"fmt"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/format"
)

// controlled is a branch with an entry on it that nobody said, before the commit.
type controlled struct {
	*head
	id  format.ID    // the entry
	old format.Value // of the branch's ref; head.value is the new one
}

// control has an entry put that says something about a branch: fork, join, mask, replace, epoch. It sets the entry's parents, seq, session
// and time, and its body where media is not "". A join has its further parents and its seq set already. Nothing has happened until commitControl.
func (t *tx) control(session, branch string, e *format.Entry, body []byte, media string) (*controlled, error) {
	old, err := Tip(t.view, session, branch)
	if err != nil {
		return nil, err
	}
	h, err := t.head(session, branch, old)
	if err != nil {
		return nil, err
	}
	c := &controlled{head: h, old: old}
	return c, t.onTop(c, e, body, media)
}

// onTop has another entry put on a branch that is being changed.
func (t *tx) onTop(c *controlled, e *format.Entry, body []byte, media string) error {
	if c.value.Exists() {
		e.Parents = slices.Insert(slices.Clone(e.Parents), 0, c.value.ID)
	}
	e.Seq = max(e.Seq, c.Seq)
	e.Session = c.session
	e.Time = t.Now().UTC().Truncate(time.Millisecond)
	raw := format.Raw{}
	var err error
	if media == "" {
		raw.Header, err = e.Encode()
	} else {
		raw, err = t.seal(body, media, func(b format.Body) ([]byte, error) {
			e.Body = &b
			return e.Encode()
		})
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInput, err)
	}
	c.id = t.add(raw)
	c.value.Kind, c.value.ID, c.Seq = format.SessionValue, c.id, e.Seq
	c.invoked(c.id, e)
	return nil
}

// commitControl records what was put on a branch, with other refs that move with it, in one operation.
func (t *tx) commitControl(verb string, c *controlled, more ...format.RefUpdate) error {
	op := &format.Operation{Verb: verb, Session: c.session}
	op.Refs = append(op.Refs, format.RefUpdate{Name: RefName(c.session, c.branch), Old: c.old, New: c.value})
	op.Refs = append(op.Refs, more...)
	if err := t.commit(op); err != nil {
		return err
	}
	t.saveHead(c.head)
	return nil
}
