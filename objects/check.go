package objects

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gemini-ctx/ctx/format"
	packs "github.com/gemini-ctx/ctx/format/pack"
	"github.com/gemini-ctx/ctx/internal/durable"
)

// sound reports what is wrong with r as the object id, by what its header says alone. A missing
// body is no fault here: the result tells whether r is complete.
func sound(id format.ID, r format.Raw) (complete bool, err error) {
	if err := soundLength(r); err != nil {
		return false, err
	}
	if format.Sum(r.Header) != id {
		return false, errors.New("header does not match its id")
	}
	return soundForm(r, format.Body.Check)
}

// Sound checks an object against its id. complete is false where the body is not given or
// forgotten. An error says what does not fit.
func Sound(id format.ID, r format.Raw) (complete bool, err error) { return sound(id, r) }

// soundLength is the part of sound before a header is hashed.
func soundLength(r format.Raw) error {
	if len(r.Header) > format.MaxHeader {
		return fmt.Errorf("header has %d bytes", len(r.Header))
	}
	if len(r.Header) == 0 || r.Header[len(r.Header)-1] != '\n' {
		return errors.New("header does not end with a line")
	}
	return nil
}

// soundPacked is sound for an object as its block gives it. The block made the id of the header and
// the digest in the header of the body, so neither is hashed again.
func soundPacked(r format.Raw) (complete bool, err error) { return soundForm(r, unchecked) }

// unchecked is for the body of an object of a block.
func unchecked(format.Body, []byte) error { return nil }

// soundForm is sound but for the id. check compares a body with its line.
func soundForm(
	r format.Raw, check func(format.Body, []byte) error,
) (complete bool, err error) {
	if err := soundLength(r); err != nil {
		return false, err
	}
	if _, _, err := format.HeaderKind(r.Header); err != nil {
		return false, err
	}
	body, named, err := format.HeaderBody(r.Header)
	switch {
	case err != nil:
		return false, err
	case !named && r.Body != nil:
		return false, errors.New("body without a line for it in the header")
	case !named:
		return true, nil
	case r.Body == nil:
		return false, nil
	}
	return true, check(body, r.Body)
}

// gone returns the reason from the absent record of id; ok is false where there is none.
func (s *Store) gone(id format.ID) (reason string, ok bool, err error) {
	a, err := s.absent(id)
	if a == nil {
		return "", false, err
	}
	return a.Reason, true, nil
}

// standsFor returns the header that stands for an object that a repair has given up; nil where
// there is none.
func (s *Store) standsFor(id format.ID) []byte {
	if a, err := s.absent(id); err == nil && a != nil {
		return a.Header
	}
	return nil
}

// StandsFor reports whether the header that is read of an object is not its own: it is lost.
func (s *Store) StandsFor(id format.ID) bool {
	header, err := s.Header(id)
	return err == nil && format.Sum(header) != id
}

// Holes returns the objects that are lost by the word of a repair, and for which another header
// stands, in order. Some may be there again.
func (s *Store) Holes() (ids []format.ID, err error) {
	err = s.EachAbsent(func(id format.ID, _ string) error {
		if s.standsFor(id) != nil {
			ids = append(ids, id)
		}
		return nil
	})
	return ids, err
}

// GoneSince returns the time of the absent record of id; the zero time where there is none.
func (s *Store) GoneSince(id format.ID) (time.Time, error) {
	a, err := s.absent(id)
	if a == nil {
		return time.Time{}, err
	}
	return a.Time, nil
}

// absent reads the absent record of id; nil where there is none.
func (s *Store) absent(id format.ID) (*format.Absent, error) {
	path := s.AbsentPath(id)
	b, err := durable.ReadAtMost(path, MaxAbsentFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read why %v is absent: %w", id, notFile(path, err))
	}
	a, err := format.DecodeAbsent(b)
	if err == nil && a.Object != id {
		err = errors.New("record is for another object")
	}
	if err != nil {
		return nil, &CorruptError{ID: id, Path: path, Why: err.Error()}
	}
	return a, nil
}

// admit checks an object on its way in, and returns its id. A body that is absent may stay absent;
// one that was forgotten may not come back (*GoneError), one that was lost may; any other
// incomplete object is refused.
func (s *Store) admit(r format.Raw) (format.ID, error) {
	id := r.ID()
	complete, err := sound(id, r)
	if err != nil {
		return id, fmt.Errorf("cannot store object %v: %w", id, err)
	}
	return id, s.admitSound(id, r, complete)
}

// gate admits many objects: in most stores nothing is absent, and one look says so for the next
// lookEvery of them.
type gate struct {
	*Store
	left int // how many objects may pass without another look
}

// lookEvery is how many objects a gate admits between two looks for records of absent bodies.
const lookEvery = 256

// ErrNoBody says that an object came without its body, and no record here says why.
var ErrNoBody = errors.New("its body is missing")

// admit is Store.admit for who knows the id. The body is not compared with the header: a packWriter
// does that, when it reads back what it has packed.
func (g *gate) admit(id format.ID, r format.Raw) error {
	if g.left == 0 {
		none, err := g.NothingGone()
		if err != nil {
			return err
		}
		if !none {
			_, err := g.Store.admit(r)
			return err
		}
		g.left = lookEvery
	}
	g.left--
	complete, err := soundPacked(r)
	if err == nil && !complete {
		err = ErrNoBody
	}
	if err != nil {
		return fmt.Errorf("cannot store object %v: %w", id, err)
	}
	return nil
}

// admitSound is the part of admit that follows sound.
func (s *Store) admitSound(id format.ID, r format.Raw, complete bool) error {
	if complete && r.Body == nil {
		return nil // no body to be gone
	}
	reason, gone, err := s.gone(id)
	switch {
	case err != nil:
		return err
	case gone && complete && reason != format.ReasonLost:
		return &GoneError{ID: id, Reason: reason}
	case !gone && !complete:
		return fmt.Errorf("cannot store object %v: %w", id, ErrNoBody)
	}
	return nil
}

// Admits returns the error with which Put refuses an object, or nil. It writes nothing.
func (s *Store) Admits(r format.Raw) error {
	_, err := s.admit(r)
	return err
}

// Gone returns those of ids whose bodies are absent by a record, in order.
func (s *Store) Gone(ids []format.ID) ([]format.ID, error) {
	if none, err := s.NothingGone(); none || err != nil {
		return nil, err // in most stores nothing was ever forgotten
	}
	var out []format.ID
	for _, id := range ids {
		_, ok, err := s.gone(id)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, id)
		}
	}
	return out, nil
}

// NothingGone reports whether no body is absent by a record, as of now. It is one look, for who has
// many objects to ask about.
func (s *Store) NothingGone() (bool, error) { return isEmpty(filepath.Join(s.root, AbsentDir)) }

// isEmpty reports whether a folder has nothing in it, or is not there.
func isEmpty(dir string) (bool, error) {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	return false, err
}

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
	is, err := durable.ReadFile(s.IndexPath(pack))
	if err != nil {
		return fmt.Errorf("cannot check pack %v: %w", pack, notFile(s.IndexPath(pack), err))
	}
	if !bytes.Equal(is, want) {
		return &CorruptError{Path: s.IndexPath(pack), Why: "index does not follow from its pack"}
	}
	return nil
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
	var c census
	id, err := s.walk(bufio.NewReaderSize(file, packBuffer), size, &c.met, true,
		func(o packs.Object) error {
			if c.object(o); each != nil {
				each(o)
			}
			return nil
		}, nil)
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
