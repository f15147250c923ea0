package objects

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"io/fs"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
)

// SalvagePack calls fn for every object that can still be had of a damaged pack: whole, or its
// header alone where its body is not in the pack or is damaged. Where the index is sound it says
// what there is and where; else the pack is read from its beginning as far as it goes. It returns
// the ids that the index lists and of which not even the header can be had.
func (s *Store) SalvagePack(pack format.ID, fn func(r format.Raw, whole bool) error) (lost []format.ID, err error) {
	p := s.newPack(pack)
	defer func() { _ = p.close() }()
	if p.check() != nil {
		return nil, s.salvageBlocks(pack, fn)
	}
	index, err := p.open()
	if err != nil {
		return nil, err
	}
	err = index.Each(0, func(id format.ID, _ format.PackPlace) (bool, error) {
		t := &search{id: id, body: true}
		s.tryPack(t, p)
		if t.best.Header == nil {
			lost = append(lost, id)
			return true, nil
		}
		return true, fn(t.best, t.complete)
	})
	return lost, err
}

// salvageBlocks reads a pack block by block, and gives each header the body that it names.
func (s *Store) salvageBlocks(pack format.ID, fn func(r format.Raw, whole bool) error) error {
	file, err := durable.Open(s.PackPath(pack))
	if err != nil {
		return nil // nothing is left of it
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	var headers [][]byte
	bodies := map[[sha256.Size]byte][]byte{}
	// What cannot be unpacked is passed over, and what follows a bad head is out of reach.
	_, _ = format.WalkPack(bufio.NewReader(file), info.Size(), func(b format.PackBlock, frame []byte) error {
		raw, err := s.codec.decode(b, frame)
		for off := 0; err == nil && off < len(raw); {
			var data []byte
			if data, off, err = format.PackRecord(raw, off); err != nil {
				break
			}
			if b.Kind == format.PackHeaders {
				headers = append(headers, data)
			} else {
				bodies[sha256.Sum256(data)] = data
			}
		}
		return nil
	})
	for _, header := range headers {
		r := format.Raw{Header: header}
		id := r.ID()
		if _, err := sound(id, r); err != nil {
			continue
		}
		if body, ok, _ := format.HeaderBody(header); ok {
			r.Body = bodies[body.Digest]
		}
		whole, err := sound(id, r)
		if err != nil {
			r.Body, whole = nil, false
		}
		if err := fn(r, whole); err != nil {
			return err
		}
	}
	return nil
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
