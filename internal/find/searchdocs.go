package find

import (
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/message"
	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/gemini-ctx/ctx/refs"
)

// searchDoc is a message, a note or a replacement that a search can find.
type searchDoc struct {
	id      format.ID
	latest  *format.ID // the entry with its latest text; nil if that is the entry itself
	seq     uint64
	rewound bool // no branch has it any more, but a branch was rewound past it
}

// version returns the entry with the latest text.
func (f *searchDoc) version() format.ID {
	if f.latest != nil {
		return *f.latest
	}
	return f.id
}

// docCollector collects messages, notes and replacements along the history, newest first.
type docCollector struct {
	s        *Reader
	seen     map[format.ID]bool // visited entries; nil if no entry can be visited twice
	list     []searchDoc
	standing int         // the length of the part of list that branches have; the rest was rewound
	amended  []format.ID // messages with a visited amend
	joins    bool        // an entry with several parents was visited
}

// maxPreallocated is the largest number of elements to allocate because of the seq of one header.
const maxPreallocated = 1 << 21

// historyRange is the history from an entry back to stop, which is not part of it.
type historyRange struct{ from, stop format.ID }

// sessionDocs returns everything in a session that a search can find: what its branches have, and
// what was rewound. A rewound entry has the text that it had at the rewind.
func (s *Reader) sessionDocs(view *refs.View, session string) ([]searchDoc, error) {
	branches := view.Names("sessions/" + session + "/")
	w := &docCollector{s: s}
	if len(branches) > 1 {
		w.seen = map[format.ID]bool{}
	}
	left, err := w.branches(view, branches)
	if err == nil && w.joins && w.seen == nil {
		w = &docCollector{s: s, seen: map[format.ID]bool{}}
		left, err = w.branches(view, branches)
	}
	if err != nil {
		return nil, err
	}
	return w.finish(view, left)
}

// branches adds the entries of branches. It returns the ranges that were rewound.
func (w *docCollector) branches(
	view *refs.View, branches []string,
) (left []historyRange, err error) {
	for _, name := range branches {
		more, err := w.along(historyRange{from: view.Get(name).ID}, false)
		if err != nil {
			return nil, err
		}
		left = append(left, more...)
	}
	return left, nil
}

// finish adds what was rewound, and sets the latest text of the rest.
func (w *docCollector) finish(view *refs.View, left []historyRange) ([]searchDoc, error) {
	w.standing = len(w.list)
	if w.seen == nil && len(left) > 0 {
		// A branch may have a rewound entry again, and rewound ranges may overlap.
		w.seen = make(map[format.ID]bool, len(w.list))
		for i := range w.list {
			w.seen[w.list[i].id] = true
		}
	}
	if err := w.rewound(left); err != nil {
		return nil, err
	}
	return w.list, w.s.setLatest(view, w.list[:w.standing])
}

// rewound adds the entries of rewound ranges, and of ranges that were rewound on the way there.
func (w *docCollector) rewound(left []historyRange) error {
	for len(left) > 0 {
		more, err := w.along(left[0], true)
		if err != nil {
			return err
		}
		left = append(left[1:], more...)
	}
	return nil
}

// along adds the entries of a range. It returns the ranges that were rewound on the way, newest
// first.
func (w *docCollector) along(c historyRange, rewound bool) (left []historyRange, err error) {
	newest := map[format.ID]format.ID{}
	todo := []format.ID{c.from}
	for len(todo) > 0 {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if id.IsZero() || id == c.stop || w.seen[id] {
			continue
		}
		if w.seen != nil {
			w.seen[id] = true
		}
		e, err := w.s.Header(id)
		if err != nil {
			return nil, err
		}
		if id == c.from && c.stop.IsZero() {
			// Avoids copies of a long list
			w.list = slices.Grow(w.list, int(min(e.Seq, maxPreallocated)))
		}
		switch e.Kind {
		case format.KindAmend:
			w.amended = append(w.amended, e.Amends)
			if _, ok := newest[e.Amends]; !ok {
				newest[e.Amends] = id
			}
		case format.KindMessage, format.KindNote, format.KindReplace:
			m := searchDoc{id: id, seq: e.Seq, rewound: rewound}
			if version, ok := newest[id]; ok {
				m.latest = &version
			}
			w.list = append(w.list, m)
		case format.KindRewind:
			left = append(left, historyRange{from: e.Left, stop: history.FirstParent(e)})
		}
		if w.joins = w.joins || len(e.Parents) > 1; w.joins && w.seen == nil {
			return nil, nil // the caller starts again with seen
		}
		for _, p := range slices.Backward(e.Parents) {
			todo = append(todo, p)
		}
	}
	return left, nil
}

// setLatest sets the latest version of entries that branches have.
func (s *Reader) setLatest(view *refs.View, list []searchDoc) error {
	return s.ReadLinks(view, func(l *history.Links) error {
		for i := range list {
			d := &list[i]
			d.latest = nil
			if versions := l.Newer[d.id]; len(versions) > 0 {
				version := versions[len(versions)-1]
				d.latest = &version
			}
		}
		return nil
	})
}

// indexDoc reads what the index stores about an entry. A replacement counts as a note, because the
// messages that it stands for are indexed themselves. ok is false if the entry was forgotten.
func (s *Reader) indexDoc(session string, f searchDoc) (doc search.Doc, ok bool, err error) {
	shown, err := s.Version(f.id, f.version())
	if err != nil || shown.Gone != "" {
		return doc, false, err
	}
	e := shown.Entry
	kept := false
	if e.Kind == format.KindNote {
		_, kept = message.NoteOf(shown.Parts)
	}
	return search.Doc{
		ID: f.id, Version: f.version(), Session: session, Seq: e.Seq, Role: e.Role,
		Author: e.Author, Note: e.Kind == format.KindNote || e.Kind == format.KindReplace,
		Kept: kept, Calls: len(e.Calls) > 0, Time: e.Time, Text: shown.Text,
	}, true, nil
}
