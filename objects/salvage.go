package objects

import (
	"fmt"

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
