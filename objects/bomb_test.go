package objects

import (
	"bytes"
	"io"
	"runtime"
	"testing"

	"github.com/klauspost/compress/zstd"

	packs "github.com/gemini-ctx/ctx/format/pack"
)

// bomb is a small frame that unpacks to n zeros, told or not told in the frame's own head.
func bomb(t *testing.T, n int64, told bool) []byte {
	t.Helper()
	var out bytes.Buffer
	enc, err := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		t.Fatal(err)
	}
	if told {
		enc.ResetContentSize(&out, n)
	}
	if _, err := io.CopyN(enc, zeros{}, n); err != nil {
		t.Fatal(err)
	}
	if err := enc.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// TestBomb: a block of a pack that unpacks to far more than its head says, or may say, is refused,
// and not much more is allocated than the head says.
func TestBomb(t *testing.T) {
	const unpacked = 256 << 20
	for _, told := range []bool{false, true} {
		frame := bomb(t, unpacked, told)
		if len(frame) > 1<<20 {
			t.Fatalf("the bomb has %d bytes", len(frame))
		}
		for _, raw := range []int{1, 64 << 10, packs.MaxRaw} {
			var c packs.Codec
			_, _ = c.Decode(0, nil) // starts zstd
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, err := c.Decode(raw, frame)
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Errorf("raw %d: %d bytes", raw, len(got))
			}
			used, most := after.TotalAlloc-before.TotalAlloc, uint64(raw*9/4+(16<<20))
			if used > most {
				t.Errorf("raw %d: %d bytes were allocated, at most %d expected", raw, used, most)
			}
		}
	}
}

// TestLengthsDoNotAllocate: a length that a hostile file claims costs nothing until the bytes are
// there.
func TestLengthsDoNotAllocate(t *testing.T) {
	head := append(packs.AppendHead(nil, packs.Key{}), packs.Whole)
	for _, claimed := range []string{"\xff\xff\xff\xff", "\x01\x00\x00\x00", "\x00\xff\xff\xff"} {
		file := append(bytes.Clone(head), claimed...)
		file = append(file, "\x00\xff\xff\xff"...)
		file = append(file, make([]byte, 100)...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := packs.Walk(bytes.NewReader(file), int64(len(file)),
			func(packs.Key, packs.Block, []byte) error { return nil })
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%q is taken", claimed)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
			t.Errorf("%q: %d bytes were allocated", claimed, used)
		}
	}
}
