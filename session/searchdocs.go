package session

import (
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/search"
)

// found is a message or a note that a search may find.
type found struct {
	version format.ID // the entry that has its text
	rewound bool      // no branch stands on it any more, but one was rewound from there
}

// sessionDocs returns everything of a session that a search may find: what its branches stand on, and what was rewound.
func (s *Store) sessionDocs(view *refs.View, session string) (map[format.ID]found, error) {
	docs := map[format.ID]found{}
	seen := map[format.ID]bool{}
	var left []format.ID
	for _, name := range view.Names("sessions/" + session + "/") {
		list, err := s.gather(docs, seen, view.Get(name).ID, false)
		if err != nil {
			return nil, err
		}
		left = append(left, list...)
	}
	if err := s.setNewest(view, docs); err != nil {
		return nil, err
	}
	return docs, s.gatherLeft(docs, seen, left)
}

// gatherLeft adds what hangs on tips that were left, and what was left before on the way there.
func (s *Store) gatherLeft(docs map[format.ID]found, seen map[format.ID]bool, left []format.ID) error {
	for len(left) > 0 {
		more, err := s.gather(docs, seen, left[0], true)
		if err != nil {
			return err
		}
		left = append(left[1:], more...)
	}
	return nil
}

// gather adds the messages and notes from tip back to what was seen before, and returns the tips that were left on the way, the newest first. What was rewound
// has the text that it had when it was: the newest on this way.
func (s *Store) gather(docs map[format.ID]found, seen map[format.ID]bool, tip format.ID, rewound bool) (left []format.ID, err error) {
	newest := map[format.ID]format.ID{}
	todo := []format.ID{tip}
	for len(todo) > 0 {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if id.IsZero() || seen[id] {
			continue
		}
		seen[id] = true
		e, err := s.entry(id)
		if err != nil {
			return nil, err
		}
		switch e.Kind {
		case format.KindAmend:
			if _, ok := newest[e.Amends]; !ok {
				newest[e.Amends] = id
			}
		case format.KindMessage, format.KindNote:
			version, ok := newest[id]
			if !ok {
				version = id
			}
			docs[id] = found{version: version, rewound: rewound}
		case format.KindRewind:
			left = append(left, e.Left)
		}
		for i := len(e.Parents) - 1; i >= 0; i-- {
			todo = append(todo, e.Parents[i])
		}
	}
	return left, nil
}

// setNewest gives what branches stand on its newest text.
func (s *Store) setNewest(view *refs.View, docs map[format.ID]found) error {
	return s.withLinks(view, func(l *links) error {
		for id, list := range l.newer {
			if d, ok := docs[id]; ok && !d.rewound {
				d.version = id
				if len(list) > 0 {
					d.version = list[len(list)-1]
				}
				docs[id] = d
			}
		}
		return nil
	})
}

// document reads what the index is to know of a message. ok is false where its words were forgotten.
func (s *Store) document(id, version format.ID) (doc search.Doc, ok bool, err error) {
	shown, err := s.Version(id, version)
	if err != nil || shown.Gone != "" {
		return doc, false, err
	}
	e := shown.Entry
	return search.Doc{
		ID: id, Version: version, Session: e.Session, Seq: e.Seq, Role: e.Role, Author: e.Author, Note: e.Kind == format.KindNote, Time: e.Time,
		Text: shown.Text,
	}, true, nil
}
