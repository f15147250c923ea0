package objects

import (
	"bytes"
	"errors"
	"fmt"
	"iter"

	"github.com/gemini-ctx/ctx/format"
	packs "github.com/gemini-ctx/ctx/format/pack"
	"github.com/gemini-ctx/ctx/internal/lists"
)

// EncodePack returns a pack of objects for other stores: bare, as packs.Bare makes it, and without
// the key of this store. The objects come in the order in which they are best read, each once, and
// were read from the store; one without its body has a record that says why. The result for no
// objects is nil.
func (s *Store) EncodePack(
	raws iter.Seq2[format.Raw, error], level Level,
) (bare []byte, id format.ID, err error) {
	enc, err := s.codec.Encoder(level)
	if err != nil {
		return nil, id, err
	}
	var out bytes.Buffer
	w := newPackWriter(enc, packs.Key{}, level, &out, s.lent())
	w.count = blockObjects // it is read as a whole
	empty := true
	for r, err := range raws {
		if err != nil {
			return nil, id, err
		}
		empty = false
		if err := w.add(r.ID(), r); err != nil {
			return nil, id, err
		}
	}
	if empty {
		return nil, id, nil
	}
	if id, _, err = w.finish(); err != nil {
		return nil, id, fmt.Errorf("cannot pack objects: %w", err)
	}
	bare, err = packs.Bare(out.Bytes())
	return bare, id, err
}

// AdoptPack stores the objects of a bare pack that another store encoded. Its id must be want. It
// checks all of it as Put checks objects, and calls check for each object, before it writes
// anything. The calls come one after another; the bytes stay good. Bodies that this store has
// forgotten stay forgotten, and their ids are returned. When AdoptPack returns nil, the objects are
// there after a power cut. Nothing names them yet, so gc removes them after its time of grace. The
// objects get their names in publish, which when calls with the lock of the store: it looks once
// more for what is forgotten. Errors: those of Put, ErrNoBody, *CorruptError, those of check and of
// when.
func (s *Store) AdoptPack(
	bare []byte, want format.ID, check func(format.ID, format.Raw) error,
	when func(publish func() error) error,
) (gone []format.ID, err error) {
	var c census
	in := &gate{Store: s}
	here := map[format.ID]bool{} // that come without the body, which this store has
	var bodies []format.ID       // that come with theirs
	whole, err := s.walkBare(bare, want, &c.met, func(o packs.Object, raw format.Raw) error {
		c.object(o)
		if o.Stored {
			bodies = append(bodies, o.ID)
		}
		err := in.admit(o.ID, raw)
		if IsGone(err) {
			err = nil // publish looks for what is forgotten then
		}
		if err != nil && !o.Stored {
			if _, whole := s.Get(o.ID); whole == nil {
				here[o.ID], err = true, nil
			}
		}
		if err == nil {
			err = check(o.ID, raw)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	index, err := c.index(want)
	if err != nil {
		return nil, &CorruptError{Path: want.String(), Why: err.Error()}
	}
	err = when(func() error {
		var err error
		if gone, err = s.forgottenOf(bodies); err != nil {
			return err
		}
		if len(gone)+len(here) > 0 {
			return s.putWithout(bare, want, gone, here)
		}
		return s.putPack(whole, want, index, int(c.table.len()))
	})
	return gone, err
}

// putPack writes a pack that has been checked.
func (s *Store) putPack(whole []byte, id format.ID, index []byte, objects int) error {
	temp, err := s.newTemp()
	if err != nil {
		return err
	}
	defer temp.Discard()
	if _, err := temp.Write(whole); err != nil {
		return err
	}
	if err := s.publish(temp, id, index); err != nil {
		return fmt.Errorf("cannot write pack %v: %w", id, err)
	}
	_, err = s.announce(id, index, objects)
	return err
}

// forgottenOf returns those of ids whose bodies were forgotten.
func (s *Store) forgottenOf(ids []format.ID) (list []format.ID, err error) {
	gone, err := s.Gone(ids)
	for _, id := range gone {
		forgotten, err := s.Forgotten(id)
		if err != nil {
			return nil, err
		}
		if forgotten {
			list = append(list, id)
		}
	}
	return list, err
}

// PackIsCut reports whether bytes are the beginning of a bare pack. One that ends behind a block is
// not told from a whole one.
func PackIsCut(bare []byte) bool {
	_, err := packs.Complete(bare)
	return errors.Is(err, packs.ErrShort)
}

// ReadPack calls fn for the objects of a bare pack, in their order. Bodies that the pack does not
// have are nil. The bytes are good until fn returns. Nothing is stored. Errors: *CorruptError, that
// of fn.
func (s *Store) ReadPack(bare []byte, want format.ID, fn func(format.Raw) error) error {
	_, err := s.walkBare(bare, want, &walked{},
		func(_ packs.Object, raw format.Raw) error { return fn(raw) })
	return err
}

// walkBare calls fn for the objects of a bare pack, in their order, as they are and without bodies
// that the pack does not have. It returns the whole pack. Errors: *CorruptError, that of fn.
func (s *Store) walkBare(
	bare []byte, want format.ID, met *walked, fn func(packs.Object, format.Raw) error,
) (whole []byte, err error) {
	whole, err = packs.Complete(bare)
	if err != nil {
		return nil, &CorruptError{Path: want.String(), Why: err.Error()}
	}
	var refused error // of fn
	id, err := s.walk(bytes.NewReader(whole), int64(len(whole)), met, false,
		func(o packs.Object) error {
			raw := format.Raw{Header: o.Header}
			if o.Stored {
				raw.Body = o.Body
			}
			refused = fn(o, raw)
			return refused
		}, nil)
	switch {
	case refused != nil:
		return nil, refused
	case err != nil:
		return nil, &CorruptError{Path: want.String(), Why: err.Error()}
	case id != want:
		return nil, &CorruptError{Path: want.String(), Why: "pack does not match its name"}
	}
	return whole, nil
}

// putWithout stores the objects of a pack but those that are here, and without the bodies of those
// in gone.
func (s *Store) putWithout(
	bare []byte, want format.ID, gone []format.ID, here map[format.ID]bool,
) error {
	without := lists.Set(gone)
	var raws []format.Raw
	err := s.ReadPack(bare, want, func(raw format.Raw) error {
		id := raw.ID()
		if here[id] {
			return nil
		}
		kept := format.Raw{Header: bytes.Clone(raw.Header)}
		if !without[id] {
			kept.Body = bytes.Clone(raw.Body)
		}
		raws = append(raws, kept)
		return nil
	})
	if err != nil {
		return err
	}
	return s.Put(raws...)
}
