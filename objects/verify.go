package objects

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/gemini-ctx/ctx/format"
	packs "github.com/gemini-ctx/ctx/format/pack"
	"github.com/gemini-ctx/ctx/internal/durable"
)

// CheckPack reads a whole pack and checks all of it: its digest, every header and body, and that
// its index is the one that follows from it. Whether a missing body may be missing is for Get to
// say. Errors: *CorruptError, and what the file system says.
func (s *Store) CheckPack(pack format.ID) error { return s.check(pack, nil) }

// CheckContents is CheckPack and PackContentsBehind in one: it reads the pack once.
func (s *Store) CheckContents(ids []format.ID, pack format.ID) (PackContents, error) {
	c := PackContents{IDs: ids}
	err := s.check(pack, func(o packs.Object) {
		if _, named, _ := format.HeaderBody(o.Header); named && !o.Stored {
			c.Bodyless = append(c.Bodyless, uint32(len(c.IDs)-len(ids)))
		}
		c.IDs = append(c.IDs, o.ID)
	})
	return c, err
}

// check is CheckPack. It tells each of the objects, as they come; nil for nobody.
func (s *Store) check(pack format.ID, each func(packs.Object)) error {
	want, err := s.scan(pack, each)
	if err != nil {
		return err
	}
	same, err := isFile(s.IndexPath(pack), want)
	if err != nil {
		return fmt.Errorf("cannot check pack %v: %w", pack, notFile(s.IndexPath(pack), err))
	}
	if !same {
		return &CorruptError{Path: s.IndexPath(pack), Why: "index does not follow from its pack"}
	}
	return nil
}

// isFile reports whether a file has these bytes. It reads the file in pieces: an index of millions
// of objects takes much memory.
func isFile(path string, want []byte) (same bool, err error) {
	file, err := durable.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	piece := make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(file, piece)
		if !bytes.HasPrefix(want, piece[:n]) {
			return false, nil
		}
		want = want[n:]
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return len(want) == 0, nil
		case err != nil:
			return false, err
		}
	}
}

// Reindex writes the index of a pack anew from the pack, after it checked all of the pack. It
// lasts when it returns.
func (s *Store) Reindex(pack format.ID) error {
	index, err := s.scan(pack, nil)
	if err != nil {
		return err
	}
	s.forgetPack(pack)
	if err := s.fs.WriteDurable(s.IndexPath(pack), index, 0o600); err != nil {
		return fmt.Errorf("cannot index pack %v: %w", pack, err)
	}
	return nil
}

// scan reads a pack and returns the index that follows from it.
func (s *Store) scan(pack format.ID, each func(packs.Object)) (index []byte, err error) {
	path := s.PackPath(pack)
	file, size, err := openPack(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read pack %v: %w", pack, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	c := census{each: each}
	id, err := s.walk(bufio.NewReaderSize(file, packBuffer), size, &c.met, true, c.object,
		func(b packs.Block) { c.blocks = append(c.blocks, b) },
		func(err error) error { return err })
	if err == nil {
		index, err = c.index(id)
	}
	if err == nil && id != pack {
		err = errors.New("pack does not match its name")
	}
	if err != nil {
		return nil, &CorruptError{Path: path, Why: err.Error()}
	}
	return index, nil
}
