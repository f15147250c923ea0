package objects

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"

	"github.com/gemini-ctx/ctx/format"
	"github.com/klauspost/compress/zstd"
)

// How many raw bytes a block has before a new one is begun; an object that is larger has a block
// of its own. Larger blocks compress better and take longer to read one object from: 256 KiB take
// some 0.2 ms. Headers are mostly ids and digests, which compress hardly better in large blocks,
// and are what most reading is about.
const (
	headerBlock = 32 << 10
	bodyBlock   = 256 << 10
)

// blockSize is the one of a stream's kind.
func (s *stream) blockSize() int {
	if s.kind == format.PackHeaders {
		return headerBlock
	}
	return bodyBlock
}

// packBuffer is how much of a pack is collected before it is written.
const packBuffer = 1 << 20

// packWriter turns objects into the bytes of a pack. Blocks are compressed by several goroutines
// and written in order, so that the bytes depend on the objects and the level alone.
type packWriter struct {
	enc     *zstd.Encoder
	out     *bufio.Writer
	sum     hash.Hash
	written int64

	headers, bodies stream
	entries         []format.PackEntry
	blocks          []format.PackBlock
	jobs            []job
	late            []format.Raw
}

// stream collects the records of one kind for its next block.
type stream struct {
	kind  byte
	raw   []byte
	start int64 // position of raw
}

// job is a block that is being compressed.
type job struct {
	kind  byte
	raw   int
	frame chan []byte
}

func newPackWriter(enc *zstd.Encoder, out io.Writer) *packWriter {
	return &packWriter{
		enc:     enc,
		out:     bufio.NewWriterSize(out, packBuffer),
		sum:     sha256.New(),
		headers: stream{kind: format.PackHeaders},
		bodies:  stream{kind: format.PackBodies},
	}
}

func (w *packWriter) write(b []byte) error {
	w.sum.Write(b) // never fails
	w.written += int64(len(b))
	_, err := w.out.Write(b)
	return err
}

// add takes an object that has been checked. One whose body is absent is kept for the end: behind
// all bodies, so that whoever indexes the pack anew, and gives each header in turn the next body
// if it names that, cannot give it another's equal body.
func (w *packWriter) add(id format.ID, r format.Raw) error {
	if r.Body == nil {
		if _, named, _ := format.HeaderBody(r.Header); named {
			w.late = append(w.late, r)
			return nil
		}
	}
	return w.place(id, r)
}

func (w *packWriter) place(id format.ID, r format.Raw) error {
	if w.written == 0 {
		if err := w.write([]byte(format.PackMagic)); err != nil {
			return err
		}
	}
	e := format.PackEntry{ID: id, PackPlace: format.PackPlace{Body: -1}}
	var err error
	if e.Header, err = w.record(&w.headers, r.Header); err != nil {
		return err
	}
	if r.Body != nil {
		if e.Body, err = w.record(&w.bodies, r.Body); err != nil {
			return err
		}
	}
	if key, ok := format.SourceKey(r.Header); ok {
		e.Sourced, e.Tag = true, format.SourceTag(key)
	}
	w.entries = append(w.entries, e)
	return nil
}

// record adds a record to a stream, after ending a block that it does not fit in, and returns its
// position.
func (w *packWriter) record(s *stream, data []byte) (at int64, err error) {
	if len(s.raw) > 0 && len(s.raw)+format.PackRecordLen(len(data)) > s.blockSize() {
		if err := w.endBlock(s); err != nil {
			return 0, err
		}
	}
	if s.raw == nil {
		s.raw = make([]byte, 0, max(s.blockSize(), format.PackRecordLen(len(data))))
	}
	at = s.start + int64(len(s.raw))
	s.raw = format.AppendPackRecord(s.raw, data)
	return at, nil
}

// endBlock hands a stream's block to be compressed, and first writes the oldest one if enough are
// under way.
func (w *packWriter) endBlock(s *stream) error {
	if len(s.raw) == 0 {
		return nil
	}
	if len(w.jobs) == packers {
		if err := w.writeOldest(); err != nil {
			return err
		}
	}
	raw := s.raw
	s.start += int64(len(raw))
	s.raw = nil
	j := job{kind: s.kind, raw: len(raw), frame: make(chan []byte, 1)}
	go func() { j.frame <- w.enc.EncodeAll(raw, nil) }()
	w.jobs = append(w.jobs, j)
	return nil
}

func (w *packWriter) writeOldest() error {
	j := w.jobs[0]
	w.jobs = w.jobs[1:]
	frame := <-j.frame
	b := format.PackBlock{Kind: j.kind, Compressed: len(frame), Raw: j.raw}
	head, err := format.AppendPackBlockHead(nil, b)
	if err != nil {
		return err
	}
	w.blocks = append(w.blocks, b)
	if err := w.write(head); err != nil {
		return err
	}
	return w.write(frame)
}

// finish writes what is left and the trailer. It returns the pack's id and its index.
func (w *packWriter) finish() (pack format.ID, index []byte, err error) {
	for _, r := range w.late {
		if err := w.place(r.ID(), r); err != nil {
			return pack, nil, err
		}
	}
	for _, s := range []*stream{&w.headers, &w.bodies} {
		if err := w.endBlock(s); err != nil {
			return pack, nil, err
		}
	}
	for len(w.jobs) > 0 {
		if err := w.writeOldest(); err != nil {
			return pack, nil, err
		}
	}
	w.sum.Sum(pack[:0])
	if err := w.write(pack[:]); err != nil {
		return pack, nil, err
	}
	if err := w.out.Flush(); err != nil {
		return pack, nil, err
	}
	index, err = format.EncodePackIndex(pack, w.entries, w.blocks)
	if err != nil {
		return pack, nil, fmt.Errorf("cannot index pack: %w", err)
	}
	return pack, index, nil
}
