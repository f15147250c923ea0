package session

import (
	"fmt"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/forest/score"
	"github.com/gemini-ctx/ctx/format"
)

// writer turns messages into entries at the end of a branch, under the lock.
type writer struct {
	*tx
	h      *head
	orphan bool
	line   *lineage                // what the session stands on, rewound words included
	past   *lineage                // what the branch stands on
	batch  map[[16]byte][]imported // sources of this batch, which nothing else knows yet
	fresh  bool                    // the packs were listed under this lock
	done   []appendedEntry
	inv    invocations
	forgot *traces // what was forgotten; nil for nothing
	looked bool    // forgot was looked for
	// amended are messages that were members already when a newer version of them came.
	amended []format.ID
}

// imported is an entry that a source was written to.
type imported struct {
	id     format.ID
	amends format.ID
	digest string
	gone   bool // it is not in the branch: it was rewound away
}

// write makes an entry of a message, or finds the one that is there.
func (w *writer) write(m *Message) (Appended, error) {
	e := w.entryOf(m)
	if m.Source == nil {
		return w.put(m, e)
	}
	digest, err := w.Digest16(m.record())
	if err != nil {
		return Appended{}, err
	}
	e.Source = &format.Source{Agent: m.Source.Agent, Session: m.Source.Session, Message: m.Source.Message, Digest: digest}
	known, err := w.known(e)
	if err != nil {
		return Appended{}, err
	}
	if len(known) == 0 {
		return w.first(m, e)
	}
	for _, k := range known {
		if k.digest == digest {
			return Appended{ID: k.message(), Known: true}, nil
		}
	}
	// What was rewound away has no place that a newer version could take: the message is said anew.
	known = slices.DeleteFunc(known, func(k imported) bool { return k.gone })
	if len(known) == 0 {
		return w.put(m, e)
	}
	if e.Kind == format.KindMessage {
		e.Kind, e.Amends = format.KindAmend, known[0].message()
		e.Seq--
	}
	a, err := w.put(m, e)
	a.Amended = true
	return a, err
}

// first writes a message whose source is new: for itself, or as a newer version of the one that it says it amends.
func (w *writer) first(m *Message, e *format.Entry) (Appended, error) {
	if m.Amends.IsZero() || e.Kind != format.KindMessage {
		return w.put(m, e)
	}
	in, err := w.past.has(m.Amends)
	if err != nil || !in {
		if err == nil {
			return w.put(m, e) // it was rewound away: this one is said anew
		}
		return Appended{}, err
	}
	e.Kind, e.Amends = format.KindAmend, m.Amends
	e.Seq--
	a, err := w.put(m, e)
	a.Amended = true
	return a, err
}

// message is the entry that shows in the log: the first version.
func (k imported) message() format.ID {
	if k.amends.IsZero() {
		return k.id
	}
	return k.amends
}

// record is what tells versions of a message apart.
func (m *Message) record() []byte {
	if m.Source.Record != nil {
		return m.Source.Record
	}
	b := []byte(m.Role + "\x00" + m.Author + "\x00")
	if m.Parts != nil {
		return append(append(b, "parts\x00"...), m.Parts...)
	}
	return append(append(b, "text\x00"...), m.Text...)
}

func (w *writer) entryOf(m *Message) *format.Entry {
	e := &format.Entry{
		Seq: w.h.Seq + 1, Session: w.h.session, Kind: format.KindMessage, Role: m.Role, Author: m.Author,
		Time: w.timeOf(m), Invocation: m.Invocation, Calls: m.Calls, Results: m.Results, Tokens: m.Tokens,
	}
	if m.Note {
		e.Kind = format.KindNote
		e.Seq--
	}
	if w.h.value.Exists() {
		e.Parents = []format.ID{w.h.value.ID}
	}
	return e
}

// timeOf keeps the time of a message to what a header holds; without one it is that of the message before.
func (w *writer) timeOf(m *Message) time.Time {
	t := m.Time
	if t.IsZero() {
		t = w.h.Time
	}
	if !IsTime(t) {
		t = w.Now()
	}
	return t.UTC().Truncate(time.Millisecond)
}

// IsTime reports whether a message can have a time: a header holds milliseconds of the years 0 to 9999 in UTC, and the
// zero time stands for none.
func IsTime(t time.Time) bool {
	t = t.UTC().Truncate(time.Millisecond)
	return !t.IsZero() && t.Year() >= 0 && t.Year() <= 9999
}

// known returns the entries of e's source that the session still stands on, oldest first.
func (w *writer) known(e *format.Entry) ([]imported, error) {
	key, err := e.Source.Key()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	if !w.fresh {
		// Another process may have written a pack since this one last looked.
		if err := w.Objects.Refresh(); err != nil {
			return nil, err
		}
		w.fresh = true
	}
	ids, err := w.bySource(w.view, key)
	if err != nil {
		return nil, err
	}
	var list []imported
	for _, id := range ids {
		ok, err := w.line.has(id)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		old, err := w.entry(id)
		if err != nil {
			return nil, err
		}
		if s := old.Source; s != nil && s.Agent == e.Source.Agent && s.Session == e.Source.Session && s.Message == e.Source.Message {
			in, err := w.past.has(id)
			if err != nil {
				return nil, err
			}
			list = append(list, imported{id: id, amends: old.Amends, digest: s.Digest, gone: !in})
		}
	}
	// The first version is the one that amends nothing.
	slices.SortStableFunc(list, func(a, b imported) int {
		switch {
		case a.amends.IsZero() == b.amends.IsZero():
			return 0
		case a.amends.IsZero():
			return -1
		}
		return 1
	})
	return append(list, w.batch[key]...), nil
}

