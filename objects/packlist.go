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
	if s.packs != nil && slices.EqualFunc(s.packs.packs, ids, func(p *pack, id format.ID) bool { return p.id == id }) {
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
	return &pack{id: id, path: s.PackPath(id), idx: s.IndexPath(id)}
}

// inOrder returns the packs of a list with the one that was useful last in front.
func (s *Store) inOrder(list *packList) []*pack {
	s.mu.Lock()
	recent := s.recent
	s.mu.Unlock()
	i := slices.Index(list.packs, recent)
	if i <= 0 {
		return list.packs
	}
	out := make([]*pack, 0, len(list.packs))
	out = append(out, recent)
	out = append(out, list.packs[:i]...)
	return append(out, list.packs[i+1:]...)
}

func (s *Store) useful(p *pack) {
	s.mu.Lock()
	s.recent = p
	s.mu.Unlock()
}

// unlist takes a pack that is gone out of the list, so that look-ups ask for it no more.
func (s *Store) unlist(gone *pack) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.recent == gone {
		s.recent = nil
	}
	if s.packs == nil || !slices.Contains(s.packs.packs, gone) {
		return
	}
	rest := slices.DeleteFunc(slices.Clone(s.packs.packs), func(p *pack) bool { return p == gone })
	s.packs = &packList{packs: rest}
}

// Refresh lists the packs again, so that look-ups which do not do so by themselves (BySource) see
// those that other processes wrote since.
func (s *Store) Refresh() error {
	_, err := s.relist()
	return err
}
