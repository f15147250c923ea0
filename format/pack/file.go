// Package pack is the form of a pack and of its index: many objects in one file. What
// follows from the rest is not stored: an object's id, the digest and size of its body, a nonce
// that the key gives, an id that another object of the block has.
//
// Begin with Encode and Decode, which turn objects into the bytes of a block and back.
// docs/format/pack.md describes the bytes. Compression, files and caches are package objects'.
package pack

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/format"
)

// A pack is a head, blocks, their parity, and the SHA-256 of everything before it.
const (
	Magic    = "ctx pack 1\n"
	HeadSize = len(Magic) + len(Key{}) // bytes: magic, key
	Trailer  = sha256.Size             // bytes

	// BlockHead is the size of the head of a block in bytes: kind, length of the frame, raw length,
	// number of objects, digest.
	BlockHead = 1 + 3*4 + sha256.Size

	// MaxRaw is the most bytes of a block before compression: the largest header or body, and what
	// else a block of one object needs.
	MaxRaw = format.MaxHeader + format.MaxBody + 1<<16
)

// fault is an error that is a constant: the package makes nothing when a program starts.
type fault string

func (f fault) Error() string { return string(f) }

// Block describes a block of a pack.
type Block struct {
	Kind    byte // Whole or Nodes
	Frame   int  // bytes of the zstd frame
	Raw     int  // bytes that the frame unpacks to
	Objects int
	Digest  format.ID // SHA-256 of the ids of its objects, one behind the other
}

func (b Block) check() error {
	switch {
	case b.Kind != Whole && b.Kind != Nodes:
		return fmt.Errorf("unknown kind of block: %q", b.Kind)
	case b.Raw < 1 || b.Raw > MaxRaw:
		return fmt.Errorf("bad length of a block: %d", b.Raw)
	case b.Frame < 1 || b.Frame > maxFrame(b.Raw):
		return fmt.Errorf("bad compressed length of a block: %d for %d", b.Frame, b.Raw)
	case b.Objects < 1 || b.Objects > MaxObjects:
		return fmt.Errorf("bad number of objects in a block: %d", b.Objects)
	}
	return nil
}

// maxFrame returns the size of the largest frame of zstd for raw bytes. zstd adds 3 bytes to each
// of its blocks that do not compress, and a frame header and a checksum of at most 22 bytes. A
// block has 64 KiB at the fastest level and 128 KiB at the others.
func maxFrame(raw int) int { return raw + 3*(raw>>16+1) + 22 }

// AppendHead appends the head of a pack to dst.
func AppendHead(dst []byte, key Key) []byte { return append(append(dst, Magic...), key[:]...) }

// ParseHead reads the head of a pack from its first HeadSize bytes.
func ParseHead(b []byte) (Key, error) {
	if len(b) < HeadSize {
		return Key{}, ErrShort
	}
	if err := checkMagic("pack", b, Magic); err != nil {
		return Key{}, err
	}
	return Key(b[len(Magic):HeadSize]), nil
}

// checkMagic compares the first line of a file with magic. *format.VersionError says that it has
// another version.
func checkMagic(what string, b []byte, magic string) error {
	if string(b[:len(magic)]) == magic {
		return nil
	}
	name := magic[:len(magic)-len("1\n")]
	line, _, _ := bytes.Cut(b[:len(magic)], []byte{'\n'})
	if v, err := strconv.Atoi(strings.TrimPrefix(string(line), name)); err == nil && v > version {
		return &format.VersionError{What: what, Got: v, Known: version}
	}
	return fmt.Errorf("not a %s", what)
}

// version is the version of packs and of their indexes.
const version = 1

// AppendBlockHead appends the head of b, BlockHead bytes, to dst. It refuses a block that
// ParseBlockHead would refuse.
func AppendBlockHead(dst []byte, b Block) ([]byte, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	dst = appendBlock(dst, b)
	return append(dst, b.Digest[:]...), nil
}

// appendBlock appends what a head and an index both have of a block.
func appendBlock(dst []byte, b Block) []byte {
	dst = append(dst, b.Kind)
	for _, n := range []int{b.Frame, b.Raw, b.Objects} {
		dst = binary.BigEndian.AppendUint32(dst, uint32(n))
	}
	return dst
}

