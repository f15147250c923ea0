package objects

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
)

// packList is the packs of a store at one time, in the order of their names. It is not changed after it was made.
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

// relist lists the packs. It returns the same list as before, as a pointer, if they are the same packs.
func (s *Store) relist() (*packList, error) {
	ids, err := s.packNames(".idx")
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
	return &pack{id: id, path: s.packPath(id), idx: s.indexPath(id)}
}

// packNames returns the ids of the files pack-<id><ext> in objects/pack, in order.
func (s *Store) packNames(ext string) ([]format.ID, error) {
	files, err := os.ReadDir(s.packDir())
	if errors.Is(err, fs.ErrNotExist) && exists(s.objectsDir()) {
		return nil, nil // something that copies no empty folders may have copied the store
	}
	if err != nil {
		return nil, fmt.Errorf("cannot list packs: %w", err)
	}
	var ids []format.ID
	for _, f := range files {
		hex, ok := strings.CutPrefix(f.Name(), "pack-")
		if !ok || filepath.Ext(hex) != ext {
			continue
		}
		if id, err := format.ParseID(strings.TrimSuffix(hex, ext)); err == nil {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
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

// Refresh lists the packs again, so that look-ups which do not do so by themselves (BySource) see those that other processes
// wrote since.
func (s *Store) Refresh() error {
	_, err := s.relist()
	return err
}
