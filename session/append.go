package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/message"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
)

// MaxMessage is the most bytes of one message's text or parts.
const MaxMessage = 16 << 20

// Message is something to be appended.
type Message struct {
	Note    bool // said about the conversation, not in it
	Role    string
	Author  string
	Text    string          // UTF-8
	Parts   json.RawMessage // instead of Text: a JSON array of message parts
	Time    time.Time       // zero: that of the message before it, else the clock's
	Calls   []format.Call   // nil: those that Parts hold
	Results []string        // nil: those that Parts hold
	Tokens  uint64
	// Invocation names the run of the agent it belongs to; "" where nobody said.
	Invocation string
	Source     *Source
	// Amends is a message of the branch that this is a newer version of, where its source does not tell; the zero ID for none.
	Amends format.ID
}

// Source says where a message comes from. One that is known in the session is not appended again.
type Source struct {
	Agent, Session, Message string
	// Record is what tells versions of the message apart; nil: its role, author and text.
	Record []byte
}

// Appended is what became of a message.
type Appended struct {
	ID      format.ID // of its entry, or of the first entry of the same source
	Known   bool      // it was there already
	Amended bool      // it is a newer version of one that was there
	// Forgotten says that its words or its source were forgotten before: its entry is there, and its words are not.
	Forgotten bool
}

// AppendOptions are for Append.
type AppendOptions struct {
	Verb   string    // what the log says; "" is append
	Expect format.ID // where not zero: nothing was said on the branch since this was its tip, else ErrStale
	Orphan bool      // accept results whose calls are not in the branch
	// Parent, where not nil, is who the session works for: it is linked in the same operation, as Link does it. Orphan then is for its call, too.
	Parent *Parent
	// NoGraduation leaves what is due to Graduate: for many batches in a row.
	NoGraduation bool
}

// Append adds messages to the end of a branch, in one operation, and returns what became of each, in order, and what sanitising
// found. A session that does not exist is created, with its first branch. When it returns without an error the messages are on the
// disk to stay; after any error none of them is in the branch, unless errors.Is(err, refs.ErrMaybe).
func (s *Store) Append(ctx context.Context, session, branch string, batch []Message, o AppendOptions) ([]Appended, []sanitize.Finding, error) {
	if err := format.CheckName(session); err != nil {
		return nil, nil, fmt.Errorf("%w: session %q: %w", ErrInput, clip(session), err)
	}
	if err := format.CheckName(branch); err != nil {
		return nil, nil, fmt.Errorf("%w: branch %q: %w", ErrInput, clip(branch), err)
	}
	clean, found, err := cleanAll(batch)
	if err != nil {
		return nil, nil, err
	}
	var done []Appended
	err = s.locked(ctx, func(t *tx) error {
		done, err = t.appendAll(session, branch, clean, o)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return done, found, nil
}

// ErrInput says that a message or a name cannot be taken as it is.
var ErrInput = errors.New("bad input")

func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}

// cleanAll sanitises a batch before anything of it is hashed or written.
func cleanAll(batch []Message) ([]Message, []sanitize.Finding, error) {
	out := slices.Clone(batch)
	var all []sanitize.Finding
	for i := range out {
		found, err := out[i].clean()
		if err != nil {
			return nil, nil, fmt.Errorf("%w: cannot sanitise a message, so it is not stored: %w", ErrInput, err)
		}
		if err := out[i].check(); err != nil {
			return nil, nil, err
		}
		all = addFindings(all, found)
	}
	slices.SortFunc(all, func(a, b sanitize.Finding) int { return strings.Compare(a.Class, b.Class) })
	return out, all, nil
}

// clean sanitises what somebody else has written: the text, and the names that go into the header.
func (m *Message) clean() (found []sanitize.Finding, err error) {
	text, clean := []byte(m.Text), sanitize.Text
	if m.Parts != nil {
		text, clean = m.Parts, sanitize.JSON
	}
	text, found, err = clean(text)
	if err != nil {
		return nil, err
	}
	if m.Parts != nil {
		m.Parts = text
	} else {
		m.Text = string(text)
	}
	names := []*string{&m.Author, &m.Invocation}
	if m.Source != nil {
		src := *m.Source
		m.Source = &src
		names = append(names, &src.Session, &src.Message)
	}
	for _, name := range names {
		b, more, err := sanitize.Text([]byte(*name))
		if err != nil {
			return nil, err
		}
		if len(more) > 0 {
			*name, found = string(b), addFindings(found, more)
		}
	}
	return found, nil
}

func (m *Message) check() error {
	size := len(m.Text)
	if m.Parts != nil {
		size = len(m.Parts)
	}
	switch {
	case !format.IsRole(m.Role):
		return fmt.Errorf("%w: unknown role %q: user, model, tool and system are the roles", ErrInput, clip(m.Role))
	case size > MaxMessage:
		return fmt.Errorf("%w: message of %d bytes: %d is the most", ErrInput, size, MaxMessage)
	case !utf8.ValidString(m.Author):
		return fmt.Errorf("%w: author is not UTF-8", ErrInput)
	}
	if m.Parts == nil {
		return nil
	}
	parts, err := message.Parse(m.Parts)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInput, err)
	}
	if m.Calls == nil && m.Results == nil {
		m.Calls, m.Results = linksOf(parts)
	}
	return nil
}

