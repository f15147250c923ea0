// Package cache stores files under cache/ of a store. They hold data that can be computed again
// from objects and log, but takes time to compute. Each file is stamped with the operation that it
// covers, and a reader ignores a file whose stamp does not fit. Losing or damaging a file never
// loses data.
//
// Begin with Cache.Load and Cache.Store. Pages is for files that are too large to read whole.
package cache

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/varint"
)

// Cache is the cache/ directory of one store.
type Cache struct {
	dir  string
	fs   *durable.FS
	mark func() (int, error) // counts what was forgotten; nil without Guard

	passing atomic.Int32 // see PassBy
	left    atomic.Bool  // see Leave

	mu     sync.Mutex
	begun  bool
	seen   int // the first result of mark
	failed error
}

// Open returns the cache of the store in directory root. It does no I/O.
func Open(root string, fs *durable.FS) *Cache {
	return &Cache{dir: filepath.Join(root, "cache"), fs: fs}
}

// Stamp identifies the operation that a file covers.
type Stamp struct {
	Number uint64
	Digest format.ID
}

// The frame of a file: magic, length of the payload, stamp, payload, and the CRC-32C of everything
// before it. A file is overwritten in place, with or without the store's lock. A reader of half a
// file sees a wrong checksum and ignores the file.
const (
	magic    = "ctx cache 2\n"
	front    = len(magic) + 4 + 8 + 32
	maxCache = 64 << 20
)

// castagnoli returns the table of the CRC, which the library makes once. A variable would make it
// at the start of every program.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// Load returns a file's payload and stamp. ok is false if the file is missing, damaged or of
// another version.
func (c *Cache) Load(name string) (payload []byte, stamp Stamp, ok bool) {
	c.Begin()
	b, err := readFrame(c.path(name))
	if err != nil || len(b) < front+4 || string(b[:len(magic)]) != magic {
		return nil, Stamp{}, false
	}
	end := endOf(b)
	if end < front || end > len(b)-4 ||
		crc32.Checksum(b[:end], castagnoli()) != binary.BigEndian.Uint32(b[end:]) {
		return nil, Stamp{}, false
	}
	rest := b[len(magic)+4:]
	stamp.Number = binary.BigEndian.Uint64(rest)
	copy(stamp.Digest[:], rest[8:])
	return b[front:end], stamp, true
}

// endOf returns where the payload of a frame ends, from the front of the frame.
func endOf(b []byte) int { return front + int(binary.BigEndian.Uint32(b[len(magic):])) }

// firstRead is how many bytes of a file are read at first: most frames are shorter.
const firstRead = 8 << 10

// readFrame reads a frame, and a few of the bytes after it at most. A file keeps the length of the
// longest frame that it has held.
func readFrame(path string) ([]byte, error) {
	f, err := durable.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, firstRead)
	n, err := io.ReadFull(f, b)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return b[:n], nil // the whole file
	}
	if err != nil || string(b[:len(magic)]) != magic || endOf(b)+4 <= n {
		return b, err
	}
	info, err := f.Stat()
	if err != nil || endOf(b) > maxCache || info.Size() < int64(endOf(b)+4) {
		return b, err // damaged
	}
	b = slices.Grow(b, endOf(b)+4-n)[:endOf(b)+4]
	rest, err := io.ReadFull(f, b[n:])
	return b[:n+rest], err
}

// Store replaces a file. Nothing depends on the file, so the caller may ignore an error (a full
// disk, a read-only directory).
func (c *Cache) Store(name string, stamp Stamp, payload []byte) error {
	b, err := frame(name, stamp, payload)
	if err != nil {
		return err
	}
	path := c.path(name)
	err = c.fs.WriteNoSync(path, b)
	if errors.Is(err, fs.ErrNotExist) {
		if err := c.fs.MkdirAll(filepath.Dir(path)); err != nil {
			return err
		}
		err = c.fs.WriteNoSync(path, b)
	}
	if err != nil {
		return err
	}
	return c.keep(path)
}

