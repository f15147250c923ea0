package session

import (
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/search"
)

// sayable is a message, a note or a replacement that a search may find.
type sayable struct {
	id      format.ID
	newer   *format.ID // the entry that has its text, where that is not itself
	seq     uint64
	rewound bool // no branch stands on it any more, but one was rewound from there
}

// version is the entry that has its text.
func (f *sayable) version() format.ID {
	if f.newer != nil {
		return *f.newer
	}
	return f.id
}

// walk gathers messages, notes and replacements along history, newest first.
type walk struct {
	s        *Store
	seen     map[format.ID]bool // entries that were met; nil where no entry can be met twice
	list     []sayable
	standing int         // how many of list branches stand on; the rest was rewound
	amended  []format.ID // messages that have an amend on the way
	joins    bool        // an entry with several parents was met
}

// mostAtOnce is how many messages room is made for on the word of one header.
const mostAtOnce = 1 << 21

// chain is a piece of history: from an entry back to another one, which is not part of it.
type chain struct{ from, stop format.ID }

// sessionDocs returns everything of a session that a search may find: what its branches stand on, and what was rewound. What was rewound has the text that it had
// when it was.
func (s *Store) sessionDocs(view *refs.View, session string) ([]sayable, error) {
	branches := view.Names("sessions/" + session + "/")
	w := &walk{s: s}
	if len(branches) > 1 {
		w.seen = map[format.ID]bool{}
	}
	left, err := w.branches(view, branches)
	if err == nil && w.joins && w.seen == nil {
		w = &walk{s: s, seen: map[format.ID]bool{}}
		left, err = w.branches(view, branches)
	}
	if err != nil {
		return nil, err
	}
	return w.finish(view, left)
}

// branches adds what branches stand on.
func (w *walk) branches(view *refs.View, branches []string) (left []chain, err error) {
	for _, name := range branches {
		more, err := w.along(chain{from: view.Get(name).ID}, false)
		if err != nil {
			return nil, err
		}
		left = append(left, more...)
	}
	return left, nil
}

// finish adds what was rewound and gives the rest its newest text.
func (w *walk) finish(view *refs.View, left []chain) ([]sayable, error) {
	w.standing = len(w.list)
	if w.seen == nil && len(left) > 0 {
		// A line that was left may be the branch's own again, and lead to others.
		w.seen = make(map[format.ID]bool, len(w.list))
		for i := range w.list {
			w.seen[w.list[i].id] = true
		}
	}
	if err := w.rewound(left); err != nil {
		return nil, err
	}
	return w.list, w.s.setNewest(view, w.list[:w.standing])
}

// rewound adds what hangs on tips that were left, and what was left before on the way there.
func (w *walk) rewound(left []chain) error {
	for len(left) > 0 {
		more, err := w.along(left[0], true)
		if err != nil {
			return err
		}
		left = append(left[1:], more...)
	}
	return nil
}

// along adds what is on a chain, and returns the chains that were left on the way, the newest first.
func (w *walk) along(c chain, rewound bool) (left []chain, err error) {
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
		e, err := w.s.entry(id)
		if err != nil {
			return nil, err
		}
		if id == c.from && c.stop.IsZero() {
			w.list = slices.Grow(w.list, int(min(e.Seq, mostAtOnce))) // a long list is not copied as it grows
		}
		switch e.Kind {
		case format.KindAmend:
			w.amended = append(w.amended, e.Amends)
			if _, ok := newest[e.Amends]; !ok {
				newest[e.Amends] = id
			}
		case format.KindMessage, format.KindNote, format.KindReplace:
			m := sayable{id: id, seq: e.Seq, rewound: rewound}
			if version, ok := newest[id]; ok {
				m.newer = &version
			}
			w.list = append(w.list, m)
		case format.KindRewind:
			left = append(left, chain{from: e.Left, stop: firstParent(e)})
		}
		if w.joins = w.joins || len(e.Parents) > 1; w.joins && w.seen == nil {
			return nil, nil // has to be done again
		}
		for _, p := range slices.Backward(e.Parents) {
			todo = append(todo, p)
		}
	}
	return left, nil
}

// setNewest gives what branches stand on its newest text.
func (s *Store) setNewest(view *refs.View, list []sayable) error {
	return s.withLinks(view, func(l *links) error {
		for i := range list {
			d := &list[i]
			d.newer = nil
			if versions := l.newer[d.id]; len(versions) > 0 {
				version := versions[len(versions)-1]
				d.newer = &version
			}
		}
		return nil
	})
}

// document reads what the index is to know of a message of a session. A replacement counts as a note: it is about messages that are found themselves. ok is false where its words were forgotten.
func (s *Store) document(session string, f sayable) (doc search.Doc, ok bool, err error) {
	shown, err := s.Version(f.id, f.version())
	if err != nil || shown.Gone != "" {
		return doc, false, err
	}
	e := shown.Entry
	return search.Doc{
		ID: f.id, Version: f.version(), Session: session, Seq: e.Seq, Role: e.Role, Author: e.Author, Note: e.Kind == format.KindNote || e.Kind == format.KindReplace,
		Calls: len(e.Calls) > 0, Time: e.Time,
		Text: shown.Text,
	}, true, nil
}
