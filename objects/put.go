package objects

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
)

// Limits of what is written as loose files. A loose file costs some 0.2 ms to make and sync, a pack
// four syncs whatever it holds. Large objects are worth compressing.
const (
	MaxLoose      = 64
	maxLooseBytes = 256 << 10
)

// Put stores objects. Each is checked first, and nothing is written if one fails: a header that is
// none, a body that does not match, a body that is missing without a record in absent/, a forgotten
// body that would come back (*GoneError).
//
// When Put returns nil, every object is there after a power cut, and is as new as anything gc
// spares: one that was there as a loose file is checked, synced and given the time now. A batch of
// more than 64 or of more than 256 KiB is written as one pack, whatever of it is there already; a
// smaller one as loose files, whatever of it is packed: storing twice costs bytes until the next
// gc, looking into every pack costs time at every append. After an error or a crash any of the
// objects may be there, each of them whole.
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
		if raws[i].Body == nil {
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
	size := 0
	for _, r := range unique {
		size += len(r.Header) + len(r.Body)
	}
	if len(ids) > MaxLoose || size > maxLooseBytes {
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
	for i, r := range unique {
		if _, err := soundForm(r, format.Body.Check); err != nil {
			return fmt.Errorf("cannot store object %v: %w", ids[i], err)
		}
	}
	return s.putLoose(ids, unique)
}

// putLoose writes objects that have been checked as loose files. They take their names in the
// order given.
func (s *Store) putLoose(ids []format.ID, raws []format.Raw) error {
	var files []durable.File
	var renewed []string
	for i, id := range ids {
		path := s.LoosePath(id)
		there, err := s.renew(id, path, raws[i])
		if err != nil {
			return fmt.Errorf("cannot store object %v: %w", id, err)
		}
		if there {
			renewed = append(renewed, filepath.Dir(path))
		} else {
			files = append(files,
				durable.File{Path: path, Data: format.EncodeLoose(raws[i]), Perm: 0o600})
		}
	}
	if err := s.writeLoose(files); err != nil {
		return fmt.Errorf("cannot store objects: %w", err)
	}
	if len(renewed) > 0 {
		renewed = append(renewed, s.objectsDir())
	}
	if err := s.fs.SyncDirs(renewed); err != nil {
		return fmt.Errorf("cannot store objects: %w", err)
	}
	return nil
}

// renew makes a loose object that is there last and gives it the time now. Another process may
// have renamed it into place and not yet synced its directory; the caller does that. there is
// false where there is none, or none that is as good as r.
func (s *Store) renew(id format.ID, path string, r format.Raw) (there bool, err error) {
	if _, err := os.Lstat(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return false, err
	}
	old, err := readLoose(path)
	if err != nil {
		return false, nil // it is replaced
	}
	whole, err := sound(id, old)
	if err != nil || !whole && r.Body != nil {
		return false, nil
	}
	for _, step := range []func() error{
		func() error { return s.fs.SyncFile(path) },
		func() error { return s.fs.Chtimes(path, s.Now()) },
	} {
		if err := step(); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return false, nil // removed since
			}
			return false, err
		}
	}
	return true, nil
}

// folderTries is how often writeLoose makes folders that another process removes meanwhile.
const folderTries = 5

// writeLoose writes files and makes the folders that they need. It syncs objects/ even where the
// folders exist: another process may have made one and not have synced it yet.
func (s *Store) writeLoose(files []durable.File) error {
	if len(files) == 0 {
		return nil
	}
	if _, err := os.Stat(s.objectsDir()); err != nil {
		return err // no store at all
	}
	for try := 1; ; try++ {
		for _, f := range files {
			if err := mkdir(s.fs, filepath.Dir(f.Path)); err != nil {
				return err
			}
		}
		err := s.fs.WriteFiles(files, true)
		if errors.Is(err, fs.ErrNotExist) && try < folderTries {
			continue // gc has removed a folder that was empty still
		}
		if err != nil {
			return err
		}
		break
	}
	return s.fs.SyncDir(s.objectsDir())
}