// frame returns the bytes of a file with the given payload.
func frame(name string, stamp Stamp, payload []byte) ([]byte, error) {
	if len(payload) > maxCache-front-4 {
		return nil, fmt.Errorf("cache %q would have %d bytes", name, len(payload))
	}
	b := make([]byte, 0, front+len(payload)+4)
	b = append(b, magic...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(payload)))
	b = binary.BigEndian.AppendUint64(b, stamp.Number)
	b = append(b, stamp.Digest[:]...)
	b = append(b, payload...)
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli()))
	return b, nil
}

func (c *Cache) path(name string) string { return filepath.Join(c.dir, name) }

// HeadName is the name of a branch's file. Names of sessions are hashed, because they may contain
// characters that file names may not.
func HeadName(session, branch string) string { return branchFile("head-", session, branch) }

// LoopName is the name of the file for the loop detection of a branch.
func LoopName(session, branch string) string { return branchFile("loop-", session, branch) }

func branchFile(prefix, session, branch string) string {
	sum := sha256.Sum256([]byte(session + "/" + branch))
	return prefix + hex.EncodeToString(sum[:12])
}

// CandidatesName is the name of the file with a forest's candidates.
func CandidatesName(forest string) string {
	sum := sha256.Sum256([]byte(forest))
	return "candidates-" + hex.EncodeToString(sum[:12])
}

// LinksName is the file of what later entries say about earlier ones: newest versions, sources and
// replacements.
const LinksName = "links"

// FactsName is the name of the file with the facts of a branch, from which briefs are made.
func FactsName(session, branch string) string { return branchFile("facts-", session, branch) }

// NearName is the name of the file with the objects that the last rendering of a branch read.
func NearName(session, branch string) string { return branchFile("near-", session, branch) }

// MembersName is the file of what is below the nodes of forests.
const MembersName = "members"

// OverviewsName is the file with what a person is shown of each session.
const OverviewsName = "sessions"

// AnswersName is the file with answers of workers that were refused. It cannot be made again.
const AnswersName = "answers"

// SearchName is the file with the manifest of the search index. SearchPrefix begins the names of
// the index segments.
const (
	SearchName   = "search"
	SearchPrefix = "search-"
)

// ErrForgot says that a file was removed again because it may contain forgotten text.
var ErrForgot = errors.New("something was forgotten meanwhile")

// Guard keeps forgotten text out of the cache. mark returns a number that changes when something is
// forgotten. A reader holds no lock and may read text before it is forgotten and store it
// afterwards; the cache then removes the file again.
func (c *Cache) Guard(mark func() (int, error)) { c.mark = mark }

// Begin notes the result of mark at the first call. Load calls it. A caller that reads text to be
// cached must call Begin before it reads.
func (c *Cache) Begin() {
	if c.mark == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.begun {
		c.seen, c.failed = c.mark()
		c.begun = true
	}
}

// Renew makes the next Begin call mark again. It is for a caller that has just forgotten something
// and keeps no forgotten text.
func (c *Cache) Renew() {
	c.mu.Lock()
	c.begun = false
	c.mu.Unlock()
}

// Leave makes the cache keep nothing that is written from now on: it may be made of a part of what
// the store has.
func (c *Cache) Leave() { c.left.Store(true) }

// keep removes a file that was just written if something was forgotten since Begin, or after Leave.
func (c *Cache) keep(path string) error {
	if c.left.Load() {
		return c.fs.RemoveNoSync(path)
	}
	if c.mark == nil {
		return nil
	}
	c.Begin()
	c.mu.Lock()
	seen, err := c.seen, c.failed
	c.mu.Unlock()
	now, markErr := c.mark()
	// A negative number: something is being forgotten
	if err == nil && markErr == nil && now == seen && now >= 0 {
		return nil
	}
	return errors.Join(ErrForgot, c.fs.RemoveNoSync(path))
}

// CursorName is the name of the file that records how far a transcript has been read.
func CursorName(path string) string { return hookFile("cursor-", path) }

// ImportName is the name of the file that records what an import made of a transcript.
func ImportName(transcript string) string { return hookFile("import-", transcript) }

// DriftName is the file with the kinds of record that no reader of transcripts knows.
const DriftName = "drift"

