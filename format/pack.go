package format

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A pack holds many objects in one file: PackMagic, a sequence of blocks, and the SHA-256 of
// everything before it. A block is a head of PackBlockHead bytes and a zstd frame. A frame holds a
// sequence of records, each a length and that many bytes. All records of a block are headers, or
// all are bodies. docs/format/pack-1.md describes packs.
const (
	PackMagic     = "ctx pack 1\n"
	PackBlockHead = 9           // bytes: kind, compressed length, raw length
	PackTrailer   = sha256.Size // bytes
	// Bytes of a block before compression: the largest body and its length
	PackMaxRaw = MaxBody + 4
)

// The two kinds of blocks. Headers and bodies are apart so that reading headers decompresses no
// bodies.
const (
	PackHeaders = 'h'
	PackBodies  = 'b'
)

// PackBlock describes a block of a pack: its kind, and the lengths in bytes of its frame and of the
// decompressed records.
type PackBlock struct {
	Kind       byte
	Compressed int
	Raw        int
}

func (b PackBlock) check() error {
	switch {
	case b.Kind != PackHeaders && b.Kind != PackBodies:
		return fmt.Errorf("unknown kind of block: %q", b.Kind)
	case b.Raw < 1 || b.Raw > PackMaxRaw:
		return fmt.Errorf("bad length of a block: %d", b.Raw)
	case b.Compressed < 1 || b.Compressed > MaxFrame(b.Raw):
		return fmt.Errorf("bad compressed length of a block: %d for %d", b.Compressed, b.Raw)
	}
	return nil
}

// MaxFrame returns the size of the largest frame of zstd for raw bytes. zstd adds 3 bytes to each
// of its blocks that do not compress, and a frame header and a checksum of at most 22 bytes. A
// block has 64 KiB at the fastest level and 128 KiB at the others.
func MaxFrame(raw int) int { return raw + 3*(raw>>16+1) + 22 }

// AppendPackBlockHead appends the head of b, PackBlockHead bytes, to dst. It refuses a block that
// ParsePackBlockHead would refuse.
func AppendPackBlockHead(dst []byte, b PackBlock) ([]byte, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	dst = append(dst, b.Kind)
	dst = binary.BigEndian.AppendUint32(dst, uint32(b.Compressed))
	return binary.BigEndian.AppendUint32(dst, uint32(b.Raw)), nil
}

// ParsePackBlockHead reads the head of a block from the first PackBlockHead bytes of b. Its lengths
// are within the limits, so a reader may allocate that many bytes.
func ParsePackBlockHead(b []byte) (PackBlock, error) {
	if len(b) < PackBlockHead {
		return PackBlock{}, errors.New("pack is cut short")
	}
	block := PackBlock{
		Kind: b[0],
		// The clamps keep the lengths within an int of 32 bits; check refuses clamped values.
		Compressed: int(min(binary.BigEndian.Uint32(b[1:]), 1<<30)),
		Raw:        int(min(binary.BigEndian.Uint32(b[5:]), 1<<30)),
	}
	if err := block.check(); err != nil {
		return PackBlock{}, err
	}
	return block, nil
}

// AppendPackRecord appends a record with the given data to the raw bytes of a block.
func AppendPackRecord(dst, data []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(data)))
	return append(dst, data...)
}

// PackRecordLen returns the number of bytes of a record with n bytes of data.
func PackRecordLen(n int) int {
	size := 1
	for v := n; v >= 0x80; v >>= 7 {
		size++
	}
	return size + n
}

// PackRecord returns the data of the record at offset off in the raw bytes of a block, and the
// offset of the next record. The data aliases raw.
func PackRecord(raw []byte, off int) (data []byte, next int, err error) {
	if off < 0 || off >= len(raw) {
		return nil, 0, fmt.Errorf("no record at %d in a block of %d bytes", off, len(raw))
	}
	n, width := binary.Uvarint(raw[off:])
	if width <= 0 || width > 1 && raw[off+width-1] == 0 {
		return nil, 0, fmt.Errorf("bad length of the record at %d", off)
	}
	start := off + width
	if n > uint64(len(raw)-start) {
		return nil, 0, fmt.Errorf("record at %d reaches beyond its block", off)
	}
	next = start + int(n)
	return raw[start:next:next], next, nil
}

