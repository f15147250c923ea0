package cache

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/gemini-ctx/ctx/internal/durable"
)

// A paged file holds data that is too large to read whole. It consists of pages of pageLen bytes,
// each followed by its CRC-32C, which includes the number of the page so that a page is valid only
// in its place. The last page may be shorter. A paged file is written once, under a digest of its
// contents, and never changed.
const (
	pageLen = 4092
	pageSum = 4
)

func sumPage(number int64, data []byte) uint32 {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(number))
	return crc32.Update(crc32.Checksum(b[:], castagnoli()), castagnoli(), data)
}

// PageWriter writes a paged file.
type PageWriter struct {
	cache *Cache
	temp  *durable.Temp
	buf   []byte // complete pages, not written yet
	page  []byte
	n     int64
	sum   hash.Hash
}

// NewPages begins a paged file. The caller defers Discard.
func (c *Cache) NewPages() (*PageWriter, error) {
	if err := c.fs.MkdirAll(c.dir); err != nil {
		return nil, err
	}
	return &PageWriter{cache: c, temp: c.fs.NewTemp(c.dir), sum: sha256.New()}, nil
}

// writeAhead is the number of bytes that are written at a time.
const writeAhead = 256 << 10

// Write implements io.Writer.
func (w *PageWriter) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		n := min(len(rest), pageLen-len(w.page))
		w.page, rest = append(w.page, rest[:n]...), rest[n:]
		if len(w.page) == pageLen {
			w.endPage()
		}
		if len(w.buf) >= writeAhead {
			if err := w.flush(); err != nil {
				return 0, err
			}
		}
	}
	return len(p), nil
}

func (w *PageWriter) endPage() {
	w.buf = append(w.buf, w.page...)
	w.buf = binary.BigEndian.AppendUint32(w.buf, sumPage(w.n, w.page))
	w.page = w.page[:0]
	w.n++
}

func (w *PageWriter) flush() error {
	w.sum.Write(w.buf)
	_, err := w.temp.Write(w.buf)
	w.buf = w.buf[:0]
	return err
}

// Name completes the file and names it by prefix and a digest of its contents. The file is not
// synced: a power cut may damage it, which ReadAt detects.
func (w *PageWriter) Name(prefix string) (string, error) {
	if len(w.page) > 0 || w.n == 0 {
		w.endPage()
	}
	if err := w.flush(); err != nil {
		return "", err
	}
	name := prefix + hex.EncodeToString(w.sum.Sum(nil)[:12])
	path := w.cache.path(name)
	if err := w.temp.Rename(path); err != nil {
		return name, err
	}
	return name, w.cache.keep(path)
}

// Discard removes the file unless it has been named.
func (w *PageWriter) Discard() { w.temp.Discard() }

// Pages is an open paged file. Several goroutines may use it.
type Pages struct {
	f    *os.File
	size int64 // bytes of data, without checksums
}

// ErrPage says that a page of a paged file is damaged.
var ErrPage = errors.New("damaged page")

// OpenPages opens a paged file. The caller closes it.
func (c *Cache) OpenPages(name string) (*Pages, error) {
	f, err := durable.Open(c.path(name))
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	whole, rest := info.Size()/(pageLen+pageSum), info.Size()%(pageLen+pageSum)
	p := &Pages{f: f, size: whole * pageLen}
	if rest > 0 {
		p.size += max(rest-pageSum, 0)
	}
	return p, nil
}

// Size returns the number of bytes of data.
func (p *Pages) Size() int64 { return p.size }

// Close closes the file.
func (p *Pages) Close() error { return p.f.Close() }

// rawPages holds buffers of up to mostKept bytes. A search reads a few hundred times.
var rawPages = sync.Pool{New: func() any { return new([]byte) }}

const mostKept = 256 << 10

// ReadAt implements io.ReaderAt. It checks every page that it reads and returns ErrPage for a
// damaged one.
func (p *Pages) ReadAt(b []byte, off int64) (int, error) {
	if off < 0 || off > p.size {
		return 0, fmt.Errorf("cannot read byte %d of %d", off, p.size)
	}
	want := b[:min(int64(len(b)), p.size-off)]
	if len(want) == 0 {
		return 0, eofUnless(len(b) == 0)
	}
	first, last := off/pageLen, (off+int64(len(want))-1)/pageLen
	from := first * (pageLen + pageSum)
	size := min((last+1)*(pageLen+pageSum), p.size+(p.size+pageLen-1)/pageLen*pageSum) - from
	buf := rawPages.Get().(*[]byte)
	if size <= mostKept {
		defer rawPages.Put(buf)
	}
	*buf = slices.Grow((*buf)[:0], int(size))[:size]
	raw := *buf
	if _, err := p.f.ReadAt(raw, from); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrPage, err)
	}
	n := 0
	for number := first; number <= last; number++ {
		page := raw[:min(pageLen+pageSum, len(raw))]
		raw = raw[len(page):]
		data := page[:len(page)-pageSum]
		if binary.BigEndian.Uint32(page[len(data):]) != sumPage(number, data) {
			return n, fmt.Errorf("%w: %d of %q", ErrPage, number, p.f.Name())
		}
		if number == first {
			data = data[off-first*pageLen:]
		}
		n += copy(want[n:], data)
	}
	return n, eofUnless(n == len(b))
}

func eofUnless(whole bool) error {
	if whole {
		return nil
	}
	return io.EOF
}

// Replace is Store for a file that others may be reading: they see either the old bytes or the new
// ones.
func (c *Cache) Replace(name string, stamp Stamp, payload []byte) error {
	b, err := frame(name, stamp, payload)
	if err != nil {
		return err
	}
	if err := c.fs.MkdirAll(c.dir); err != nil {
		return err
	}
	if err := c.fs.WriteFile(c.path(name), b, 0o600, false); err != nil {
		return err
	}
	return c.keep(c.path(name))
}

// Names returns the names of the files that begin with prefix.
func (c *Cache) Names(prefix string) ([]string, error) {
	files, err := os.ReadDir(c.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, f := range files {
		if strings.HasPrefix(f.Name(), prefix) {
			names = append(names, f.Name())
		}
	}
	return names, err
}

// Remove removes a file.
func (c *Cache) Remove(name string) error { return c.fs.RemoveNoSync(c.path(name)) }
