package cache

import (
	"encoding/json"
	"errors"

	"github.com/klauspost/compress/zstd"

	"github.com/gemini-ctx/ctx/internal/varint"
)

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
