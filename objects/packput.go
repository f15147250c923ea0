package objects

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"time"

	"github.com/gemini-ctx/ctx/format"
	packs "github.com/gemini-ctx/ctx/format/pack"
	"github.com/gemini-ctx/ctx/internal/durable"
)

// Level is how hard a pack is compressed.
type Level = packs.Level

// The levels, see packs.Level.
const Fast, Default, Best = packs.Fast, packs.Default, packs.Best

// PackInfo describes a pack.
type PackInfo struct {
	ID      format.ID // the SHA-256 of the pack's bytes up to its trailer; the pack's name
	Path    string    // of the .pack file
	Objects int
	Size    int64     // bytes of the .pack and .idx files
	ModTime time.Time // of the .pack file: when it was written, or last written again
}

// Each gives objects as a pack is written from them.
func Each(raws []format.Raw) iter.Seq2[format.Raw, error] {
	return func(yield func(format.Raw, error) bool) {
		for _, raw := range raws {
			if !yield(raw, nil) {
				return
			}
		}
	}
}

// WritePack writes objects as one pack, in the order they come, which is best the order they are
// read in: neighbours share a block. Each is checked as by Put; an error of the sequence, an id
// that comes twice, and a sequence without objects are errors, and nothing is written then. The
// pack is synced before its index gives it to readers; when WritePack returns nil it is there
// after a power cut. A crash leaves a temporary file, or a pack without an index, which nothing
// reads (see Orphans). Memory: some 200 bytes an object at the most, while the list of them grows
// or becomes the index, besides a few blocks.
//
// At a level above Fast every block is unpacked before it counts: who removes packs for this one
// only has to Reread it.
func (s *Store) WritePack(raws iter.Seq2[format.Raw, error], level Level) (PackInfo, error) {
	return s.WritePackWhen(raws, level, nil)
}

// WritePackWhen is WritePack for a caller that decides late whether the pack is to be: when is
// called once all of it is on the disk under a temporary name, and calls publish, or returns an
// error, upon which nothing was written. Another process may have removed the temporary file by
// then; that is an error of publish.
func (s *Store) WritePackWhen(
	raws iter.Seq2[format.Raw, error], level Level, when func(publish func() error) error,
) (PackInfo, error) {
	return s.writePackWhen(func(w *packWriter) error {
		in := &gate{Store: s}
		for r, err := range raws {
			if err != nil {
				return err
			}
			id := r.ID()
			if err := in.admit(id, r); err != nil {
				return err
			}
			if err := w.add(id, r); err != nil {
				return err
			}
		}
		return nil
	}, level, when)
}

func (s *Store) writePackWhen(
	fill func(*packWriter) error, level Level, when func(publish func() error) error,
) (PackInfo, error) {
	enc, err := s.codec.Encoder(level)
	if err != nil {
		return PackInfo{}, err
	}
	temp, err := s.newTemp()
	if err != nil {
		return PackInfo{}, err
	}
	defer temp.Discard()
	w := newPackWriter(enc, s.packKey(), level, temp, s.lent())
	if level > Fast {
		w.dec = &s.codec
	}
	if err := fill(w); err != nil {
		return PackInfo{}, err
	}
	pack, index, err := w.finish()
	if err != nil {
		return PackInfo{}, fmt.Errorf("cannot write pack: %w", err)
	}
	publish := func() error { return s.publish(temp, pack, index) }
	if when == nil {
		err = publish()
	} else if err = temp.Sync(); err == nil {
		err = when(publish)
	}
	if err != nil {
		return PackInfo{}, fmt.Errorf("cannot write pack %v: %w", pack, err)
	}
	return s.announce(pack, index, int(w.table.len()))
}

// newTemp begins the file of a pack. A program that copies no empty folders may have copied the
// store.
func (s *Store) newTemp() (*durable.Temp, error) {
	if !exists(s.packDir()) && exists(s.root) {
		if err := Init(s.root, s.fs); err != nil {
			return nil, err
		}
	}
	return s.fs.NewTemp(s.packDir()), nil
}

// packKey returns the key for a new pack.
func (s *Store) packKey() (key packs.Key) {
	if s.Key == nil {
		return key
	}
	if b, err := s.Key(); err == nil && len(b) == len(key) {
		copy(key[:], b)
	}
	return key
}

// publish gives a pack its name, then its index, and makes both last. A pack of that name that is
// there has the same bytes: it is checked, synced and given the time now, or replaced where it is
// not what it should be.
func (s *Store) publish(temp *durable.Temp, pack format.ID, index []byte) error {
	path, idx := s.PackPath(pack), s.IndexPath(pack)
	if there, err := s.renewPack(pack); there || err != nil {
		return err
	}
	s.forgetPack(pack)
	if err := temp.Sync(); err != nil {
		return err
	}
	if err := temp.Rename(path); err != nil {
		return s.unlessThere(pack, err)
	}
	// Names that are not synced may last in any order, and an index without its pack would be damage.
	if err := s.fs.SyncDir(s.packDir()); err != nil {
		return err
	}
	if err := s.fs.WriteFile(idx, index, 0o600, true); err != nil {
		return s.unlessThere(pack, err)
	}
	return s.fs.SyncDir(s.packDir())
}

// unlessThere returns refused, the error of giving a pack or its index the name, unless another
// writer has written the same pack meanwhile. Windows refuses to replace a file that somebody
// reads, which a pack is as soon as it has its index.
func (s *Store) unlessThere(pack format.ID, refused error) error {
	there, err := s.renewPack(pack)
	switch {
	case err != nil:
		return errors.Join(refused, err)
	case !there:
		return refused
	}
	return nil
}

func (s *Store) renewPack(pack format.ID) (there bool, err error) {
	path, idx := s.PackPath(pack), s.IndexPath(pack)
	if _, err := os.Lstat(idx); err != nil || s.CheckPack(pack) != nil {
		return false, nil
	}
	for _, step := range []func() error{
		func() error { return s.fs.SyncFile(path) },
		func() error { return s.fs.SyncFile(idx) },
		func() error { return s.fs.Chtimes(path, s.Now()) },
		func() error { return s.fs.SyncDir(s.packDir()) },
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

// announce adds a new pack to the list, with its index in memory, since the objects in it are
// about to be looked up.
func (s *Store) announce(pack format.ID, index []byte, count int) (PackInfo, error) {
	info, err := os.Stat(s.PackPath(pack))
	if err != nil {
		return PackInfo{}, err
	}
	list, err := s.relist()
	if err != nil {
		return PackInfo{}, err
	}
	for _, p := range list.packs {
		if p.id == pack && len(index) <= heldIndex {
			p.hold(index)
			s.useful(p)
		}
	}
	return PackInfo{
		ID:      pack,
		Path:    s.PackPath(pack),
		Objects: count,
		Size:    info.Size() + int64(len(index)),
		ModTime: info.ModTime(),
	}, nil
}

// heldIndex is the largest index that is kept in memory after its pack was written: that of some
// 20,000 objects.
const heldIndex = 1 << 20