// GivenName is the name of the file with the text that hooks have added to the prompts of a
// session.
func GivenName(session string) string { return hookFile("given-", session) }

// HookName is the name of the file that records when the last hook of an agent ran.
func HookName(agent string) string { return "hook-" + agent }

func hookFile(prefix, name string) string {
	sum := sha256.Sum256([]byte(name))
	return prefix + hex.EncodeToString(sum[:12])
}

// DropHooks removes files of hooks and imports that were not written since a time, because their
// transcripts are gone or their sessions are over.
func (c *Cache) DropHooks(since time.Time) {
	list, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	for _, f := range list {
		if name := f.Name(); !strings.HasPrefix(name, "cursor-") &&
			!strings.HasPrefix(name, "given-") && !strings.HasPrefix(name, "import-") {
			continue
		}
		if info, err := f.Info(); err == nil && info.ModTime().Before(since) {
			_ = c.fs.RemoveNoSync(filepath.Join(c.dir, f.Name())) // the next call tries again
		}
	}
}

// Put replaces a file with a value, in the form that fields describes. Get reads it only under the
// same version, which changes with the form and with the rules that the value follows.
func (c *Cache) Put(name string, stamp Stamp, version uint64, fields func(*varint.Code)) error {
	return c.put(name, stamp, version, varint.Append(nil, fields), nil)
}

// PutPacked is Put for a long value that is written rarely: it is compressed. While somebody passes
// by, it writes nothing.
func (c *Cache) PutPacked(
	name string, stamp Stamp, version uint64, fields func(*varint.Code),
) error {
	if c.passing.Load() > 0 {
		return nil
	}
	z, err := packer(zstd.SpeedFastest, 128<<10)
	if err != nil {
		return err
	}
	packed := z.EncodeAll(varint.Append(nil, fields), nil)
	return c.put(name, stamp, version, nil, packed)
}

func (c *Cache) put(name string, stamp Stamp, version uint64, raw, packed []byte) error {
	return c.Store(name, stamp, varint.Append(nil, func(f *varint.Code) {
		varint.Number(f, &version)
		f.Bytes(&packed)
		f.Fixed(raw)
	}))
}

// PassBy says until done is called that what is read is not about to be read again: it is not kept.
func (c *Cache) PassBy() (done func()) {
	c.passing.Add(1)
	return func() { c.passing.Add(-1) }
}

// Get sets a value to what Put or PutPacked has stored. ok is false if the file is missing, damaged
// or of another version; the value is of no use then.
func (c *Cache) Get(
	name string, version uint64, fields func(*varint.Code),
) (stamp Stamp, ok bool) {
	b, stamp, ok := c.Load(name)
	if !ok {
		return stamp, false
	}
	var raw, packed []byte
	err := varint.Decode(b, func(f *varint.Code) {
		var was uint64
		varint.Number(f, &was)
		f.Bytes(&packed)
		if raw = f.Take(uint64(len(f.Rest))); was != version {
			f.Fail(errVersion)
		}
	})
	if err == nil && packed != nil {
		var z *zstd.Decoder
		if z, err = unpacker(maxCache); err == nil {
			raw, err = z.DecodeAll(packed, nil)
		}
	}
	return stamp, err == nil && varint.Decode(raw, fields) == nil
}

var errVersion = errors.New("of another version")

// packer returns what compresses a file: every file has a checksum already.
func packer(level zstd.EncoderLevel, window int) (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
		zstd.WithEncoderLevel(level), zstd.WithWindowSize(window), zstd.WithLowerEncoderMem(true))
}

// unpacker returns what undoes packer, up to a number of bytes.
func unpacker(most uint64) (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(most))
}

// PutJSON is Put for a value that JSON describes.
func (c *Cache) PutJSON(name string, stamp Stamp, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.Store(name, stamp, b)
}

// GetJSON sets v to what PutJSON has stored, and reports whether it did.
func (c *Cache) GetJSON(name string, v any) bool {
	b, _, ok := c.Load(name)
	return ok && json.Unmarshal(b, v) == nil
}
