package exchange

import (
	"context"
	"errors"
	"fmt"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/adk"
	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
)

// messageImporter turns the steps of one conversation into batches of messages and rewinds.
type messageImporter struct {
	*Writer
	ctx     context.Context
	as      string // the session; "" until a message has named it
	branch  string
	out     Tally
	batch   []conversation.Message
	from    []transcript.Origin // of the batch
	size    int                 // of the batch
	ids     map[transcript.Origin]format.ID
	line    *history.Lineage   // the session's history before the import, with rewound entries
	tip     format.ID          // of that history
	changes *edits.Edits       // the masks of that history; nil until needed
	view    *refs.View         // nil after a change
	past    *history.Lineage   // the branch's history in view; nil until needed
	copy    *copied            // a session that this one may begin with a copy of
	begun   bool               // the first message has been processed
	ahead   *aheadStep         // what was done ahead for the current step; nil for nothing
	group   *group             // of transcripts that are recorded together; nil for none
	wrote   bool               // a part of the conversation was written
	found   []sanitize.Finding // in the batch that the group has

	begins *beginning // how it may begin with a copy of another session; nil if it does not
	bare   bool       // a message has no record
	// How the transcript goes on with a session of the store that has another name; nil if it does
	// not
	resumed *resumed
	// The session has what came before: a note that was taken once is there, and Append graduates
	goesOn bool
}

// Tally counts what an import did in one session.
type Tally struct {
	Messages int // new in this run
	Notes    int // new in this run
	Known    int // there already
	Amended  int // newer versions of what was there
	Rewinds  int // new in this run
	Redacted []sanitize.Finding
}

// add counts the results of a batch.
func (c *Tally) add(
	batch []conversation.Message, done []conversation.Appended, found []sanitize.Finding,
) {
	for i, a := range done {
		switch {
		case a.Known:
			c.Known++
		case a.Amended:
			c.Amended++
		case batch[i].Note:
			c.Notes++
		default:
			c.Messages++
		}
	}
	c.Redacted = conversation.AddFindings(c.Redacted, found)
}

// sum adds the counts of another tally.
func (c *Tally) sum(o Tally) {
	c.Messages += o.Messages
	c.Notes += o.Notes
	c.Known += o.Known
	c.Amended += o.Amended
	c.Rewinds += o.Rewinds
	c.Redacted = conversation.AddFindings(c.Redacted, o.Redacted)
}

// An import records at most importBatch messages, and about importBytes of them, in one operation.
const (
	importBatch = 4096
	importBytes = 8 << 20
)

func (im *messageImporter) step(st transcript.Step) error {
	if err := im.ctx.Err(); err != nil {
		return err
	}
	m := st.Message
	if err := im.name(&m); err != nil {
		return err
	}
	if st.Kind == transcript.KindRewind {
		if err := im.flush(); err != nil {
			return err
		}
		return im.rewind(st)
	}
	if !im.begun && st.Begins != "" {
		var err error
		if err := im.group.flush(); err != nil {
			return err // it may hold the session, or another one that begins with a copy of it
		}
		if im.copy, err = im.copiedFrom(fitSession(st.Begins)); err != nil {
			return err
		}
	}
	im.begun = true
	if copied, err := im.isCopy(&m); err != nil || copied {
		return err
	}
	im.bare = im.bare || m.Record == nil
	out := im.message(&m)
	if im.copy.has(&m, out) {
		return nil
	}
	known, err := im.known(&m, &out)
	if err != nil || known {
		return err
	}
	im.batch, im.from = append(im.batch, out), append(im.from, m.Origin)
	if im.size += len(m.Text) + len(m.Parts); im.size > importBytes ||
		len(im.batch) == importBatch {
		return im.flush()
	}
	return nil
}

// name determines the session of the messages.
func (im *messageImporter) name(m *transcript.Message) error {
	if im.as == "" {
		im.as = m.Origin.Session
	}
	if im.as == "" {
		return fmt.Errorf("%w: the events name no session: give one", history.ErrInput)
	}
	return nil
}

