package objects

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gemini-ctx/ctx/format"
	packs "github.com/gemini-ctx/ctx/format/pack"
)

// Packed is an object as a pack has it. Body is nil where Stored is false.
type Packed = packs.Object

// EachBlock reads a pack block by block. It calls work with the objects of each block that can be
// read, and take with what work returns, in the order in which the blocks were written. It calls
// work for several blocks at a time, each in a goroutine of its own; the objects are shared and not
// to be changed. It ends with the first error of take. Other errors:
// as PackContents, once all was taken that can be read.
func EachBlock[T any](
	s *Store, pack format.ID, work func([]Packed) T, take func(T) error,
) (err error) {
	p := s.newPack(pack)
	defer func() { err = errors.Join(err, p.close()) }()
	r, err := p.open()
	if err != nil {
		return err
	}
	return eachBlock(s, r, func(_ packs.Span, list []packs.Object) T { return work(list) }, take)
}

// largeBlock is how many bytes a block has that is unpacked while no other block is in memory. One
// of forests of many clusters takes up to forestBytes, and as much again while it grows.
const largeBlock = blockBytes

// eachBlock is EachBlock for a pack that is open.
func eachBlock[T any](
	s *Store, r *packReader, work func(packs.Span, []packs.Object) T, take func(T) error,
) error {
	layout, err := r.layout()
	if err != nil {
		return err
	}
	type done struct {
		result T
		err    error
	}
	var unread error
	waiting := newTurns(func(d done) error {
		if d.err != nil {
			if unread == nil {
				unread = d.err
			}
			return nil
		}
		return take(d.result)
	})
	for _, span := range layout.Spans {
		one := func() (d done) {
			list, err := r.once(s, span)
			if err != nil {
				return done{err: err}
			}
			return done{result: work(span, list)}
		}
		begin := waiting.begin
		if span.Raw > largeBlock {
			begin = waiting.alone
		}
		if begin(one) != nil {
			break
		}
	}
	if err := waiting.end(); err != nil {
		return err
	}
	return unread
}

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

// turns calls work for several numbers at a time, each in a goroutine of its own, and take with the
// results in the order in which the work was begun. The zero value is not ready; see newTurns.
type turns[T any] struct {
	take  func(T) error
	under []chan T // way, the oldest first
	most  int
	err   error // the first of take, after which nothing is taken
}

func newTurns[T any](take func(T) error) *turns[T] {
	return &turns[T]{take: take, most: runtime.GOMAXPROCS(0)}
}

// begin begins a piece of work, and first takes the oldest result if enough are under way. It
// returns the first error of take; then the work is not begun.
func (t *turns[T]) begin(work func() T) error {
	for len(t.under) >= t.most {
		t.takeOldest()
	}
	if t.err != nil {
		return t.err
	}
	done := make(chan T, 1)
	t.under = append(t.under, done)
	go func() { done <- work() }()
	return nil
}

// alone is begin for work that takes much memory: it is done while nothing else is under way or
// waits to be taken, and its result is taken at once.
func (t *turns[T]) alone(work func() T) error {
	if t.end() == nil && t.begin(work) == nil {
		return t.end()
	}
	return t.err
}

func (t *turns[T]) takeOldest() {
	result := <-t.under[0]
	if t.under = t.under[1:]; t.err == nil {
		t.err = t.take(result)
	}
}

// end waits for all that was begun, and takes it. It returns the first error of take. It must be
// called in any case: nothing of the work goes on afterwards.
func (t *turns[T]) end() error {
	for len(t.under) > 0 {
		t.takeOldest()
	}
	return t.err
}