// ParseBlockHead reads the head of a block from the first BlockHead bytes of b. Its lengths are
// within the limits, so a reader may allocate that many bytes.
func ParseBlockHead(b []byte) (Block, error) {
	if len(b) < BlockHead {
		return Block{}, ErrShort
	}
	block, err := parseBlock(b)
	block.Digest = format.ID(b[BlockHead-sha256.Size : BlockHead])
	return block, err
}

func parseBlock(b []byte) (Block, error) {
	// The clamps keep the numbers within an int of 32 bits; check refuses clamped values.
	number := func(at int) int { return int(min(binary.BigEndian.Uint32(b[at:]), 1<<30)) }
	block := Block{Kind: b[0], Frame: number(1), Raw: number(5), Objects: number(9)}
	return block, block.check()
}

// ErrShort says that bytes are the beginning of a pack.
const ErrShort = fault("pack is cut short")

// Walk reads a whole pack of size bytes and calls fn for each block. The frame that fn gets is
// valid until fn returns. Walk returns the pack's id, which is the SHA-256 of everything before the
// trailer, after it has compared that digest with the trailer, and the parity with the blocks.
// Until then the frames are unproven. Walk keeps only one frame in memory, and the parity, which is
// a hundredth of the pack. It returns an error of fn unchanged.
func Walk(
	r io.Reader, size int64, fn func(key Key, b Block, frame []byte) error,
) (format.ID, error) {
	sum := sha256.New()
	var parity Parity
	w := walker{in: r, seen: io.MultiWriter(sum, &parity), left: size}
	if err := w.blocks(fn); err != nil {
		return format.ID{}, err
	}
	part := parity.Bytes()
	if w.left != int64(len(part)-1+Trailer) {
		return format.ID{}, ErrShort
	}
	got := make([]byte, len(part))
	got[0] = parityKind
	if err := read(r, got[1:]); err != nil {
		return format.ID{}, err
	}
	if !bytes.Equal(got, part) {
		return format.ID{}, errors.New("pack does not match its parity")
	}
	sum.Write(part)
	var trailer format.ID
	if err := read(r, trailer[:]); err != nil {
		return format.ID{}, err
	}
	if !bytes.Equal(trailer[:], sum.Sum(nil)) {
		return format.ID{}, errors.New("pack does not match its digest")
	}
	return trailer, nil
}

// walker reads the blocks of a pack, up to the kind of the parity.
type walker struct {
	in   io.Reader
	seen io.Writer // gets all that is read but that kind
	left int64     // bytes of the pack that were not read
}

func (w *walker) blocks(fn func(key Key, b Block, frame []byte) error) error {
	head := make([]byte, max(HeadSize, BlockHead))
	if err := w.take(head[:HeadSize]); err != nil {
		return err
	}
	key, err := ParseHead(head)
	if err != nil {
		return err
	}
	var frame []byte
	for {
		if err := read(w.in, head[:1]); err != nil {
			return err
		}
		w.left--
		if head[0] == parityKind {
			return nil
		}
		_, _ = w.seen.Write(head[:1]) // hashes never fail
		if err := w.take(head[1:BlockHead]); err != nil {
			return err
		}
		b, err := ParseBlockHead(head)
		if err != nil {
			return err
		}
		if int64(b.Frame) > w.left {
			return errors.New("block reaches beyond its pack")
		}
		if cap(frame) < b.Frame {
			frame = make([]byte, b.Frame)
		}
		if err := w.take(frame[:b.Frame]); err != nil {
			return err
		}
		if err := fn(key, b, frame[:b.Frame]); err != nil {
			return err
		}
	}
}

// take fills b.
func (w *walker) take(b []byte) error {
	if err := read(w.in, b); err != nil {
		return err
	}
	w.left -= int64(len(b))
	_, _ = w.seen.Write(b)
	return nil
}

// read fills b.
func read(r io.Reader, b []byte) error {
	_, err := io.ReadFull(r, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrShort
	}
	return err
}

// Bare returns the part of a pack that does not follow from the rest: the head and the blocks,
// without the parity and the trailer. The result shares memory with whole, which is a pack that
// Walk accepts.
func Bare(whole []byte) ([]byte, error) {
	end, err := blocksEnd(whole, true)
	if err != nil {
		return nil, err
	}
	return whole[:end], nil
}

