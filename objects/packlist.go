package objects

import (
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// packList is the packs of a store at one time, in the order of their names. It is not changed
// after it was made.
type packList struct {
	packs []*pack
}

// list returns the packs as last listed, and lists them the first time.
func (s *Store) list() (*packList, error) {
	s.mu.Lock()
	list := s.packs
	s.mu.Unlock()
	if list != nil {
		return list, nil
	}
	return s.relist()
}

// relist lists the packs. It returns the same list as before, as a pointer, if they are the same
// packs.
func (s *Store) relist() (*packList, error) {
	ids, err := s.PackNames(IndexExt)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.packs != nil &&
		slices.EqualFunc(s.packs.packs, ids,
			func(p *pack, id format.ID) bool { return p.id == id }) {
		return s.packs, nil
	}
	known := map[format.ID]*pack{}
	if s.packs != nil {
		for _, p := range s.packs.packs {
			known[p.id] = p
		}
	}
	next := &packList{}
	for _, id := range ids {
		p := known[id]
		if p == nil {
			p = s.newPack(id)
		}
		delete(known, id)
		next.packs = append(next.packs, p)
	}
	for _, p := range known {
		_ = p.close()
		if s.recent == p {
			s.recent = nil
		}
	}
	s.packs = next
	return next, nil
}

func (s *Store) newPack(id format.ID) *pack {
	return &pack{id: id, path: s.PackPath(id), idx: s.IndexPath(id), mostIndex: s.cache.mostIndex()}
}

func (s *Store) useful(p *pack) {
	s.mu.Lock()
	s.recent = p
	s.mu.Unlock()
}

// unlist takes a pack that is gone out of the list, so that look-ups ask for it no more.
func (s *Store) unlist(gone format.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.packs == nil {
		return
	}
	is := func(p *pack) bool { return p.id == gone }
	if s.recent != nil && is(s.recent) {
		s.recent = nil
	}
	if slices.ContainsFunc(s.packs.packs, is) {
		s.packs = &packList{packs: slices.DeleteFunc(slices.Clone(s.packs.packs), is)}
	}
}

// Refresh lists the packs again, so that look-ups which do not do so by themselves (BySource) see
// those that other processes wrote since.
func (s *Store) Refresh() error {
	_, err := s.relist()
	return err
}
