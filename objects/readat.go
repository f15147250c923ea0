package objects

import (
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// GetAt is Get for who knows where an object was: it looks first into a pack, at the place that the
// object has in the list of PackContents. Where it is not there, whole, GetAt looks everywhere.
func (s *Store) GetAt(pack format.ID, place uint32, id format.ID) (format.Raw, error) {
	if raw, ok := s.getAt(pack, place, id); ok {
		return raw, nil
	}
	return s.Get(id)
}

func (s *Store) getAt(in format.ID, place uint32, id format.ID) (raw format.Raw, ok bool) {
	list, err := s.list()
	if err != nil {
		return raw, false
	}
	at := slices.IndexFunc(list.packs, func(p *pack) bool { return p.id == in })
	if at < 0 {
		return raw, false
	}
	r, err := list.packs[at].open()
	if err != nil {
		return raw, false
	}
	o, err := r.object(s, place, false) // the caller knows the id
	if err != nil || o.ID != id {
		return raw, false
	}
	raw = copied(o, true)
	whole, err := soundPacked(raw)
	return raw, err == nil && whole
}
