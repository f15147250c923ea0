package repair

import (
	"errors"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// mendLogged saves what is sound of the objects that damaged records carry, and writes the log
// without these objects. The operations themselves are whole.
func (r *repairer) mendLogged() error {
	view, err := r.s.Refs.Begin(r.held)
	if err != nil {
		return err
	}
	if err := r.s.Refs.CheckCarried(view); err != nil {
		return err
	}
	damaged := 0
	for _, rec := range view.Since {
		if rec.Damaged {
			damaged++
		}
	}
	if damaged == 0 {
		return nil
	}
	if err := r.touch(); err != nil {
		return err
	}
	named := namedBy(view.Since)
	if err := r.keepSound(view.Since, named); err != nil {
		return err
	}
	r.s.Objects.SetLogged(view.Carried())
	if err := r.s.Objects.PackLogged(r.held); err != nil {
		return err
	}
	if _, err := r.s.Refs.Unload(r.held, view, true); err != nil {
		return err
	}
	ids := make([]format.ID, 0, len(named))
	for id := range named {
		ids = append(ids, id)
	}
	missing, err := r.s.Objects.HasAll(graph.SortedIDs(ids))
	r.missing = append(r.missing, missing...)
	r.mended("%d records of the log carried damaged objects; the sound ones are in a pack", damaged)
	return err
}

// keepSound takes what is damaged out of the objects of records. named are those that something
// names. Of an object whose body is damaged, the header stays.
func (r *repairer) keepSound(records []refs.Record, named map[format.ID]bool) error {
	for _, rec := range records {
		if !rec.Damaged {
			continue
		}
		var keep []format.Raw
		for _, raw := range rec.Op.Objects {
			id := raw.ID()
			if !named[id] && !history.Vouched(raw, r.s.Nonce) {
				r.dropped[id] = true
				continue // its header is damaged, which gives it another id
			}
			if err := r.s.Objects.Admits(raw); err != nil && !objects.IsGone(err) {
				if err := r.keepCarried(id, raw.Header); err != nil {
					return err
				}
				raw.Body = nil
			}
			keep = append(keep, raw)
		}
		rec.Op.Objects = keep
	}
	return nil
}

// keepCarried stores the header of an object whose carried body is damaged, unless another copy of
// the object is whole.
func (r *repairer) keepCarried(id format.ID, header []byte) error {
	if there, err := r.s.Objects.Elsewhere(id); err != nil || there {
		return err
	}
	if err := r.loseBody(id, header); err != nil {
		return err
	}
	return r.s.Objects.Put(format.Raw{Header: header})
}

// namedBy returns the objects that operations name, and those that the carried objects name.
func namedBy(records []refs.Record) map[format.ID]bool {
	named := map[format.ID]bool{}
	for _, rec := range records {
		for _, root := range graph.RootsOfRecord(rec.Op) {
			named[root.ID] = true
		}
		for _, raw := range rec.Op.Objects {
			if _, object, err := format.DecodeObject(raw.Header); err == nil {
				for _, l := range object.Links() {
					named[l.ID] = true
				}
			}
		}
	}
	return named
}

// putCarried stores the objects that records behind a damage carry, and passes over those that are
// damaged themselves. A body that was forgotten stays forgotten.
func (r *repairer) putCarried(later []refs.Record) error {
	for _, rec := range later {
		for _, raw := range rec.Op.Objects {
			err := r.s.Objects.Admits(raw)
			if objects.IsGone(err) {
				raw.Body, err = nil, nil
			}
			if err != nil && rec.Damaged {
				continue
			}
			if err := r.s.Objects.Put(raw); err != nil {
				return err
			}
		}
	}
	return nil
}

// reattachment stores a line of history anew that stands on an entry whose header is lost. What
// stands for the lost entry gets an id of its own, and so do the entries above it: an id proves all
// that an entry stands on.
type reattachment struct {
	*recovery
	now  map[format.ID]format.ID // the ids that entries have now
	seqs map[format.ID]uint64    // of these ids
	raws []format.Raw            // to be stored
}

// errNoPlace says that nothing tells where a lost entry stood.
var errNoPlace = errors.New("nothing stands for a lost entry")

// reattach returns a tip that is whole, and whose line says what that of id says; the zero ID where
// nothing tells on what the lost entries stood.
func (c *recovery) reattach(id format.ID) (format.ID, error) {
	if c.stands == nil {
		b := history.Bridge{Before: c.view.Get, Header: c.s.History.Header, Nonce: c.s.Nonce}
		lost := refs.Record{Op: &format.Operation{Objects: c.loose}, Lost: &refs.CorruptError{}}
		c.stands = b.Follow(slices.Concat([]refs.Record{lost}, c.later))
	}
	a := reattachment{recovery: c, now: map[format.ID]format.ID{}, seqs: map[format.ID]uint64{}}
	if err := a.move(&id); err != nil {
		if errors.Is(err, errNoPlace) {
			return format.ID{}, nil
		}
		return id, err
	}
	if err := c.s.Objects.Put(a.raws...); err != nil {
		return id, err
	}
	return id, c.readGraph()
}

// move replaces the id of an entry by the one that it has now, and stores the entry if need be.
func (a *reattachment) move(id *format.ID) error {
	was := *id
	if now, known := a.now[was]; known {
		*id = now
		return nil
	}
	if was.IsZero() || a.whole(was) {
		return nil
	}
	old, lost := a.stands[was]
	if !lost {
		var err error
		if old, err = a.s.History.Header(was); history.IsDamage(err) {
			return errNoPlace
		} else if err != nil {
			return err
		}
	}
	e := *old
	e.Parents = slices.Clone(e.Parents)
	for i := range e.Parents {
		if err := a.move(&e.Parents[i]); err != nil {
			return err
		}
	}
	if err := errors.Join(a.move(&e.Amends), a.move(&e.Left)); err != nil {
		return err
	}
	if e.Kind == format.KindEpoch && !a.whole(e.Epoch) {
		*id = history.FirstParent(&e)
		a.now[was] = *id
		return nil
	}
	if err := a.place(&e); err != nil {
		return err
	}
	raw, err := a.seal(was, &e, lost)
	if err != nil {
		return err
	}
	a.raws = append(a.raws, raw)
	*id = raw.ID()
	a.now[was], a.seqs[*id] = *id, e.Seq
	return nil
}

// place sets the seq of an entry whose parent has moved.
func (a *reattachment) place(e *format.Entry) error {
	if len(e.Parents) != 1 {
		return nil
	}
	seq, moved := a.seqs[e.Parents[0]]
	if !moved {
		p, err := a.s.History.Header(e.Parents[0])
		if err != nil {
			return err
		}
		seq = p.Seq
	}
	if e.Seq = seq; e.Kind == format.KindMessage {
		e.Seq++
	}
	return nil
}

// seal makes the object of an entry that was was.
func (a *reattachment) seal(was format.ID, e *format.Entry, lost bool) (format.Raw, error) {
	raw, err := format.Raw{}, error(&objects.GoneError{Reason: format.ReasonLost})
	if !lost {
		raw, err = a.s.Objects.Get(was)
	}
	var gone *objects.GoneError
	switch {
	case err != nil && !errors.As(err, &gone):
		return raw, err
	case gone == nil && e.Body != nil:
		text, err := a.say(raw.Text(), e.Body.Media)
		if err != nil {
			return raw, err
		}
		return a.s.History.SealEntry(e, text, e.Body.Media)
	}
	header, err := e.Encode()
	raw = format.Raw{Header: header}
	switch {
	case err != nil || gone == nil:
		return raw, err
	case gone.Reason == format.ReasonForgotten:
		return raw, a.s.Objects.MarkGone(a.held, []format.ID{raw.ID()}, a.s.Now())
	}
	return raw, a.loseBody(raw.ID(), header)
}

// say returns the text of an entry's body, with the ids that entries have now.
func (a *reattachment) say(text []byte, media string) ([]byte, error) {
	switch media {
	case format.MediaMask:
		m, err := format.DecodeMask(text)
		if err != nil {
			return nil, err
		}
		for i := range m.Parts {
			if now, moved := a.now[m.Parts[i].Entry]; moved {
				m.Parts[i].Entry = now
			}
		}
		return m.Encode()
	case format.MediaReplace:
		r, err := format.DecodeReplacement(text)
		if err != nil {
			return nil, err
		}
		for i := range r.Targets {
			if now, moved := a.now[r.Targets[i].Entry]; moved {
				r.Targets[i].Entry = now
			}
		}
		return r.Encode()
	}
	return text, nil
}