// attach settles which invocation a message belongs to, and has it follow what that brings to the branch.
func (w *writer) attach(e *format.Entry) error {
	if err := w.invoke(e); err != nil || !w.h.value.Exists() {
		return err
	}
	e.Parents, e.Seq = []format.ID{w.h.value.ID}, w.h.Seq+1
	return nil
}

// put has the entry's object put and moves the branch to it.
func (w *writer) put(m *Message, e *format.Entry) (Appended, error) {
	if err := w.checkResults(e); err != nil {
		return Appended{}, err
	}
	if e.Kind == format.KindMessage {
		if err := w.attach(e); err != nil {
			return Appended{}, err
		}
	}
	text, media := []byte(m.Text), format.MediaText
	if m.Parts != nil {
		text, media = m.Parts, format.MediaParts
	}
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
		bare.Text, bare.Parts = "", nil
		m = &bare // nothing that looks at it from here on may keep its words
	}
	id := w.add(raw)
	w.done = append(w.done, appendedEntry{id, e, raw.Header})
	w.moveTo(id, e, m)
	if key, ok := format.SourceKey(raw.Header); ok {
		w.batch[key] = append(w.batch[key], imported{id: id, amends: e.Amends, digest: e.Source.Digest})
	}
	return Appended{ID: id, Forgotten: forgotten}, nil
}

// withhold takes the body off an entry whose words or whose source were forgotten, and records why it has none: the record is there before the entry.
func (w *writer) withhold(raw *format.Raw, text []byte, media string) (bool, error) {
	if !w.looked {
		var err error
		if w.forgot, err = w.forgets(); err != nil {
			return false, err
		}
		w.looked = true
	}
	if w.forgot == nil {
		return false, nil
	}
	key, sourced := format.SourceKey(raw.Header)
	forgotten, err := w.forgot.inMessage(text, media, key, sourced)
	if err == nil && !forgotten {
		// The same message as one that was forgotten, to the millisecond.
		forgotten, err = w.Objects.Forgotten(raw.ID())
	}
	if err != nil || !forgotten {
		return false, err
	}
	raw.Body = nil
	return true, w.Objects.MarkGone(w.held, []format.ID{raw.ID()}, w.Now())
}

// sealEntry builds the object of an entry. Two children of a fork may say the same first words in the same millisecond: the second is given the next one, so
// that they stay two messages. What has a source is the same message wherever it is.
func (w *writer) sealEntry(e *format.Entry, text []byte, media string) (format.Raw, error) {
	for {
		raw, err := w.seal(text, media, func(b format.Body) ([]byte, error) {
			e.Body = &b
			header, err := e.Encode()
			if err != nil {
				return nil, fmt.Errorf("%w: %w", ErrInput, err)
			}
			return header, nil
		})
		if err != nil || e.Source != nil || len(w.view.Names("sessions/"+w.h.session+"/")) < 2 {
			return raw, err
		}
		if there, err := w.Objects.Has(raw.ID()); err != nil || !there {
			return raw, err
		}
		e.Time = e.Time.Add(time.Millisecond)
	}
}

func (w *writer) moveTo(id format.ID, e *format.Entry, m *Message) {
	h := w.h
	h.value.Kind, h.value.ID = format.SessionValue, id
	h.Seq, h.Time = e.Seq, e.Time
	h.invoked(id, e)
	h.Model = h.Model || e.Role == "model"
	switch e.Kind {
	case format.KindMessage:
		it := itemOf(id, e, format.ID{})
		if len(h.Items) < maxBacklog {
			it.said = h.said(e, m, e.Role)
		}
		h.Items = append(h.Items, it)
	case format.KindAmend:
		w.becomes(e.Amends, id)
		at := slices.IndexFunc(h.Items, func(it item) bool { return it.ID == e.Amends })
		if at < 0 {
			w.amended = append(w.amended, e.Amends)
			return
		}
		fresh := itemOf(e.Amends, e, id)
		fresh.Role = h.Items[at].Role
		fresh.said = h.said(e, m, fresh.Role)
		h.Items[at] = fresh
	}
}

// said is a new message as the choice of a cluster looks at it: it is not put yet, and may be looked at before it is.
func (h *head) said(e *format.Entry, m *Message, role string) *score.Message {
	text := m.Text
	if m.Parts != nil {
		text = Words(m.Parts)
	}
	said := messageOf(h.session, e, text)
	said.Role = role
	return &said
}

// checkResults refuses the result of a call that is not in the branch: the call was rewound away, and half of a pair is no history.
func (w *writer) checkResults(e *format.Entry) error {
	if w.orphan || len(e.Results) == 0 {
		return nil
	}
	missing := slices.Clone(e.Results)
	drop := func(calls []string) {
		missing = slices.DeleteFunc(missing, func(r string) bool { return slices.Contains(calls, r) })
	}
	for i := len(w.h.Items) - 1; i >= 0 && len(missing) > 0; i-- {
		drop(w.h.Items[i].Calls)
	}
	if len(missing) == 0 {
		return nil
	}
	for _, r := range slices.Backward(w.raws) {
		if past, err := format.DecodeEntry(r.Header); err == nil {
			drop(callIDs(past))
		}
	}
	err := w.back(w.startOfBranch(), func(_ format.ID, past *format.Entry) bool {
		drop(callIDs(past))
		return len(missing) > 0
	})
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("%w: the result of call %q has no call in %s/%s", ErrStale, missing[0], w.h.session, w.h.branch)
	}
	return nil
}

func callIDs(e *format.Entry) []string {
	ids := make([]string, len(e.Calls))
	for i, c := range e.Calls {
		ids[i] = c.ID
	}
	return ids
}

// startOfBranch is the tip as it was before this batch.
func (w *writer) startOfBranch() format.ID { return w.view.Get(RefName(w.h.session, w.h.branch)).ID }
