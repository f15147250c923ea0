package objects

import (
	"cmp"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
)

// pack1 reads packs of version 1, which older stores have. gc writes them as version 2.
type pack1 struct {
	p      *pack
	index  *format.PackIndex
	blocks kept[*format.PackMap]
}

func (r *pack1) len() int { return r.index.Len() }

func (r *pack1) check() error { return r.index.Check() }

func (r *pack1) has(_ *Store, id format.ID) (bool, error) {
	_, ok, err := r.index.Find(id)
	return ok, r.p.blame(err)
}

func (r *pack1) get(s *Store, id format.ID, body bool) (raw format.Raw, ok bool, err error) {
	at, ok, err := r.index.Find(id)
	if err != nil || !ok {
		return raw, false, r.p.blame(err)
	}
	raw, err = r.at(s, placed{id: id, stored: at.Body >= 0, where: at.Header, body: at.Body}, body)
	raw.Header, raw.Body = slices.Clone(raw.Header), slices.Clone(raw.Body)
	return raw, true, err
}

func (r *pack1) prefix(_ *Store, digits string) (ids []format.ID, err error) {
	var first format.ID
	if _, err := hex.Decode(first[:],
		[]byte(digits+strings.Repeat("0", format.IDLen-len(digits)))); err != nil {
		return nil, err
	}
	n, _, err := r.index.Search(first)
	if err != nil {
		return nil, r.p.blame(err)
	}
	err = r.index.Each(n, func(id format.ID, _ format.PackPlace) (bool, error) {
		ok := strings.HasPrefix(id.String(), digits)
		if ok {
			ids = append(ids, id)
		}
		return ok, nil
	})
	return ids, r.p.blame(err)
}

func (r *pack1) tagged(_ *Store, tag uint32) (ids []format.ID, err error) {
	entries, err := r.index.Tagged(tag)
	for _, e := range entries {
		ids = append(ids, e.ID)
	}
	return ids, r.p.blame(err)
}

func (r *pack1) eachTag(fn func(tag uint32)) error { return r.p.blame(r.index.EachTag(fn)) }

func (r *pack1) contents(*Store) ([]placed, error) {
	order := make([]placed, 0, r.index.Len())
	err := r.index.Each(0, func(id format.ID, at format.PackPlace) (bool, error) {
		order = append(order, placed{id: id, stored: at.Body >= 0, where: at.Header, body: at.Body})
		return true, nil
	})
	slices.SortFunc(order, func(a, b placed) int { return cmp.Compare(a.where, b.where) })
	return order, r.p.blame(err)
}

func (r *pack1) each(s *Store, fn func(placed)) error {
	order, err := r.contents(s)
	for _, o := range order {
		fn(o)
	}
	return err
}

func (r *pack1) every(s *Store, fn func(id format.ID, raw format.Raw, wrong error) error) error {
	order, unread := r.contents(s)
	for _, o := range order {
		raw, err := r.at(s, o, true)
		if err == nil {
			_, err = sound(o.id, raw)
		}
		if err := fn(o.id, raw, err); err != nil {
			return err
		}
	}
	return unread
}

func (r *pack1) at(s *Store, o placed, body bool) (raw format.Raw, err error) {
	if raw.Header, err = r.record(s, format.PackHeaders, o.where); err != nil ||
		!body || !o.stored {
		return raw, err
	}
	raw.Body, err = r.record(s, format.PackBodies, o.body)
	return raw, err
}

func (r *pack1) layout() (*format.PackMap, error) {
	return r.blocks.get(func() (*format.PackMap, error) {
		blocks, err := r.index.Blocks()
		if err != nil {
			return nil, r.p.blame(err)
		}
		return format.NewPackMap(blocks), nil
	})
}

// record returns the record at a position of a stream. It is shared and must not be changed.
func (r *pack1) record(s *Store, kind byte, at int64) ([]byte, error) {
	layout, err := r.layout()
	if err != nil {
		return nil, err
	}
	span, off, ok := layout.Find(kind, at)
	if !ok {
		return nil, r.p.noBlock(at)
	}
	raw, err := r.block(s, span)
	if err != nil {
		return nil, err
	}
	data, _, err := format.PackRecord(raw, off)
	return data, r.p.blamePack(err)
}

// block returns the raw bytes of a block; they are shared and must not be changed.
func (r *pack1) block(s *Store, span format.PackSpan) ([]byte, error) {
	key := blockKey{r.p.id, span.N}
	if b := s.cache.get(key); b != nil {
		return b.raw, nil
	}
	b := make([]byte, format.PackBlockHead+span.Compressed)
	if err := r.p.readPiece(b, span.Offset); err != nil {
		return nil, err
	}
	head, err := format.ParsePackBlockHead(b)
	if err == nil && head != span.PackBlock {
		err = errors.New("block is not the one its index names")
	}
	var raw []byte
	if err == nil {
		raw, err = s.codec.decode(head.Raw, b[format.PackBlockHead:])
	}
	if err != nil {
		return nil, r.p.blamePack(err)
	}
	s.cache.put(key, &cachedBlock{raw: raw, size: len(raw)})
	return raw, nil
}

func (r *pack1) salvage(s *Store, fn func(format.Raw, bool) error) (lost []format.ID, err error) {
	err = r.index.Each(0, func(id format.ID, _ format.PackPlace) (bool, error) {
		t := &search{id: id, body: true}
		s.tryPack(t, r.p)
		if t.best.Header == nil {
			lost = append(lost, id)
			return true, nil
		}
		return true, fn(t.best, t.complete)
	})
	return lost, err
}
