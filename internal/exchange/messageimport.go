package exchange

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/adk"
	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/edits/mask"
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

// known reports whether the store has a message under another source than an event's: a message
// that the store exported, or one of another agent. A message with new content becomes a newer
// version. The shortened output of a mask is not new content.
func (im *messageImporter) known(m *transcript.Message, out *conversation.Message) (bool, error) {
	if m.Record != nil {
		return false, nil // Append compares
	}
	if err := im.look(); err != nil {
		return false, err
	}
	if im.goesOn && m.Note {
		if taken, err := im.tookNote(out.Source); taken || err != nil {
			return taken, err
		}
	}
	if m.Origin.Agent == adk.Agent && !mask.Tagged(m.Text) && !mask.Tagged(string(m.Parts)) {
		if held, err := im.edited(); err != nil || len(held.Masks) == 0 {
			return false, err // Append knows
		}
	}
	id, err := im.find(out.Source, m.Origin)
	if err != nil || id.IsZero() {
		return false, err
	}
	shown, err := im.Latest(im.view, id)
	if err != nil {
		return false, err
	}
	clean := *out
	if _, err := clean.Clean(); err != nil {
		return false, nil // Append says why
	}
	fresh := transcript.Message{Text: clean.Text, Parts: clean.Parts}
	same, err := im.holds(shown, out.Role, &fresh)
	if err != nil {
		return false, err
	}
	if same {
		im.ids[m.Origin] = id
		im.out.Known++
		return true, nil
	}
	if m.Origin.Agent != adk.Agent && shown.Entry.Source == nil {
		out.Amends = id
	}
	return false, nil
}

// tookNote reports whether the session has taken the note of a source at some time. An agent that
// hands over what is new repeats the note of the session's title each time; it stands at the
// beginning, far from all else that is looked for.
func (im *messageImporter) tookNote(src *conversation.Source) (bool, error) {
	found, err := im.imported(im.view, src.Agent, src.Session, src.Message)
	if err != nil ||
		!slices.ContainsFunc(found, func(e history.Entry) bool { return e.Session == im.as }) {
		return false, err
	}
	im.out.Known++
	return true, nil
}

// holds reports whether an entry is a message of this role and content. A forgotten entry is any.
func (im *messageImporter) holds(
	shown *history.Shown, role string, fresh *transcript.Message,
) (bool, error) {
	switch {
	case shown.Gone != "":
		return true, nil
	case shown.Entry.Role != role:
		return false, nil
	}
	return im.says(shown, fresh)
}

// says reports whether a message has the content of an entry, masked or not. The export may be
// older than the end of a mask, so the content that a mask would show counts as well. Fork branches
// that an export adds do not count.
func (im *messageImporter) says(shown *history.Shown, fresh *transcript.Message) (bool, error) {
	alone := adk.WithoutBranch(fresh)
	same := func(version *history.Shown) bool {
		old := messageOf(version)
		said := adk.Normal(&old)
		return bytes.Equal(said, adk.Normal(fresh)) || bytes.Equal(said, adk.Normal(&alone))
	}
	if same(shown) {
		return true, nil // without a look for masks, which reads the whole session
	}
	held, err := im.edited()
	if err != nil {
		return false, err
	}
	versions := []*history.Shown{held.MaskedShown(shown)}
	if mask.Tagged(fresh.Text) || mask.Tagged(string(fresh.Parts)) {
		versions = append(versions, im.shortenedAs(shown, fresh))
	}
	return slices.ContainsFunc(versions, same), nil
}

// shortenedAs returns an entry with those outputs shortened that fresh shows shortened.
func (im *messageImporter) shortenedAs(
	shown *history.Shown, fresh *transcript.Message,
) *history.Shown {
	raws := mask.Split(fresh.Parts)
	return im.edits.Shortened(shown, im.toolsOf(shown.Entry), func(part int) bool {
		return fresh.Parts == nil || part < len(raws) && mask.Tagged(string(raws[part]))
	})
}

