package objects

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gemini-ctx/ctx/format"
	packs "github.com/gemini-ctx/ctx/format/pack"
)

// The cache keeps the few blocks that neighbours of the last objects are likely in, at most so many
// and so many bytes. A block of more than half of these bytes holds one large object and is not
// kept. A compaction of 16 sessions, whose blocks take 12 x 5 MB, takes three times as long with
// 16 MiB.
const (
	cachedBlocks = 16
	cachedBytes  = 64 << 20
	fewBytes     = 12 << 20 // for who reads each block once
)

type blockKey struct {
	pack format.ID
	n    int
}

// cachedBlock is a block that was unpacked.
type cachedBlock struct {
	key    blockKey
	mu     sync.Mutex // of reader
	reader *packs.Reader
	size   int // bytes that it takes, about, besides those of extracts

	extracts atomic.Int64 // bytes of the extracts that were made whole so far
}

func (b *cachedBlock) bytes() int { return b.size + int(b.extracts.Load()) }

// blockCache holds unpacked blocks, the latest used first. The zero value is empty. What it hands
// out is not to be changed.
type blockCache struct {
	mu     sync.Mutex
	blocks []*cachedBlock
	few    bool
}

// most returns how many bytes the blocks take at most. The caller holds the mutex.
func (c *blockCache) most() int {
	if c.few {
		return fewBytes
	}
	return cachedBytes
}

// mostIndex returns how many bytes an index has at most that is held in memory.
func (c *blockCache) mostIndex() int64 {
	if c.keepsFew() {
		return fewIndexHeld
	}
	return maxIndexHeld
}

// keepsFew reports whether KeepFew is in force.
func (c *blockCache) keepsFew() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.few
}

// KeepFew makes the store keep fewer unpacked blocks, and no large index that is opened meanwhile,
// until restore is called: for a caller that reads all blocks once.
func (s *Store) KeepFew() (restore func()) {
	set := func(few bool) {
		s.cache.mu.Lock()
		defer s.cache.mu.Unlock()
		s.cache.few = few
	}
	set(true)
	return func() { set(false) }
}

func (c *blockCache) get(key blockKey) *cachedBlock {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, b := range c.blocks {
		if b.key == key {
			copy(c.blocks[1:i+1], c.blocks[:i])
			c.blocks[0] = b
			return b
		}
	}
	return nil
}

func (c *blockCache) put(key blockKey, b *cachedBlock) {
	if c.get(key) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if b.size > c.most()/2 {
		return
	}
	b.key = key
	size := b.bytes()
	for i, old := range c.blocks { // blocks grow while they are here
		if size += old.bytes(); size > c.most() || i+1 >= cachedBlocks {
			clear(c.blocks[i:])
			c.blocks = c.blocks[:i]
			break
		}
	}
	c.blocks = append(c.blocks, nil)
	copy(c.blocks[1:], c.blocks)
	c.blocks[0] = b
}

// drop forgets the blocks of a pack: its file is about to change, or is damaged.
func (c *blockCache) drop(pack format.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.blocks = slices.DeleteFunc(c.blocks, func(b *cachedBlock) bool { return b.key.pack == pack })
}
