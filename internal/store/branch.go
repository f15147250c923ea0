package store

import (
	"fmt"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/lists"
)

// Controlled is a branch with a new entry on it that is not a message, before the commit.
type Controlled struct {
	*history.Head              // Value is the new value of the branch's ref
	ID            format.ID    // the entry
	Old           format.Value // the value of the ref as it is
}

// Control puts an entry on a branch that says something about the branch: fork, join, mask,
// replace, epoch. It sets the parents, seq, session and time of e; and its body, unless media is
// "". A join comes with its further parents and its seq. CommitControl records the change.
func (t *Tx) Control(
	session, branch string, e *format.Entry, body []byte, media string,
) (*Controlled, error) {
	old, err := history.Tip(t.View, session, branch)
	if err != nil {
		return nil, err
	}
	h, err := t.Head(session, branch, old)
	if err != nil {
		return nil, err
	}
	c := &Controlled{Head: h, Old: old}
	return c, t.OnTop(c, e, body, media)
}

// OnTop puts one more entry on a branch that is being changed, as Control does.
func (t *Tx) OnTop(c *Controlled, e *format.Entry, body []byte, media string) error {
	if c.Value.Exists() {
		e.Parents = slices.Insert(slices.Clone(e.Parents), 0, c.Value.ID)
	}
	e.Seq = max(e.Seq, c.Seq)
	e.Session = c.Session
	e.Time = t.Now().UTC().Truncate(time.Millisecond)
	raw := format.Raw{}
	var err error
	if media != "" {
		raw, err = t.SealEntry(e, body, media)
	} else if raw.Header, err = e.Encode(); err != nil {
		err = fmt.Errorf("%w: %w", history.ErrInput, err)
	}
	if err != nil {
		return err
	}
	c.ID = t.Add(raw)
	c.Value.Kind, c.Value.ID, c.Seq = format.SessionValue, c.ID, e.Seq
	c.Invoked(c.ID, e)
	return nil
}

// CommitControl records a changed branch, and the refs that move with it, in one operation.
func (t *Tx) CommitControl(verb string, c *Controlled, more ...format.RefUpdate) error {
	op := &format.Operation{Verb: verb, Session: c.Session}
	op.Refs = append(op.Refs,
		format.RefUpdate{Name: history.RefName(c.Session, c.Branch), Old: c.Old, New: c.Value})
	op.Refs = append(op.Refs, more...)
	if err := t.Commit(op); err != nil {
		return err
	}
	t.SaveHead(c.Head)
	return nil
}

// HeadTo returns the update that has HEAD name a session, and none where HEAD names that session,
// or another one that exists.
func (t *Tx) HeadTo(session string) []format.RefUpdate {
	HEAD := t.View.Get("HEAD")
	if HEAD.Name == session || len(t.View.Names("sessions/"+HEAD.Name+"/")) > 0 {
		return nil
	}
	return []format.RefUpdate{{Name: "HEAD", Old: HEAD,
		New: format.Value{Kind: format.NameValue, Name: session}}}
}

// OrJoined returns an error for a branch that is missing: missing, or an ErrStale with the
// operation that joined the branch.
func (t *Tx) OrJoined(missing error, session, branch string) error {
	v, by, err := t.Joined(t.View, session, branch)
	if err != nil || !v.Exists() {
		return missing
	}
	return fmt.Errorf("%w: branch %s of session %s was joined by operation %d", history.ErrStale,
		branch, session, by)
}

// SetLatest notes the latest version of a message from this operation on. The refs do not have it
// before the commit.
func (t *Tx) SetLatest(message, version format.ID) {
	if t.latest == nil {
		t.latest = map[format.ID]format.ID{}
	}
	t.latest[message] = version
}

// SetLatestAt notes the latest versions of messages on a branch that ends at tip. Messages that are
// not on it keep theirs.
func (t *Tx) SetLatestAt(tip format.ID, messages []format.ID) error {
	left := lists.Set(messages)
	if len(left) == 0 {
		return nil
	}
	for e, err := range t.Walk(tip, history.WithJoined) {
		if err != nil {
			return err
		}
		for _, message := range []format.ID{e.ID, e.Amends} {
			if left[message] && (e.Kind == format.KindAmend || message == e.ID) {
				t.SetLatest(message, e.ID)
				delete(left, message)
			}
		}
		if len(left) == 0 {
			break
		}
	}
	return nil
}

// LatestNow is Latest as of the operation that is being made.
func (t *Tx) LatestNow(id format.ID) (*history.Shown, error) {
	if len(t.latest) > 0 {
		if err := t.Flush(); err != nil { // the version may be waiting
			return nil, err
		}
	}
	if version, ok := t.latest[id]; ok {
		return t.Entry(version)
	}
	return t.Latest(t.View, id)
}