// Complete returns the pack that Bare made bare. It checks the heads of the blocks and not what is
// in them.
func Complete(bare []byte) ([]byte, error) {
	end, err := blocksEnd(bare, false)
	if err != nil {
		return nil, err
	}
	var parity Parity
	_, _ = parity.Write(bare[:end]) // never fails
	whole := append(bytes.Clone(bare), parity.Bytes()...)
	sum := sha256.Sum256(whole)
	return append(whole, sum[:]...), nil
}

// blocksEnd returns where the blocks of a pack end: at the parity, or where b ends.
func blocksEnd(b []byte, parity bool) (int, error) {
	if len(b) < HeadSize {
		return 0, ErrShort
	}
	if _, err := ParseHead(b); err != nil {
		return 0, err
	}
	at := HeadSize
	for at < len(b) {
		if parity && b[at] == parityKind {
			return at, nil
		}
		if len(b)-at < BlockHead {
			return 0, ErrShort
		}
		head, err := ParseBlockHead(b[at:])
		if err != nil {
			return 0, err
		}
		if at += BlockHead + head.Frame; at > len(b) {
			return 0, ErrShort
		}
	}
	if parity {
		return 0, ErrShort
	}
	return at, nil
}

// Key is the key of a store, from which the nonces of its bodies are derived. The zero value stands
// for none.
type Key [32]byte

// IsZero reports whether k stands for no key.
func (k Key) IsZero() bool { return k == Key{} }

// nonces derives nonces under one key. It is not for several goroutines.
type nonces struct {
	mac hash.Hash
	sum [sha256.Size]byte
}

func newNonces(k Key) *nonces {
	if k.IsZero() {
		return nil
	}
	return &nonces{mac: hmac.New(sha256.New, k[:])}
}

// of returns the nonce of an object by its header up to the body line, which the store derives in
// the same way: the first bytes of the HMAC-SHA-256 of "nonce", a zero byte, and these lines. The
// result is good until the next call.
func (n *nonces) of(lines []byte) []byte {
	n.mac.Reset()
	n.mac.Write([]byte("nonce\x00"))
	n.mac.Write(lines)
	return n.mac.Sum(n.sum[:0])[:format.NonceLen]
}

// derives reports whether body begins with the nonce that follows from the lines.
func (n *nonces) derives(lines, body []byte) bool {
	return n != nil && len(body) >= format.NonceLen &&
		bytes.Equal(n.of(lines), body[:format.NonceLen])
}

// Object is an object of a pack. Body is nil where it has none, and where it is absent.
type Object struct {
	ID     format.ID
	Header []byte
	Body   []byte
	Stored bool // its body is in the block; Decode alone sets it
}

// The kinds of blocks. The objects of a self-contained block follow from the block alone. Those of
// a block of nodes may name any object in a self-contained block before it by its number, and take
// that block to read: a node is a list of many ids, and is seldom read without what it lists.
const (
	Whole = 'w'
	Nodes = 'n'
)

// How the body line of an object is stored.
const (
	bodyPlain   = 'p' // the body is in the block
	bodyDerived = 'd' // so is its text; its nonce follows from the key
	bodyExtract = 'x' // so is its nonce, and its text from sentences of entries of the block
	bodyAbsent  = 'a' // digest and size
)

// Words that stand for more than the beginning of a line.
const (
	bodyWord  = "body sha256:" // the last line of the header of an object with a body
	linesWord = "\n"           // lines as they are
)

// A block, unpacked, is these parts: the ids that its objects name and that are not in it; the
// words with which lines begin; the templates, which are the words of the lines of a header; the
// columns, each a length and as many bytes; the bodies. Of the columns the first five are those
// below, and each word has one behind them.
const (
	colTemplates = iota // of each object: the number of its template
	colForms            // of each body line: how it is stored
	// Of each body line: bytes that are stored; where it is absent its size; of an extract its
	// sentences
	colSizes
	colMedia   // of each body line: the media type
	colDigests // of each absent body: its digest
	fixedColumns
)

// Limits that a reader holds to before it trusts a block.
const (
	MaxObjects = 1 << 16              // of a block
	maxWords   = 1 << 12              // of a block, and of templates
	maxHeaders = 2 * format.MaxHeader // bytes
)
