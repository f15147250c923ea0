package objects

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/gemini-ctx/ctx/format"
	packs "github.com/gemini-ctx/ctx/format/pack"
	"github.com/gemini-ctx/ctx/internal/durable"
)

// pack is a pack that has an index. The index stays open or in memory, so that look-ups go on while
// the pack is being removed; the pack's own file is opened for each block, so that a long reader
// keeps no removed pack on the disk.
type pack struct {
	id        format.ID
	path, idx string
	mostIndex int64 // bytes of an index that is read as a whole once it was read often

	mu     sync.Mutex
	file   io.Closer
	reader *packReader
	looked bool  // check was asked
	fault  error // what it said
}

// kept is a value that is read when it is first needed. An error is not remembered.
type kept[T any] struct {
	mu    sync.Mutex
	value T
	there bool
}

func (k *kept[T]) get(read func() (T, error)) (T, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.there {
		return k.value, nil
	}
	value, err := read()
	if err == nil {
		k.value, k.there = value, true
	}
	return value, err
}

// placed is an object of a pack, and its place there.
type placed struct {
	id     format.ID
	stored bool // its body is in the pack
	number uint32
}

// open returns the reader of a pack. An error is not remembered: the next call tries again.
func (p *pack) open() (*packReader, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reader != nil {
		return p.reader, nil
	}
	file, err := durable.Open(p.idx)
	if err != nil {
		return nil, notFile(p.idx, err)
	}
	reader, held, err := p.read(file)
	if err != nil || held {
		if err = errors.Join(err, file.Close()); err != nil {
			return nil, err
		}
		p.reader = reader
		return reader, nil
	}
	p.reader, p.file = reader, file
	return reader, nil
}

// wholeIndex is the largest index that is read as a whole when it is opened: that of some 10,000
// objects. One look-up reads little of it, but a command that looks up many asks every pack.
const wholeIndex = 64 << 10

// read returns the reader of an index; held says that the file is not needed any more.
func (p *pack) read(file *os.File) (reader *packReader, held bool, err error) {
	info, err := file.Stat()
	if err != nil {
		return nil, false, err
	}
	var r io.ReaderAt = &indexFile{file: file, size: info.Size(), most: p.mostIndex}
	if held = info.Size() <= wholeIndex; held {
		b := make([]byte, info.Size())
		if _, err := file.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
			return nil, false, err
		}
		r = bytes.NewReader(b)
	}
	reader, err = p.readerOf(r, info.Size())
	return reader, held, p.blame(err)
}

// readerOf returns the reader for an index.
func (p *pack) readerOf(r io.ReaderAt, size int64) (*packReader, error) {
	index, err := packs.OpenIndex(r, size)
	if err != nil {
		return nil, p.orNewer(err)
	}
	if index.Pack != p.id {
		return nil, errors.New("index is for another pack")
	}
	return &packReader{p: p, index: index}, nil
}

// orNewer returns err, the error of opening the index. That it has a version which is not known
// counts only where the pack has one, too: otherwise the index is damaged.
func (p *pack) orNewer(err error) error {
	var version *format.VersionError
	if !errors.As(err, &version) {
		return err
	}
	var head [packs.HeadSize]byte
	if p.readPiece(head[:], 0) == nil {
		if _, newer := packs.ParseHead(head[:]); errors.As(newer, &version) {
			return err
		}
	}
	return errors.New(err.Error())
}

// hold makes the index of a pack that was just written one in memory.
func (p *pack) hold(b []byte) {
	reader, err := p.readerOf(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return // it is read from disk then, and what is wrong shows there
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reader == nil {
		p.reader = reader
	}
}

func (p *pack) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	file := p.file
	p.file, p.reader, p.looked, p.fault = nil, nil, false, nil
	if file == nil {
		return nil
	}
	return file.Close()
}

// has reports whether a pack has the object id.
func (p *pack) has(s *Store, id format.ID) (bool, error) {
	reader, err := p.open()
	if err != nil {
		return false, err
	}
	_, ok, err := reader.find(s, id)
	return ok, err
}

// contents lists what is in a pack, in the order that it was written in. With an error it lists
// what can be read.
func (p *pack) contents(s *Store) (order []placed, err error) {
	reader, err := p.open()
	if err != nil {
		return nil, err
	}
	err = eachBlock(s, reader, func(span packs.Span, list []packs.Object) []placed {
		of := make([]placed, len(list))
		for i, o := range list {
			of[i] = placed{id: o.ID, stored: o.Stored, number: uint32(span.First + i)}
		}
		return of
	}, func(of []placed) error {
		order = append(order, of...)
		return nil
	})
	return order, err
}

