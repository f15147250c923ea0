package objects

import (
	"sync"

	"github.com/gemini-ctx/ctx/format"
)

// The cache keeps the few blocks that neighbours of the last objects are likely in: 8 of the usual
// size are 2 MiB. A block over 1 MiB holds one large object and is not kept.
const (
	cachedBlocks   = 8
	cachedBlockMax = 1 << 20
)

type blockKey struct {
	pack format.ID
	n    int
}

type cachedBlock struct {
	key blockKey
	raw []byte
}

// blockCache holds unpacked blocks, the latest used first. The zero value is empty. What it hands
// out is not to be changed.
type blockCache struct {
	mu     sync.Mutex
	blocks []cachedBlock
}

func (c *blockCache) get(key blockKey) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, b := range c.blocks {
		if b.key == key {
			copy(c.blocks[1:i+1], c.blocks[:i])
			c.blocks[0] = b
			return b.raw
		}
	}
	return nil
}

func (c *blockCache) put(key blockKey, raw []byte) {
	if len(raw) > cachedBlockMax || c.get(key) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.blocks) < cachedBlocks {
		c.blocks = append(c.blocks, cachedBlock{})
	}
	copy(c.blocks[1:], c.blocks)
	c.blocks[0] = cachedBlock{key, raw}
}