// WalkPack reads a whole pack of size bytes and calls fn for each block. The frame that fn gets is
// valid until fn returns. WalkPack returns the pack's id, which is the SHA-256 of everything before
// the trailer, after it has compared that digest with the trailer. Until then the frames are
// unproven. WalkPack keeps only one frame in memory. It returns an error of fn unchanged.
func WalkPack(r io.Reader, size int64, fn func(b PackBlock, frame []byte) error) (ID, error) {
	sum := sha256.New()
	in := io.TeeReader(r, sum)
	magic := make([]byte, len(PackMagic))
	if _, err := io.ReadFull(in, magic); err != nil || !bytes.Equal(magic, []byte(PackMagic)) {
		return ID{}, badPack(err, "not a pack of a known version")
	}
	left := size - int64(len(PackMagic))
	var head [PackBlockHead]byte
	var frame []byte
	for left > PackTrailer {
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return ID{}, badPack(err, "pack is cut short")
		}
		b, err := ParsePackBlockHead(head[:])
		if err != nil {
			return ID{}, err
		}
		left -= PackBlockHead + int64(b.Compressed)
		if left < PackTrailer {
			return ID{}, errors.New("block reaches beyond its pack")
		}
		frame = grow(frame, b.Compressed)
		if _, err := io.ReadFull(in, frame); err != nil {
			return ID{}, badPack(err, "pack is cut short")
		}
		if err := fn(b, frame); err != nil {
			return ID{}, err
		}
	}
	return checkTrailer(r, sum.Sum(nil), left)
}

func checkTrailer(r io.Reader, sum []byte, left int64) (ID, error) {
	var trailer ID
	if left != PackTrailer {
		return ID{}, errors.New("pack is cut short")
	}
	if _, err := io.ReadFull(r, trailer[:]); err != nil {
		return ID{}, badPack(err, "pack is cut short")
	}
	if !bytes.Equal(trailer[:], sum) {
		return ID{}, errors.New("pack does not match its digest")
	}
	return trailer, nil
}

// badPack returns err, unless err is nil or an early end of the file: then it returns an error with
// the text why.
func badPack(err error, why string) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New(why)
	}
	return err
}

func grow(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}

// PackSpan says where a block lies in its pack.
type PackSpan struct {
	PackBlock
	N      int   // the block's number in the pack, from 0
	Offset int64 // of the block's head, from the start of the file
	start  int64 // position of the block's first raw byte in the stream of its kind
}

// PackMap finds blocks by position. The raw bytes of all blocks of one kind, one after the other,
// form a stream. A position is an offset in that stream.
type PackMap struct {
	headers, bodies []PackSpan
}

// NewPackMap returns the map of a pack with the given blocks, which are in the order of the file.
func NewPackMap(blocks []PackBlock) *PackMap {
	m := &PackMap{}
	offset := int64(len(PackMagic))
	var starts [2]int64
	for n, b := range blocks {
		list, start := &m.headers, &starts[0]
		if b.Kind == PackBodies {
			list, start = &m.bodies, &starts[1]
		}
		*list = append(*list, PackSpan{PackBlock: b, N: n, Offset: offset, start: *start})
		*start += int64(b.Raw)
		offset += PackBlockHead + int64(b.Compressed)
	}
	return m
}

// Find returns the block of the given kind that holds position at, and the offset of that position
// in the raw bytes of the block. ok is false if no block holds it.
func (m *PackMap) Find(kind byte, at int64) (span PackSpan, off int, ok bool) {
	list := m.headers
	if kind == PackBodies {
		list = m.bodies
	}
	lo, hi := 0, len(list)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if list[mid].start <= at {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if at < 0 || lo == 0 || at-list[lo-1].start >= int64(list[lo-1].Raw) {
		return PackSpan{}, 0, false
	}
	return list[lo-1], int(at - list[lo-1].start), true
}
