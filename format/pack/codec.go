package pack

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Level is how hard a pack is compressed.
type Level int

// The levels. Fast is for objects as they arrive, Default for gc, Best for gc --best: a third more
// time for the whole of it, some 4 % smaller.
const (
	Fast Level = iota
	Default
	Best
)

func (l Level) zstd() zstd.EncoderLevel {
	switch l {
	case Best:
		return zstd.SpeedBestCompression
	case Default:
		return zstd.SpeedBetterCompression
	}
	return zstd.SpeedFastest
}

// blockWindow is how far back a block refers: all of it, but for blocks of one large object.
const blockWindow = 2 << 20

// Packers is how many blocks of a pack are compressed at once.
const Packers = 2

// Codec packs and unpacks the frames of blocks, with zstd. Its parts are made when they are first
// needed: a process that reads and writes the log only does not pay for them. Its methods may be
// called from several goroutines.
type Codec struct {
	mu       sync.Mutex
	decoder  *zstd.Decoder
	encoders [Best + 1]*zstd.Encoder
	log      *zstd.Encoder
}

// Encoder returns the encoder of a level. EncodeAll of one may be called from several goroutines.
func (c *Codec) Encoder(level Level) (*zstd.Encoder, error) {
	if level < Fast || level > Best {
		return nil, fmt.Errorf("unknown level of compression: %d", level)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.encoders[level] != nil {
		return c.encoders[level], nil
	}
	e, err := newEncoder(level, Packers)
	if err != nil {
		return nil, err
	}
	c.encoders[level] = e
	return e, nil
}

// LogEncoder returns the encoder for blocks of the log, which come one after the other: one of the
// best level takes 38 MB.
func (c *Codec) LogEncoder() (*zstd.Encoder, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.log != nil {
		return c.log, nil
	}
	e, err := newEncoder(Best, 1)
	c.log = e
	return e, err
}

// newEncoder returns an encoder that compresses so many blocks at once.
func newEncoder(level Level, blocks int) (*zstd.Encoder, error) {
	e, err := zstd.NewWriter(nil,
		zstd.WithEncoderLevel(level.zstd()),
		zstd.WithEncoderConcurrency(blocks),
		zstd.WithWindowSize(blockWindow),
		zstd.WithLowerEncoderMem(true),
		zstd.WithEncoderCRC(false), // every object in a block has a digest of its own
	)
	if err != nil {
		return nil, fmt.Errorf("cannot start zstd: %w", err)
	}
	return e, nil
}

// Decode unpacks a block's frame. It allocates the block's raw length, which has been checked; for
// a frame that has more in it, as much again and a quarter before it is refused.
func (c *Codec) Decode(size int, frame []byte) ([]byte, error) {
	d, err := c.reader()
	if err != nil {
		return nil, err
	}
	raw, err := d.DecodeAll(frame, make([]byte, 0, size))
	if err != nil {
		return nil, fmt.Errorf("block cannot be unpacked: %w", err)
	}
	if len(raw) != size {
		return nil, fmt.Errorf("block has %d bytes unpacked, its head says %d", len(raw), size)
	}
	return raw, nil
}

func (c *Codec) reader() (*zstd.Decoder, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.decoder != nil {
		return c.decoder, nil
	}
	d, err := zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxMemory(MaxRaw),
		zstd.WithDecodeAllCapLimit(true),
	)
	if err != nil {
		return nil, fmt.Errorf("cannot start zstd: %w", err)
	}
	c.decoder = d
	return d, nil
}
