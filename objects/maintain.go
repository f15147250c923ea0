package objects

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	packs "github.com/gemini-ctx/ctx/format/pack"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/lock"
)

// packedWhole reports whether a pack has the object, with the body its header names unless that
// was forgotten, and can read it.
func (s *Store) packedWhole(id format.ID, list *packList) (bool, error) {
	_, gone, err := s.gone(id)
	if err != nil {
		return false, err
	}
	for _, p := range list.packs {
		t := &search{id: id, body: true}
		s.tryPack(t, p)
		if t.complete || gone && t.best.Header != nil {
			return true, nil
		}
	}
	return false, nil
}

// RemovePack removes a pack: first its index, which hides it, then the pack. It looks at neither
// age nor content. On Windows a file that a reader has open cannot be removed: that is an error,
// and what is left is hidden or whole. Removing one that is not there is fine. The removal lasts
// when it returns; a crash can leave the pack without its index (see Orphans).
func (s *Store) RemovePack(held *lock.Held, pack format.ID) error {
	return s.removePacks(held, []format.ID{pack})
}

// removePacks is RemovePack for several: it hides all of them first.
func (s *Store) removePacks(held *lock.Held, list []format.ID) error {
	if err := held.Of(s.root); err != nil {
		return err
	}
	for _, pack := range list {
		s.forgetPack(pack)
		defer s.unlist(pack)
	}
	for _, path := range []func(format.ID) string{s.IndexPath, s.PackPath} {
		for _, pack := range list {
			if err := s.fs.Remove(path(pack)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("cannot remove pack %v: %w", pack, err)
			}
		}
		// Each before the next: after a power cut an index without its pack would be damage.
		if err := s.fs.SyncDir(s.packDir()); err != nil {
			return err
		}
	}
	return nil
}

// forgetPack closes this store's own hold on a pack.
func (s *Store) forgetPack(pack format.ID) {
	s.cache.drop(pack)
	s.mu.Lock()
	list := s.packs
	s.mu.Unlock()
	if list == nil {
		return
	}
	for _, p := range list.packs {
		if p.id == pack {
			s.locator.forget(p)
			_ = p.close()
		}
	}
}

// Packs describes the packs that have an index, in the order of their names.
func (s *Store) Packs() ([]PackInfo, error) {
	list, err := s.relist()
	if err != nil {
		return nil, err
	}
	var out []PackInfo
	for _, p := range list.packs {
		reader, err := p.open()
		if vanished(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		info := PackInfo{ID: p.id, Path: p.path, Objects: reader.len()}
		for _, path := range []string{p.idx, p.path} {
			file, err := os.Stat(path)
			if err != nil {
				return nil, fmt.Errorf("cannot look at pack %v: %w", p.id, err)
			}
			info.Size += file.Size()
			info.ModTime = file.ModTime()
		}
		out = append(out, info)
	}
	return out, nil
}

// PackContents is what a pack has.
type PackContents struct {
	IDs []format.ID // in the order that they were written in
	// Bodyless are the places in IDs, in order, of the objects that have a body, but not in this
	// pack.
	Bodyless []uint32
}

// PackLen returns how many objects the index of a pack has. Errors: as PackContents.
func (s *Store) PackLen(pack format.ID) (n int, err error) {
	p := s.newPack(pack)
	defer func() { err = errors.Join(err, p.close()) }()
	reader, err := p.open()
	if err != nil {
		return 0, err
	}
	return reader.len(), nil
}

// PackContents lists the objects of a pack. It reads all of the pack. Errors:
// *CorruptError, and what the file system says; with an error it lists those that can be read.
func (s *Store) PackContents(pack format.ID) (PackContents, error) {
	return s.PackContentsBehind(nil, pack)
}

// PackContentsBehind is PackContents for who lists the objects of several packs: IDs begins with
// ids, and is in the same memory if that has the room for what the pack has. Bodyless counts from
// the first id of the pack.
func (s *Store) PackContentsBehind(ids []format.ID, pack format.ID) (c PackContents, err error) {
	c.IDs = ids
	p := s.newPack(pack)
	defer func() { err = errors.Join(err, p.close()) }()
	reader, err := p.open()
	if err != nil {
		return c, err
	}
	c.IDs = slices.Grow(ids, reader.len())
	return c, reader.list(s, &c)
}

// Orphans returns the packs that have no index, in the order of their names: a crash came between
// the two, or the index was lost. Reindex brings them back, RemovePack removes them. One that is
// being written may be among them.
func (s *Store) Orphans() ([]format.ID, error) {
	packs, err := s.PackNames(PackExt)
	if err != nil {
		return nil, err
	}
	var out []format.ID
	for _, id := range packs {
		_, err := os.Lstat(s.IndexPath(id))
		if errors.Is(err, fs.ErrNotExist) {
			out = append(out, id)
		} else if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// RestorePack writes a damaged pack anew as it was, if its parity gives the bytes back; then it
// indexes the pack. ok is false where it does not. It reads all of the
// pack into memory. What it wrote lasts when it returns; a crash leaves the old file or the new.
func (s *Store) RestorePack(held *lock.Held, id format.ID) (ok bool, err error) {
	if err := held.Of(s.root); err != nil {
		return false, err
	}
	b, err := durable.ReadFile(s.PackPath(id))
	if err != nil {
		return false, nil // nothing is left of it, or the disk cannot read it
	}
	if b, err = packs.Restore(b, id); err != nil {
		return false, nil
	}
	s.forgetPack(id)
	if err := s.fs.WriteDurable(s.PackPath(id), b, 0o600); err != nil {
		return false, fmt.Errorf("cannot restore pack %v: %w", id, err)
	}
	return true, s.Reindex(id)
}

// SalvagePack calls fn for every object that can still be had of a damaged pack: whole, or its
// header alone where its body is not in the pack or is damaged. Where the index is sound it says
// where the blocks are; else the pack is read from its beginning as far as it goes.
func (s *Store) SalvagePack(
	pack format.ID, fn func(r format.Raw, whole bool) error,
) error {
	p := s.newPack(pack)
	defer func() { _ = p.close() }()
	if p.check() != nil {
		return s.salvagePack(s.PackPath(pack), fn)
	}
	reader, err := p.open()
	if err != nil {
		return err
	}
	return reader.salvage(s, fn)
}
