package objects

import (
	"errors"
	"io/fs"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
)

// SalvagePack calls fn for every object that can still be had of a damaged pack: whole, or its
// header alone where its body is not in the pack or is damaged. Where the index is sound it says
// where the blocks are; else the pack is read from its beginning as far as it goes. It returns the
// ids that an index of version 1 lists and of which not even the header can be had; one of version
// 2 lists none.
func (s *Store) SalvagePack(pack format.ID, fn func(r format.Raw, whole bool) error) (lost []format.ID, err error) {
	p := s.newPack(pack)
	defer func() { _ = p.close() }()
	if p.check() != nil {
		return nil, s.salvagePack(s.PackPath(pack), fn)
	}
	reader, err := p.open()
	if err != nil {
		return nil, err
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
	if errors.Is(err, durable.ErrNotFile) || errors.Is(err, durable.ErrTooLarge) || errors.Is(err, fs.ErrNotExist) {
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