// toolsOf returns the tools of the calls that an entry answers, by call id, if the branch's history
// has the calls.
func (im *messageImporter) toolsOf(e *format.Entry) map[string]string {
	tools := map[string]string{}
	at := history.FirstParent(e)
	for range history.MaxPairDistance {
		if at.IsZero() || len(tools) == len(e.Results) {
			break
		}
		before, err := im.Header(at)
		if err != nil {
			break // an unknown call's output is shortened like any other
		}
		for _, c := range before.Calls {
			if _, known := tools[c.ID]; !known && slices.Contains(e.Results, c.ID) {
				tools[c.ID] = c.Tool
			}
		}
		at = history.FirstParent(before)
	}
	return tools
}

// look refreshes the view of the store.
func (im *messageImporter) look() (err error) {
	if im.view != nil {
		return nil
	}
	if im.view, err = im.refs(); err != nil || im.line != nil {
		return err
	}
	im.tip = im.view.Get(history.RefName(im.as, im.branch)).ID
	im.line = im.Lineage(im.tip)
	return nil
}

// edited returns the masks of the history before the import. To find them reads all of that
// history, so they are looked for when a message is there already.
func (im *messageImporter) edited() (held *edits.Edits, err error) {
	if im.changes == nil {
		im.changes, err = im.edits.EditsAt(im.tip)
	}
	return im.changes, err
}

// refs returns the refs of the store. A run of imports reads them now and then.
func (im *messageImporter) refs() (*refs.View, error) {
	if im.group != nil {
		return im.group.refs()
	}
	return im.Refs.Read()
}

// find returns the first entry of a message in the session; the zero ID if there is none.
func (im *messageImporter) find(src *conversation.Source, o transcript.Origin) (format.ID, error) {
	if o.Agent == transcript.Own {
		id, err := format.ParseID(o.Message)
		if err != nil {
			return format.ID{}, nil
		}
		in, err := im.line.Has(id)
		if err != nil || in {
			return id, err
		}
		return format.ID{}, nil
	}
	ids, err := im.sourced(src)
	if err != nil || len(ids) == 0 {
		return format.ID{}, err
	}
	return ids[0], nil
}

// sourced returns the entries of a source in the session, rewound ones included, first versions
// only.
func (im *messageImporter) sourced(src *conversation.Source) (list []format.ID, err error) {
	found, err := im.imported(im.view, src.Agent, src.Session, src.Message)
	for _, at := range found {
		in, err := im.line.Has(at.ID)
		if err != nil {
			return nil, err
		}
		if in && at.Amends.IsZero() {
			list = append(list, at.ID)
		}
	}
	return list, err
}

// HasMessage reports whether the main branch of an agent's session has an entry that was imported
// from a message, or had it before a rewind.
func (s *Reader) HasMessage(session, agent, message string) (bool, error) {
	view, err := s.Refs.Read()
	if err != nil {
		return false, err
	}
	found, err := s.copiesOf(view, agent, transcript.Fit(session), transcript.Fit(message))
	if err != nil || len(found) == 0 {
		return false, err
	}
	line := s.Lineage(view.Get(history.RefName(fitSession(session), history.MainBranch)).ID)
	for _, e := range found {
		if in, err := line.Has(e.ID); in || err != nil {
			return in, err
		}
	}
	return false, nil
}

// imported returns the entries that were imported from a message, in any session. A message that no
// source can name has none.
func (s *Reader) imported(
	view *refs.View, agent, session, message string,
) ([]history.Entry, error) {
	list, err := s.copiesOf(view, agent, session, message)
	return slices.DeleteFunc(list,
		func(e history.Entry) bool { return e.Source.Session != session }), err
}

// copiesOf returns the entries that were imported from a message or from a copy of it, which an
// agent has put into another session under the same UUID.
func (s *Reader) copiesOf(
	view *refs.View, agent, session, message string,
) (list []history.Entry, err error) {
	const anyDigest = "0000000000000000" // the key of a source does not depend on the digest
	key, err := (&format.Source{Agent: agent, Session: session, Message: message,
		Digest: anyDigest}).Key()
	if err != nil {
		return nil, nil
	}
	ids, err := s.BySource(view, key)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		e, err := s.Header(id)
		if err != nil {
			return nil, err
		}
		if of := e.Source; of != nil && of.Agent == agent && of.Message == message {
			list = append(list, history.Entry{ID: id, Entry: e})
		}
	}
	return list, nil
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
