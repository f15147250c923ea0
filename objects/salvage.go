package objects

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/gemini-ctx/ctx/format"
	packs "github.com/gemini-ctx/ctx/format/pack"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/lock"
)

// RestorePack writes a damaged pack anew as it was, if its parity gives the bytes back; then it
// indexes the pack. ok is false where it does not. It reads all of the
// pack into memory. What it wrote lasts when it returns; a crash leaves the old file or the new.
func (s *Store) RestorePack(held *lock.Held, id format.ID) (ok bool, err error) {
	if err := s.holds(held); err != nil {
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

// PackedCopy returns an object as a pack has it whole; ok is false where none has.
func (s *Store) PackedCopy(id format.ID) (r format.Raw, ok bool, err error) {
	list, err := s.relist()
	if err != nil {
		return format.Raw{}, false, err
	}
	for _, p := range list.packs {
		t := &search{id: id, body: true}
		if s.tryPack(t, p); t.complete {
			return t.best, true, nil
		}
	}
	return format.Raw{}, false, nil
}

// SalvageLoose returns what can be had of a loose file: the whole object, where what is wrong is
// behind its end, or its header alone; no header where that is damaged.
func (s *Store) SalvageLoose(id format.ID) (r format.Raw, whole bool, err error) {
	b, err := durable.ReadAtMost(s.LoosePath(id), 2*maxLoose)
	if errors.Is(err, durable.ErrNotFile) || errors.Is(err, durable.ErrTooLarge) ||
		errors.Is(err, fs.ErrNotExist) {
		return format.Raw{}, false, nil
	}
	if err != nil {
		return format.Raw{}, false, err
	}
	// The header ends behind a line, before the first empty one; behind which, its digest says.
	for end := 1; end <= min(len(b), 1<<20); end++ {
		if b[end-1] != '\n' {
			continue
		}
		if end > 1 && b[end-2] == '\n' {
			break
		}
		if format.Sum(b[:end]) != id {
			continue
		}
		r.Header = b[:end]
		if whole, err := sound(id, r); err != nil || whole {
			return r, whole, nil
		}
		body, _, err := format.HeaderBody(r.Header)
		rest := b[end:]
		if err != nil || int64(len(rest)) < 1+body.Size {
			return r, false, nil
		}
		if body.Check(rest[1:1+body.Size]) != nil {
			return r, false, nil
		}
		r.Body = rest[1 : 1+body.Size]
		return r, true, nil
	}
	return format.Raw{}, false, nil
}
