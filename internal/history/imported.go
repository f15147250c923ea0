package history

import (
	"errors"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// Imported returns the entries that were imported from a message, in any session. A message that no
// source can name has none.
func (s *Reader) Imported(view *refs.View, agent, session, message string) ([]Entry, error) {
	list, err := s.CopiesOf(view, agent, session, message)
	return slices.DeleteFunc(list, func(e Entry) bool { return e.Source.Session != session }), err
}

// CopiesOf returns the entries that were imported from a message or from a copy of it, which an
// agent has put into another session under the same UUID.
func (s *Reader) CopiesOf(
	view *refs.View, agent, session, message string,
) (list []Entry, err error) {
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
		if errors.Is(err, objects.ErrNotFound) && s.isUnused(view, id) {
			continue // gc has removed it, and the links remember it
		}
		if err != nil {
			return nil, err
		}
		if of := e.Source; of != nil && of.Agent == agent && of.Message == message {
			list = append(list, Entry{ID: id, Entry: e})
		}
	}
	return list, nil
}

// isUnused reports whether no branch stands on an entry, as far as all of them can be read.
func (s *Reader) isUnused(view *refs.View, id format.ID) bool {
	for _, name := range view.Names("sessions/") {
		if in, err := s.Lineage(view.Get(name).ID).Has(id); in || err != nil {
			return false
		}
	}
	return true
}
