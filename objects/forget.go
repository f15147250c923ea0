package objects

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/format"
	packs "github.com/gemini-ctx/ctx/format/pack"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/lock"
)

// markBatch is how many records are written together: they are synced side by side.
const markBatch = 256

// Forgotten reports whether there is a record that the body of an object was forgotten. One that
// was lost may come back.
func (s *Store) Forgotten(id format.ID) (bool, error) {
	reason, there, err := s.gone(id)
	return there && reason == format.ReasonForgotten, err
}

// MarkAbsent writes the record that the body of each object is gone, for a reason and from a time
// on: with ReasonLost, storing the same object again brings it back. Objects that have a record of
// something forgotten keep it. It needs the store's lock. When it returns the records are there
// after a power cut; after an error or a crash some may be.
func (s *Store) MarkAbsent(held *lock.Held, ids []format.ID, reason string, at time.Time) error {
	if err := held.Of(s.root); err != nil {
		return err
	}
	for part := range slices.Chunk(ids, markBatch) {
		var files []durable.File
		for _, id := range part {
			there, err := s.Forgotten(id)
			if err != nil {
				return err
			}
			if there {
				continue
			}
			record := &format.Absent{Object: id, Reason: reason, Time: at, Header: s.standsFor(id)}
			b, err := record.Encode()
			if err != nil {
				return err
			}
			path := s.AbsentPath(id)
			if err := s.fs.MkdirAll(filepath.Dir(path)); err != nil {
				return fmt.Errorf("cannot record that %v is absent: %w", id, err)
			}
			files = append(files, durable.File{Path: path, Data: b, Perm: 0o600})
		}
		if err := s.fs.WriteFiles(files, true); err != nil {
			return fmt.Errorf("cannot record what is absent: %w", err)
		}
	}
	return nil
}

// IndexPacks indexes the packs that have no index, so that what is in them counts. It needs the
// store's lock. One that cannot be read is told to bad.
func (s *Store) IndexPacks(held *lock.Held, bad func(path string)) error {
	if err := held.Of(s.root); err != nil {
		return err
	}
	orphans, err := s.Orphans()
	if err != nil {
		return err
	}
	for _, id := range orphans {
		if err := pass(s.Reindex(id), bad); err != nil {
			return err
		}
	}
	return nil
}

// pass tells bad of the file that an error blames, if it is damaged. Any other error comes back.
func pass(err error, bad func(path string)) error {
	var corrupt *CorruptError
	if !errors.As(err, &corrupt) {
		return err
	}
	bad(corrupt.Path)
	return nil
}

// StripPacks writes every pack anew that has the body of an object for which gone is true, without
// those bodies, and removes the old one. Packs without an index are indexed first. It needs the
// store's lock, and each such object its record (MarkAbsent). A damaged pack stays as it is, is
// told to bad, and keeps none of the others from being written anew. It returns how many packs were
// written. What is removed stays removed; after a crash an object may be in two packs, with its
// body in one of them.
func (s *Store) StripPacks(
	ctx context.Context, held *lock.Held, gone func(format.ID) bool, bad func(path string),
) (written int, err error) {
	if err := s.IndexPacks(held, bad); err != nil {
		return 0, err
	}
	list, err := s.relist()
	if err != nil {
		return 0, err
	}
	for _, p := range list.packs {
		order, err := p.contents(s)
		has := slices.ContainsFunc(order, func(o placed) bool { return o.stored && gone(o.id) })
		if err == nil && has {
			if err = ctx.Err(); err == nil {
				err = s.stripPack(held, p, order, gone)
			}
			if err == nil {
				written++
			}
		}
		if err := pass(err, bad); err != nil {
			return written,
				fmt.Errorf("cannot take what is forgotten out of pack %v: %w", p.id, err)
		}
	}
	return written, nil
}

func (s *Store) stripPack(
	held *lock.Held, p *pack, order []placed, gone func(format.ID) bool,
) error {
	var raws iter.Seq2[format.Raw, error] = func(yield func(format.Raw, error) bool) {
		for _, o := range order {
			raw, keep, err := s.remaining(p, o, gone)
			if (keep || err != nil) && !yield(raw, err) {
				return
			}
		}
	}
	info, err := s.WritePack(raws, Default)
	if err == nil && info.ID != p.id {
		err = s.Reread(info.ID)
	}
	if err != nil {
		return err
	}
	if info.ID == p.id {
		return nil // it was without them all the time
	}
	return s.RemovePack(held, p.id)
}

