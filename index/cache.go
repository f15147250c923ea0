// Package index owns everything under cache/: what can be had again from objects and log, kept because it costs time to have. Each file says
// up to which operation it holds; what does not fit is not used.
package index

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path/filepath"
	"sync"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/lock"
)

// Cache is the cache/ directory of one store.
type Cache struct {
	dir  string
	fs   *lock.FS
	mark func() (int, error) // what was forgotten; nil for not asked

	mu     sync.Mutex
	begun  bool
	seen   int // what mark returned first
	failed error
}

// Open returns the cache of the store in directory root. It does no I/O.
func Open(root string, fs *lock.FS) *Cache { return &Cache{dir: filepath.Join(root, "cache"), fs: fs} }

// Stamp is the operation a file covers.
type Stamp struct {
	Number uint64
	Digest format.ID
}

// The frame of a file: magic, length of the payload, stamp, payload, CRC-32C over all of it. A file is written over in place, by whoever holds the store's
// lock or does not: a reader that meets half of one has a checksum that does not fit, and does without.
const (
	magic    = "ctx cache 2\n"
	front    = len(magic) + 4 + 8 + 32
	maxCache = 64 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Load returns a file's payload and what it covers. ok is false where there is no such file, or one that is damaged or of another version.
func (c *Cache) Load(name string) (payload []byte, stamp Stamp, ok bool) {
	c.Begin()
	b, err := lock.ReadAtMost(c.path(name), maxCache)
	if err != nil || len(b) < front+4 || string(b[:len(magic)]) != magic {
		return nil, Stamp{}, false
	}
	end := front + int(binary.BigEndian.Uint32(b[len(magic):]))
	if end > len(b)-4 || crc32.Checksum(b[:end], castagnoli) != binary.BigEndian.Uint32(b[end:]) {
		return nil, Stamp{}, false
	}
	rest := b[len(magic)+4:]
	stamp.Number = binary.BigEndian.Uint64(rest)
	copy(stamp.Digest[:], rest[8:])
	return b[front:end], stamp, true
}

// Store replaces a file. Nothing depends on it, so an error (a full disk, a read-only directory) is for the caller to pass over.
func (c *Cache) Store(name string, stamp Stamp, payload []byte) error {
	b, err := frame(name, stamp, payload)
	if err != nil {
		return err
	}
	path := c.path(name)
	err = c.fs.WriteHint(path, b)
	if errors.Is(err, fs.ErrNotExist) {
		if err := c.fs.MkdirAll(filepath.Dir(path)); err != nil {
			return err
		}
		err = c.fs.WriteHint(path, b)
	}
	if err != nil {
		return err
	}
	return c.keep(path)
}

// frame puts a payload between what surrounds it in a file.
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
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	return b, nil
}

func (c *Cache) path(name string) string { return filepath.Join(c.dir, name) }

// HeadName is the file of a branch. Names are hashed: a session's name may be anything, a file's may not.
func HeadName(session, branch string) string { return branchFile("head-", session, branch) }

// LoopName is the file with what loop detection knows of a branch.
func LoopName(session, branch string) string { return branchFile("loop-", session, branch) }

func branchFile(prefix, session, branch string) string {
	sum := sha256.Sum256([]byte(session + "/" + branch))
	return prefix + hex.EncodeToString(sum[:12])
}

// CandidatesName is the file of a forest's candidates.
func CandidatesName(forest string) string {
	sum := sha256.Sum256([]byte(forest))
	return "candidates-" + hex.EncodeToString(sum[:12])
}

// LinksName is the file of what later entries say about earlier ones: newest versions and sources.
const LinksName = "links"

// DigestName is the file with the facts of a branch, for its briefs.
func DigestName(session, branch string) string { return branchFile("digest-", session, branch) }

// SearchName is the file that says what the search index is made of, and SearchPrefix begins the names of its segments.
const (
	SearchName   = "search"
	SearchPrefix = "search-"
)