// at reads an object from its place in a pack. The bytes are not to be changed.
func (p *pack) at(s *Store, o placed, body bool) (format.Raw, error) {
	reader, err := p.open()
	if err != nil {
		return format.Raw{}, err
	}
	at, err := reader.object(s, o.number, false) // o names the id
	if err != nil {
		return format.Raw{}, err
	}
	raw := format.Raw{Header: at.Header}
	if body && at.Stored {
		raw.Body = at.Body
	}
	return raw, nil
}

// check reads all of the index, once for as long as it is open.
func (p *pack) check() error {
	reader, err := p.open()
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.looked {
		p.looked, p.fault = true, p.blame(reader.check())
	}
	return p.fault
}

// checkIndexes returns what is wrong with an index of a list: a pack whose index is damaged may
// have what was not found.
func checkIndexes(list *packList) error {
	for _, p := range list.packs {
		if err := p.check(); err != nil && !vanished(err) {
			return err
		}
	}
	return nil
}

// blame makes a fault of the index's content a *CorruptError. It leaves alone errors of the file
// system, those that blame a file, and that of a version which is not known.
func (p *pack) blame(err error) error { return blamed(p.idx, err) }

// blamePack is blame for the pack's own file.
func (p *pack) blamePack(err error) error { return blamed(p.path, err) }

func blamed(file string, err error) error {
	if err == nil {
		return nil // and nothing is allocated
	}
	if errors.As(err, new(*fs.PathError)) || errors.Is(err, fs.ErrClosed) ||
		errors.As(err, new(*CorruptError)) || errors.As(err, new(*format.VersionError)) {
		return err
	}
	return &CorruptError{Path: file, Why: err.Error()}
}

// readPiece fills b from an offset of a pack's file.
func (p *pack) readPiece(b []byte, at int64) error {
	file, err := durable.Open(p.path)
	if err != nil {
		return notFile(p.path, err)
	}
	_, err = file.ReadAt(b, at)
	if errors.Is(err, io.EOF) {
		err = &CorruptError{Path: p.path, Why: "pack is cut short"}
	}
	return errors.Join(err, file.Close())
}

// noBlock is the error of an index that names a place which its pack does not have.
func (p *pack) noBlock(at int64) error {
	return &CorruptError{Path: p.idx, Why: fmt.Sprintf("no block has position %d", at)}
}

// packList is the packs of a store at one time, in the order of their names. It is not changed
// after it was made.
type packList struct {
	packs []*pack
}

// list returns the packs as last listed, and lists them the first time.
func (s *Store) list() (*packList, error) {
	s.mu.Lock()
	list := s.packs
	s.mu.Unlock()
	if list != nil {
		return list, nil
	}
	return s.relist()
}

// relist lists the packs. It returns the same list as before, as a pointer, if they are the same
// packs.
func (s *Store) relist() (*packList, error) {
	ids, err := s.PackNames(IndexExt)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.packs != nil &&
		slices.EqualFunc(s.packs.packs, ids,
			func(p *pack, id format.ID) bool { return p.id == id }) {
		return s.packs, nil
	}
	known := map[format.ID]*pack{}
	if s.packs != nil {
		for _, p := range s.packs.packs {
			known[p.id] = p
		}
	}
	next := &packList{}
	for _, id := range ids {
		p := known[id]
		if p == nil {
			p = s.newPack(id)
		}
		delete(known, id)
		next.packs = append(next.packs, p)
	}
	for _, p := range known {
		_ = p.close()
		if s.recent == p {
			s.recent = nil
		}
	}
	s.packs = next
	return next, nil
}

func (s *Store) newPack(id format.ID) *pack {
	return &pack{id: id, path: s.PackPath(id), idx: s.IndexPath(id), mostIndex: s.cache.mostIndex()}
}

func (s *Store) useful(p *pack) {
	s.mu.Lock()
	s.recent = p
	s.mu.Unlock()
}

// unlist takes a pack that is gone out of the list, so that look-ups ask for it no more.
func (s *Store) unlist(gone format.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.packs == nil {
		return
	}
	is := func(p *pack) bool { return p.id == gone }
	if s.recent != nil && is(s.recent) {
		s.recent = nil
	}
	if slices.ContainsFunc(s.packs.packs, is) {
		s.packs = &packList{packs: slices.DeleteFunc(slices.Clone(s.packs.packs), is)}
	}
}

// Refresh lists the packs again, so that look-ups which do not do so by themselves (BySource) see
// those that other processes wrote since.
func (s *Store) Refresh() error {
	_, err := s.relist()
	return err
}