func (im *messageImporter) message(m *transcript.Message) conversation.Message {
	out := conversation.Message{
		Note: m.Note, Role: m.Role, Author: m.Author, Text: m.Text, Parts: m.Parts, Time: m.Time,
		Tokens: m.Tokens, Invocation: m.Invocation,
		Calls: m.Calls, Results: m.Results, Source: im.source(m),
	}
	if out.Calls == nil && out.Results == nil {
		out.Calls = []format.Call{} // no calls, even if parts look like calls
	}
	switch {
	case im.ahead != nil:
		im.ahead.applyTo(&out)
	case byWords(m):
		out.Source.Record = adk.Normal(m)
	}
	return out
}

// byWords reports whether the words of a message tell versions of it apart.
func byWords(m *transcript.Message) bool {
	return m.Record == nil && catalog.TraitsOf(m.Origin.Agent).ByWords
}

func (im *messageImporter) source(m *transcript.Message) *conversation.Source {
	o := m.Origin
	if o.Session == "" && m.Record == nil {
		o.Session = transcript.Fit(im.as)
	}
	return &conversation.Source{Agent: o.Agent, Session: o.Session, Message: o.Message,
		Record: m.Record}
}

func (im *messageImporter) flush() error {
	if len(im.batch) == 0 {
		return nil
	}
	if err := im.group.flush(); err != nil {
		return err
	}
	done, found, err := im.conversation.Append(im.ctx, im.as, im.branch, im.batch,
		conversation.AppendOptions{Verb: refs.VerbImport, Orphan: true, NoGraduation: !im.goesOn})
	if err != nil {
		return err
	}
	im.wroteBatch(done, found)
	return nil
}

// wroteBatch counts what came of the batch, and lets go of it.
func (im *messageImporter) wroteBatch(done []conversation.Appended, found []sanitize.Finding) {
	for i, a := range done {
		if !a.Amended || im.ids[im.from[i]].IsZero() {
			im.ids[im.from[i]] = a.ID
		}
	}
	im.out.add(im.batch, done, found)
	clear(im.batch)
	im.batch, im.from, im.size, im.view, im.wrote, im.found = im.batch[:0], im.from[:0], 0,
		nil, true, nil
}

// writeIn writes the waiting messages in an operation of a transaction that is open.
func (im *messageImporter) writeIn(t *Tx) error {
	done, err := t.conversation.Append(im.as, im.branch, im.batch,
		conversation.AppendOptions{Verb: refs.VerbImport, Orphan: true, NoGraduation: true})
	if err == nil {
		im.wroteBatch(done, im.found)
	}
	return err
}

// rewind records a rewind of the transcript.
func (im *messageImporter) rewind(st transcript.Step) error {
	to := st.RewindTo
	if im.copy != nil && im.copy.left[to] {
		if to = im.copy.first; to == (transcript.Origin{}) {
			return nil // only copies leave
		}
	}
	target, ok := im.ids[to]
	switch {
	case to == (transcript.Origin{}):
		if view, err := im.Refs.Read(); err != nil ||
			!view.Get(history.RefName(im.as, im.branch)).Exists() {
			return err
		}
	case ok:
	case im.resumed != nil:
		im.out.Known++ // the session does not have the message
		return nil
	default:
		return fmt.Errorf("no entry for %q", to.Message)
	}
	src := im.source(&transcript.Message{Origin: st.Message.Origin})
	if src.Record = st.Message.Record; src.Record == nil {
		src.Record = []byte(src.Message)
	}
	if err := im.group.flush(); err != nil {
		return err
	}
	im.view, im.wrote = nil, true
	done, err := im.conversation.Rewind(im.ctx, im.as, im.branch, target,
		conversation.RewindOptions{Source: src})
	switch {
	case errors.Is(err, history.ErrNotFound):
		im.out.Known++ // it was rewound before
		return nil
	case err != nil:
		return err
	case done.Known:
		im.out.Known++
	default:
		im.out.Rewinds++
	}
	return nil
}
