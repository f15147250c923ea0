package objects

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
)

// pack is a pack that has an index. The index's file stays open, so that look-ups go on while the
// pack is being removed; the pack's own file is opened for each block, so that a long reader keeps
// no removed pack on the disk.
type pack struct {
	id        format.ID
	path, idx string

	mu     sync.Mutex
	file   io.Closer
	index  *format.PackIndex
	blocks *format.PackMap
	looked bool  // check was asked
	fault  error // what it said
}

// open returns the index. An error is not remembered: the next call tries again.
func (p *pack) open() (*format.PackIndex, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.index != nil {
		return p.index, nil
	}
	file, err := durable.Open(p.idx)
	if err != nil {
		return nil, notFile(p.idx, err)
	}
	index, err := p.read(file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	p.index, p.file = index, file
	return index, nil
}

func (p *pack) read(file *os.File) (*format.PackIndex, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	index, err := format.OpenPackIndex(file, info.Size())
	if err == nil && index.Pack != p.id {
		err = errors.New("index is for another pack")
	}
	if err != nil {
		return nil, &CorruptError{Path: p.idx, Why: err.Error()}
	}
	return index, nil
}

// hold makes the index of a pack that was just written one in memory.
func (p *pack) hold(b []byte) {
	index, err := format.OpenPackIndex(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return // it is read from disk then, and what is wrong shows there
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.index == nil {
		p.index = index
	}
}

func (p *pack) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	file := p.file
	p.file, p.index, p.blocks, p.looked, p.fault = nil, nil, nil, false, nil
	if file == nil {
		return nil
	}
	return file.Close()
}

// find looks an id up in the index.
func (p *pack) find(id format.ID) (at format.PackPlace, ok bool, err error) {
	index, err := p.open()
	if err != nil {
		return at, false, err
	}
	at, ok, err = index.Find(id)
	return at, ok, p.blame(err)
}

// check reads all of the index, once for as long as it is open.
func (p *pack) check() error {
	index, err := p.open()
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.looked {
		p.looked, p.fault = true, p.blame(index.Check())
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

// blame makes a fault of the index's content a *CorruptError and leaves errors of the file system
// alone.
func (p *pack) blame(err error) error {
	var path *fs.PathError
	if err == nil || errors.As(err, &path) || errors.Is(err, fs.ErrClosed) {
		return err
	}
	return &CorruptError{Path: p.idx, Why: err.Error()}
}

func (p *pack) layout() (*format.PackMap, error) {
	index, err := p.open()
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.blocks != nil {
		return p.blocks, nil
	}
	blocks, err := index.Blocks()
	if err != nil {
		return nil, p.blame(err)
	}
	p.blocks = format.NewPackMap(blocks)
	return p.blocks, nil
}

// record returns a copy of the record at a position of a stream.
func (s *Store) record(p *pack, kind byte, at int64) ([]byte, error) {
	layout, err := p.layout()
	if err != nil {
		return nil, err
	}
	span, off, ok := layout.Find(kind, at)
	if !ok {
		return nil, &CorruptError{Path: p.idx, Why: fmt.Sprintf("no block has position %d", at)}
	}
	raw, err := s.block(p, span)
	if err != nil {
		return nil, err
	}
	data, _, err := format.PackRecord(raw, off)
	if err != nil {
		return nil, &CorruptError{Path: p.path, Why: err.Error()}
	}
	return append([]byte{}, data...), nil
}

// block returns the raw bytes of a block; they are shared and must not be changed.
func (s *Store) block(p *pack, span format.PackSpan) ([]byte, error) {
	key := blockKey{p.id, span.N}
	if raw := s.cache.get(key); raw != nil {
		return raw, nil
	}
	b := make([]byte, format.PackBlockHead+span.Compressed)
	if err := readPiece(p.path, b, span.Offset); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, &CorruptError{Path: p.path, Why: "pack is cut short"}
		}
		return nil, err
	}
	head, err := format.ParsePackBlockHead(b)
	if err == nil && head != span.PackBlock {
		err = errors.New("block is not the one its index names")
	}
	var raw []byte
	if err == nil {
		raw, err = s.codec.decode(head, b[format.PackBlockHead:])
	}
	if err != nil {
		return nil, &CorruptError{Path: p.path, Why: err.Error()}
	}
	s.cache.put(key, raw)
	return raw, nil
}

func readPiece(path string, b []byte, at int64) error {
	file, err := durable.Open(path)
	if err != nil {
		return notFile(path, err)
	}
	_, err = file.ReadAt(b, at)
	return errors.Join(err, file.Close())
}
