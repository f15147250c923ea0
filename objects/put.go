package objects

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/gemini-ctx/ctx/format"
)

// Put stores objects. Each is checked first, and nothing is written if one fails: a header that is
// none, a body that does not match, a body that is missing without a record in absent/, a forgotten
// body that would come back (*GoneError).
//
// When Put returns nil, every object is there after a power cut, in one new pack, and is as new as
// anything gc spares. What of a batch is stored already is stored again: that costs bytes until the
// next gc, and to look into every pack would cost time. After an error or a crash all of the
// objects may be there, or none.
func (s *Store) Put(raws ...format.Raw) error {
	ids := make([]format.ID, 0, len(raws))
	unique := make([]format.Raw, 0, len(raws))
	seen := make(map[format.ID]bool, len(raws))
	in := &gate{Store: s}
	for _, r := range raws {
		id := r.ID()
		if err := in.admit(id, r); err != nil {
			return err
		}
		if !seen[id] {
			seen[id] = true
			ids, unique = append(ids, id), append(unique, r)
		}
	}
	if err := s.store(ids, unique); err != nil {
		return err
	}
	return s.found(ids, unique)
}

// found takes away the records of bodies that were lost and are stored now.
func (s *Store) found(ids []format.ID, raws []format.Raw) error {
	if empty, err := isEmpty(filepath.Join(s.root, AbsentDir)); empty || err != nil {
		return err
	}
	for i, id := range ids {
		if complete, err := soundPacked(raws[i]); !complete || err != nil {
			continue
		}
		if _, gone, err := s.gone(id); err != nil || !gone {
			continue
		}
		if err := s.fs.Remove(s.AbsentPath(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot store object %v: %w", id, err)
		}
		if err := s.fs.SyncDir(filepath.Dir(s.AbsentPath(id))); err != nil {
			return fmt.Errorf("cannot store object %v: %w", id, err)
		}
	}
	return nil
}

// store writes objects that a gate has admitted.
func (s *Store) store(ids []format.ID, unique []format.Raw) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := s.writePack(func(w *packWriter) error {
		for i, id := range ids {
			if err := w.add(id, unique[i]); err != nil {
				return err
			}
		}
		return nil
	}, Fast)
	return err
}
