package conversation

import (
	"fmt"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/forest/score"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// Appender turns messages into entries at the end of a branch, under the lock. It serves one
// operation on one branch.
type Appender struct {
	*Tx
	// Tip is the branch as the operation leaves it: Put moves it on.
	Tip *history.Head
	// Amended lists graduated messages that got a later version.
	Amended []format.ID

	orphan      bool                    // accept results whose calls are not in the branch
	sessionLine *history.Lineage        // the history of the session, rewound entries included
	branchLine  *history.Lineage        // the history of the branch before the operation
	batch       map[[16]byte][]Imported // entries of this operation, by source
	packsListed bool                    // the packs were listed under this lock
	before      *refs.View
	written     []history.Entry
	said        []history.Said // of written, if a follower wants it
	inv         invocations
	forgotten   *history.Traces // nil where nothing was forgotten
	kin         *bool           // other lines may share messages with this; nil: not known yet
	traced      bool            // forgotten is read
}

// NewAppender returns an appender at the tip of a branch. An orphan is the result of a call that
// is not in the branch; without orphans, Put refuses it.
func (t *Tx) NewAppender(tip *history.Head, orphans bool) *Appender {
	id := tip.Value.ID
	return &Appender{
		Tx: t, Tip: tip, orphan: orphans, before: t.store.View,
		sessionLine: t.Lineage(id), branchLine: t.History(id), batch: map[[16]byte][]Imported{},
	}
}

// reserve makes room for the entries of n messages.
func (w *Appender) reserve(n int) {
	w.written = slices.Grow(w.written, n)
	if w.follow {
		w.said = slices.Grow(w.said, n)
	}
}

// InBranch reports whether an entry was in the history of the branch before the operation.
func (w *Appender) InBranch(id format.ID) (bool, error) { return w.branchLine.Has(id) }

// Wrote records an entry that the caller put on the branch without Put.
func (w *Appender) Wrote(id format.ID, e *format.Entry) {
	w.written = append(w.written, history.Entry{ID: id, Entry: e})
	if w.follow {
		w.said = append(w.said, history.Said{Entry: history.Entry{ID: id, Entry: e}})
	}
}

// Written returns the entries that the appender has put on the branch, oldest first.
func (w *Appender) Written() []history.Entry { return w.written }

// Appended returns what Follow is told of the entries that the appender has put on a branch that
// was at from; nil if nobody follows.
func (w *Appender) Appended(from format.ID) *history.Batch {
	if !w.follow || from == w.Tip.Value.ID {
		return nil
	}
	return &history.Batch{Session: w.Tip.Session, Branch: w.Tip.Branch, From: from,
		To: w.Tip.Value.ID, Said: w.said}
}

// Write puts a message on the branch, or finds the entry that its source already has. The message
// must have been cleaned (CleanAll).
func (w *Appender) Write(m *Message) (Appended, error) { return w.write(m) }

// ReadLinks reads the links of the store before the commit of a long operation. LearnLinks then
// adds to them; otherwise the next reader would have to read all the new entries again.
func (w *Appender) ReadLinks() error {
	if len(w.written) <= objects.MaxCarried {
		return nil
	}
	return w.WithLinks(w.before, func(*history.Links) error { return nil })
}

// LearnLinks adds what was written to the links of the store. It belongs after the commit.
func (w *Appender) LearnLinks() { w.Learn(w.before, w.store.View, w.written) }

// write makes an entry of a message, or finds the entry that its source already has.
func (w *Appender) write(m *Message) (Appended, error) {
	e := w.EntryOf(m)
	if m.Source == nil {
		return w.Put(m, e)
	}
	digest, err := w.Digest16(m.Record())
	if err != nil {
		return Appended{}, err
	}
	e.Source = &format.Source{Agent: m.Source.Agent, Session: m.Source.Session,
		Message: m.Source.Message, Digest: digest}
	known, err := w.Known(e)
	if err != nil {
		return Appended{}, err
	}
	if len(known) == 0 {
		return w.first(m, e)
	}
	for _, k := range known {
		if k.Digest == digest {
			return Appended{ID: k.Message(), Known: true}, nil
		}
	}
	// A rewound entry has no place for a later version: the message is new then.
	known = slices.DeleteFunc(known, func(k Imported) bool { return k.gone })
	if len(known) == 0 {
		return w.Put(m, e)
	}
	return w.amend(m, e, known[0].Message())
}

// first writes a message whose source is new. It becomes a later version of the message that it
// names in Amends, if the branch has that one.
func (w *Appender) first(m *Message, e *format.Entry) (Appended, error) {
	if m.Amends.IsZero() || e.Kind != format.KindMessage {
		return w.Put(m, e)
	}
	in, err := w.branchLine.Has(m.Amends)
	if err != nil {
		return Appended{}, err
	}
	if !in {
		return w.Put(m, e) // it was rewound away
	}
	return w.amend(m, e, m.Amends)
}

// amend writes a later version of a message. A later version of a note is one more note.
func (w *Appender) amend(m *Message, e *format.Entry, first format.ID) (Appended, error) {
	if e.Kind == format.KindMessage {
		e.Kind, e.Amends = format.KindAmend, first
		e.Seq--
	}
	a, err := w.Put(m, e)
	a.Amended = true
	return a, err
}

// EntryOf returns the entry of a message at the tip of the branch, without body and source.
func (w *Appender) EntryOf(m *Message) *format.Entry {
	e := &format.Entry{
		Seq: w.Tip.Seq + 1, Session: w.Tip.Session, Kind: format.KindMessage, Role: m.Role,
		Author: m.Author,
		Time:   w.timeOf(m), Invocation: m.Invocation, Calls: m.Calls, Results: m.Results,
		Tokens: m.Tokens,
	}
	if m.Note {
		e.Kind = format.KindNote
		e.Seq--
	}
	if w.Tip.Value.Exists() {
		e.Parents = []format.ID{w.Tip.Value.ID}
	}
	return e
}

// timeOf returns the time of a message as a header can hold it. A message without a time has that
// of the message before it.
func (w *Appender) timeOf(m *Message) time.Time {
	t := m.Time
	if t.IsZero() {
		t = w.Tip.Time
	}
	if !format.IsTime(t) {
		t = w.Now()
	}
	return t.UTC().Truncate(time.Millisecond)
}

// Put stores an entry of m and moves the branch to it.
func (w *Appender) Put(m *Message, e *format.Entry) (Appended, error) {
	if err := w.checkResults(e); err != nil {
		return Appended{}, err
	}
	if e.Kind == format.KindMessage {
		if err := w.attach(e); err != nil {
			return Appended{}, err
		}
	}
	text, media := m.Body()
	raw, err := w.sealEntry(e, text, media)
	if err != nil {
		return Appended{}, err
	}
	forgotten, err := w.withhold(&raw, text, media)
	if err != nil {
		return Appended{}, err
	}
	if forgotten {
		bare := *m
		bare.Text, bare.Parts, bare.ahead = "", nil, nil
		m = &bare // the backlog must not keep its words
	}
	id := w.store.Add(raw)
	if err := w.cameBack(id, e); err != nil {
		return Appended{}, err
	}
	w.Wrote(id, e)
	if w.follow && e.Kind != format.KindAmend && !forgotten {
		said := &w.said[len(w.said)-1]
		if said.Plain = true; m.ahead != nil {
			said.Text, said.Parts = m.words(), m.Parts // they are at hand
		} else {
			// The follower reads it when the caller may have used its bytes again.
			said.Text, said.Parts = m.Text, slices.Clone(m.Parts)
		}
	}
	w.moveTo(id, e, m)
	if key, ok := format.SourceKey(raw.Header); ok {
		w.batch[key] = append(w.batch[key],
			Imported{id: id, amends: e.Amends, Digest: e.Source.Digest})
	}
	return Appended{ID: id, Forgotten: forgotten}, nil
}

// attach settles which invocation a message belongs to. That may join children to the branch, so
// attach also sets the parent and the seq of the message.
func (w *Appender) attach(e *format.Entry) error {
	if err := w.setInvocation(e); err != nil || !w.Tip.Value.Exists() {
		return err
	}
	e.Parents, e.Seq = []format.ID{w.Tip.Value.ID}, w.Tip.Seq+1
	return nil
}

// withhold removes the body of an entry if its words or its source were forgotten. It records why
// before the entry is written.
func (w *Appender) withhold(raw *format.Raw, text []byte, media string) (bool, error) {
	if !w.traced {
		var err error
		if w.forgotten, err = w.ForgottenWords(); err != nil {
			return false, err
		}
		w.traced = true
	}
	if w.forgotten == nil {
		return false, nil
	}
	key, sourced := format.SourceKey(raw.Header)
	forgotten, err := w.forgotten.InMessage(text, media, key, sourced)
	if err == nil && !forgotten {
		// It may be the same object as one that was forgotten.
		forgotten, err = w.Objects.Forgotten(raw.ID())
	}
	if err != nil || !forgotten {
		return false, err
	}
	raw.Body = nil
	return true, w.store.MarkAbsent([]format.ID{raw.ID()}, format.ReasonForgotten, w.Now())
}

// cameBack notes of a message that the store had before that it may be a member already: an import
// brings it back under its id after its session was removed, or the import was undone, and another
// line has kept it.
func (w *Appender) cameBack(id format.ID, e *format.Entry) error {
	if e.Source == nil || e.Kind != format.KindMessage {
		return nil
	}
	if w.kin == nil {
		view, session := w.before, w.Tip.Session
		kin := len(history.BranchesIn(view, session)) > 1 ||
			len(history.Relatives(view, session)) > 0
		w.kin = &kin
	}
	if !*w.kin {
		return nil
	}
	there, err := w.Objects.Has(id)
	if there {
		w.Tip.ShareUpTo(max(w.Tip.Alone, e.Seq))
	}
	return err
}

// sealEntry builds the object of an entry. Two children of a fork may say the same first words in
// the same millisecond; the second message gets the next millisecond, so that they stay two. A
// message with a source is the same wherever it is.
func (w *Appender) sealEntry(e *format.Entry, text []byte, media string) (format.Raw, error) {
	for {
		raw, err := w.SealEntry(e, text, media)
		if err != nil || e.Source != nil ||
			len(w.store.View.Names("sessions/"+w.Tip.Session+"/")) < 2 {
			return raw, err
		}
		if there, err := w.Objects.Has(raw.ID()); err != nil || !there {
			return raw, err
		}
		e.Time = e.Time.Add(time.Millisecond)
	}
}

// moveTo moves the branch to a new entry.
func (w *Appender) moveTo(id format.ID, e *format.Entry, m *Message) {
	h := w.Tip
	h.Value.Kind, h.Value.ID = format.SessionValue, id
	h.Seq, h.Time = e.Seq, e.Time
	h.Invoked(id, e)
	h.Model = h.Model || e.Role == "model"
	switch e.Kind {
	case format.KindMessage:
		it := history.ItemOf(id, e, format.ID{})
		if len(h.Items) < history.MaxBacklog {
			it.Said = scoreOf(h.Session, e, m, e.Role)
		}
		h.Items = append(h.Items, it)
	case format.KindAmend:
		w.store.SetLatest(e.Amends, id)
		at := slices.IndexFunc(h.Items, func(it history.Item) bool { return it.ID == e.Amends })
		if at < 0 {
			w.Amended = append(w.Amended, e.Amends)
			return
		}
		fresh := history.ItemOf(e.Amends, e, id)
		fresh.Role = h.Items[at].Role
		fresh.Said = scoreOf(h.Session, e, m, fresh.Role)
		h.Items[at] = fresh
	}
}

// scoreOf returns a new message in the form in which a cluster is chosen for it.
func scoreOf(session string, e *format.Entry, m *Message, role string) *score.Message {
	said := history.ScoreMessage(session, e, m.words())
	said.Role = role
	return &said
}

// checkResults refuses the result of a call that is not in the branch: a rewind took the call away,
// and half of a pair is no history.
func (w *Appender) checkResults(e *format.Entry) error {
	if w.orphan || len(e.Results) == 0 {
		return nil
	}
	missing := slices.Clone(e.Results)
	drop := func(calls []string) {
		missing = slices.DeleteFunc(missing,
			func(r string) bool { return slices.Contains(calls, r) })
	}
	for i := len(w.Tip.Items) - 1; i >= 0 && len(missing) > 0; i-- {
		drop(w.Tip.Items[i].Calls)
	}
	if len(missing) == 0 {
		return nil
	}
	for _, r := range slices.Backward(w.store.Waiting()) {
		if past, err := format.DecodeEntry(r.Header); err == nil {
			drop(history.CallIDs(past))
		}
	}
	for past, err := range w.Walk(w.startOfBranch(), history.WithJoined) {
		if err != nil {
			return err
		}
		if drop(history.CallIDs(past.Entry)); len(missing) == 0 {
			return nil
		}
	}
	return fmt.Errorf("%w: the result of call %q has no call in %s/%s", history.ErrStale,
		missing[0], w.Tip.Session, w.Tip.Branch)
}

// startOfBranch returns the tip of the branch before the operation.
func (w *Appender) startOfBranch() format.ID {
	return w.store.View.Get(history.RefName(w.Tip.Session, w.Tip.Branch)).ID
}