// remaining is what of an object a pack keeps. keep is false for a header whose body is whole
// elsewhere.
func (s *Store) remaining(
	p *pack, o placed, gone func(format.ID) bool,
) (r format.Raw, keep bool, err error) {
	recorded, err := s.Forgotten(o.id)
	if err != nil {
		return r, false, err
	}
	goes := recorded || gone(o.id)
	if r, err = p.at(s, o, !goes); err != nil {
		return r, false, err
	}
	complete, err := sound(o.id, r)
	if err != nil {
		return r, false, &CorruptError{ID: o.id, Path: p.path, Why: err.Error()}
	}
	if complete || goes {
		return r, true, nil
	}
	if _, absent, err := s.gone(o.id); absent || err != nil {
		return r, true, err
	}
	if whole, err := s.Get(o.id); err != nil || whole.Body == nil {
		return r, false, &CorruptError{ID: o.id, Path: p.path, Why: "its body is missing"}
	}
	return r, false, nil
}

// Place is where a copy of an object is.
type Place struct {
	ID   format.ID
	Path string // of the pack; refs/ for the log
}

// Contents calls fn for every stored copy of every object with its header and body: those in the
// log, then pack by pack in the order that they were written in. The bytes are good until fn
// returns. A copy that cannot be read, or is not what its id says, is told to bad instead, whose
// error ends it; so does an error of fn. Memory does not grow with the store.
func (s *Store) Contents(
	fn func(Place, format.Raw) error, bad func(path string, err error) error,
) error {
	if err := s.readLog(); err != nil {
		if err := bad(s.logPath(), err); err != nil {
			return err
		}
	}
	if err := s.EachLogged(fn, bad); err != nil {
		return err
	}
	list, err := s.relist()
	if err != nil {
		return err
	}
	for _, p := range list.packs {
		if err := s.contentsOf(p, fn, bad); err != nil {
			return err
		}
	}
	return nil
}

// contentsOf is Contents for one pack.
func (s *Store) contentsOf(
	p *pack, fn func(Place, format.Raw) error, bad func(path string, err error) error,
) error {
	reader, unread := p.open()
	if unread == nil {
		var ended error
		unread = reader.every(s, func(id format.ID, r format.Raw, wrong error) error {
			if wrong != nil {
				ended = bad(p.path, wrong)
			} else {
				ended = fn(Place{id, p.path}, r)
			}
			return ended
		})
		if ended != nil {
			return ended
		}
	}
	if unread == nil || vanished(unread) {
		return nil
	}
	return bad(p.path, unread)
}

// Remains looks at everything under objects/, whatever its name, and returns the files in which a
// body with one of the digests is left, or an object for which holds is true; packs are unpacked
// for it. Of a file that is no object, holds is given all as a header. What cannot be read is told
// to bad.
func (s *Store) Remains(
	digests map[[sha256.Size]byte]bool, holds func(format.Raw) bool,
	bad func(path string, err error) error,
) (paths []string, err error) {
	err = filepath.WalkDir(s.objectsDir(), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && d.IsDir() {
			return nil
		}
		if err != nil {
			return err
		}
		var left bool
		if filepath.Ext(path) == PackExt {
			left, err = s.remainsInPack(path, digests, holds)
		} else {
			left, err = remainsInFile(path, digests, holds)
		}
		if left {
			paths = append(paths, path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return bad(path, err)
		}
		return nil
	})
	return paths, err
}

func (s *Store) remainsInPack(
	path string, digests map[[sha256.Size]byte]bool, holds func(format.Raw) bool,
) (left bool, err error) {
	err = s.walkPack(path, func(r packs.Object) {
		left = left || r.Body != nil && digests[sha256.Sum256(r.Body)] ||
			holds(format.Raw{Header: r.Header, Body: r.Body})
	})
	return left, err
}

func remainsInFile(
	path string, digests map[[sha256.Size]byte]bool, holds func(format.Raw) bool,
) (bool, error) {
	b, err := durable.ReadAtMost(path, maxIndexRead)
	if errors.Is(err, durable.ErrTooLarge) {
		return false, nil // the index of a large pack: numbers and digests
	}
	if err != nil {
		return false, err
	}
	end := bytes.Index(b, []byte("\n\n"))
	if end < 0 {
		return holds(format.Raw{Header: b}), nil
	}
	header, body := b[:end+1], b[end+2:]
	return digests[sha256.Sum256(body)] || holds(format.Raw{Header: header, Body: body}), nil
}

// maxIndexRead bounds what is read of a file that is no pack.
const maxIndexRead = format.MaxHeader + 1 + format.MaxBody