// appendAll appends a clean batch in one operation.
func (t *tx) appendAll(session, branch string, batch []Message, o AppendOptions) ([]Appended, error) {
	name := RefName(session, branch)
	old := t.view.Get(name)
	if !old.Exists() && branch != MainBranch {
		return nil, t.orJoined(unknownSession(session, branch), session, branch)
	}
	if still, err := t.stillAt(old.ID, o.Expect); err != nil {
		return nil, err
	} else if !still {
		return nil, fmt.Errorf("%w: the tip of %s/%s is %s, not %v", ErrStale, session, branch, tipOf(old), o.Expect)
	}
	h, err := t.head(session, branch, old)
	if err != nil {
		return nil, err
	}
	w := &writer{tx: t, h: h, orphan: o.Orphan, line: t.lineage(old.ID), past: t.history(old.ID), batch: map[[16]byte][]imported{}}
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
	if h.value.ID == old.ID {
		return done, t.linkAlone(session, o) // everything was known
	}
	before := t.view
	if len(w.done) > objects.LooseMost {
		// Learning now is cheap, and reading many entries again later is not.
		if err := t.withLinks(before, func(*links) error { return nil }); err != nil {
			return nil, err
		}
	}
	if err := t.refresh(w.amended); err != nil {
		return nil, err
	}
	if err := t.finish(h, old, o); err != nil {
		return nil, err
	}
	t.learn(before, t.view, w.done)
	if withheld > 0 {
		t.warn(fmt.Errorf("session %q: %d of %d messages hold what was forgotten: they are kept without their words", clip(session), withheld, len(batch)))
	}
	return done, nil
}

// stillAt reports whether nothing was said or taken back since a branch's tip was the one expected: what masks, forks or tells the model something new may
// stand after it. The zero ID expects nothing.
func (s *Store) stillAt(tip, expect format.ID) (bool, error) {
	if expect.IsZero() || tip == expect {
		return true, nil
	}
	still := false
	err := s.backSides(tip, func(id format.ID, e *format.Entry, _ bool) bool {
		still = id == expect
		switch e.Kind {
		case format.KindFork, format.KindMask, format.KindReplace, format.KindEpoch:
			return !still
		}
		return false
	})
	return still, err
}

func tipOf(v format.Value) string {
	if !v.Exists() {
		return "not there"
	}
	return v.ID.String()
}

// finish graduates what is due, leaves if the tail has grown too long, and commits.
func (t *tx) finish(h *head, old format.Value, o AppendOptions) error {
	var folded []format.RefUpdate
	if !o.NoGraduation && !h.Lags && h.Fork == "" {
		if _, err := t.graduate(h, GraduateOnAppend); err != nil {
			return err
		}
		var err error
		if folded, err = t.leaveIfLong(h); err != nil {
			return err
		}
	}
	verb := o.Verb
	if verb == "" {
		verb = refs.VerbAppend
	}
	op := &format.Operation{Verb: verb, Session: h.session}
	op.Refs = append(op.Refs, format.RefUpdate{Name: RefName(h.session, h.branch), Old: old, New: h.value})
	op.Refs = append(op.Refs, folded...)
	if o.Parent != nil {
		u, err := t.link(h.session, *o.Parent, o.Orphan)
		if err != nil {
			return err
		}
		if u.New != u.Old {
			op.Refs = append(op.Refs, u)
		}
	}
	if u, moved := t.headTo(h.session); moved {
		op.Refs = append(op.Refs, u)
	}
	if err := t.commit(op); err != nil {
		return err
	}
	t.saveHead(h)
	return nil
}

// headTo has HEAD name a session where it names none: it is the first one, or the one that HEAD named was removed or undone.
func (t *tx) headTo(session string) (u format.RefUpdate, moved bool) {
	HEAD := t.view.Get("HEAD")
	if HEAD.Name == session || len(t.view.Names("sessions/"+HEAD.Name+"/")) > 0 {
		return u, false
	}
	return format.RefUpdate{Name: "HEAD", Old: HEAD, New: format.Value{Kind: format.NameValue, Name: session}}, true
}
