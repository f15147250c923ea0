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

	"github.com/klauspost/compress/zstd"

	"github.com/gemini-ctx/ctx/internal/durable"
)

// A paged file holds data that is too large to read whole. It consists of pages, each of which has
// pageLen bytes of the data, compressed, and the CRC-32C of these, which includes the number of the
// page so that a page is valid only in its place. The last page may hold less. Behind the pages are
// their lengths, then the numbers of pages and of bytes of data, and a CRC-32C of all of that. A
// paged file is written once, under a digest of its contents, and never changed.
const (
	pageLen = 16 << 10
	pageSum = 4
	pageEnd = 4 + 8 + pageSum
)

func sumPage(number int64, data []byte) uint32 {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(number))
	return crc32.Update(crc32.Checksum(b[:], castagnoli()), castagnoli(), data)
}

// PageWriter writes a paged file.
type PageWriter struct {
	cache   *Cache
	temp    *durable.Temp
	z       *zstd.Encoder
	buf     []byte // complete pages, not written yet
	page    []byte
	lengths []byte // of the pages so far, 4 bytes each
	size    uint64
	sum     hash.Hash
}

// NewPages begins a paged file. The caller defers Discard.
func (c *Cache) NewPages() (*PageWriter, error) {
	if err := c.fs.MkdirAll(c.dir); err != nil {
		return nil, err
	}
	z, err := packer(zstd.SpeedDefault, pageLen)
	return &PageWriter{cache: c, temp: c.fs.NewTemp(c.dir), z: z, sum: sha256.New()}, err
}

// writeAhead is the number of bytes that are written at a time.
const writeAhead = 256 << 10

// fewPages is from how many pages on it is worth the time to compress them better.
const fewPages = 16

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
	start, number := len(w.buf), int64(len(w.lengths)/4)
	if number == fewPages {
		if z, err := packer(zstd.SpeedBetterCompression, pageLen); err == nil {
			w.z = z
		}
	}
	w.buf = w.z.EncodeAll(w.page, w.buf)
	w.buf = binary.BigEndian.AppendUint32(w.buf, sumPage(number, w.buf[start:]))
	w.lengths = binary.BigEndian.AppendUint32(w.lengths, uint32(len(w.buf)-start))
	w.size += uint64(len(w.page))
	w.page = w.page[:0]
}

func (w *PageWriter) flush() error {
	w.sum.Write(w.buf)
	_, err := w.temp.Write(w.buf)
	w.buf = w.buf[:0]
	return err
}

// Name completes the file and names it by prefix and a digest of its contents. The file is not
// synced: a power cut may damage it, which OpenPages or ReadAt detects.
func (w *PageWriter) Name(prefix string) (string, error) {
	if len(w.page) > 0 {
		w.endPage()
	}
	end := binary.BigEndian.AppendUint32(w.lengths, uint32(len(w.lengths)/4))
	end = binary.BigEndian.AppendUint64(end, w.size)
	w.buf = append(w.buf, binary.BigEndian.AppendUint32(end, sumPage(-1, end))...)
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
	z    *zstd.Decoder
	size int64   // bytes of data
	ends []int64 // of the pages, in the file

	mu   sync.Mutex
	kept map[int64][]byte // some pages that were read, by number
	raw  []byte           // room for a page
}

// keptPages is how many pages are kept: a query reads many a few bytes at a time.
const keptPages = 64

// ErrPage says that a page of a paged file is damaged.
var ErrPage = errors.New("damaged page")

// OpenPages opens a paged file. The caller closes it.
func (c *Cache) OpenPages(name string) (*Pages, error) {
	f, err := durable.Open(c.path(name))
	if err != nil {
		return nil, err
	}
	p := &Pages{f: f, kept: map[int64][]byte{}}
	if p.z, err = unpacker(pageLen); err == nil {
		err = p.readEnd()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return p, nil
}

func (p *Pages) readEnd() error {
	info, err := p.f.Stat()
	if err != nil {
		return err
	}
	var end [pageEnd]byte
	if _, err := p.f.ReadAt(end[:], info.Size()-pageEnd); err != nil {
		return p.damaged(-1, err)
	}
	at := info.Size() - pageEnd - 4*int64(binary.BigEndian.Uint32(end[:]))
	if at < 0 {
		return p.damaged(-1, nil)
	}
	b := make([]byte, info.Size()-at)
	if _, err := p.f.ReadAt(b, at); err != nil {
		return p.damaged(-1, err)
	}
	if sum := len(b) - pageSum; binary.BigEndian.Uint32(b[sum:]) != sumPage(-1, b[:sum]) {
		return p.damaged(-1, nil)
	}
	last := int64(0)
	for b := b[:len(b)-pageEnd]; len(b) > 0; b = b[4:] {
		last += int64(binary.BigEndian.Uint32(b))
		p.ends = append(p.ends, last)
	}
	p.size = int64(binary.BigEndian.Uint64(end[4:]))
	return nil
}

func (p *Pages) damaged(number int64, why error) error {
	return errors.Join(fmt.Errorf("%w: %d of %q", ErrPage, number, p.f.Name()), why)
}

// Size returns the number of bytes of data.
func (p *Pages) Size() int64 { return p.size }

// Close closes the file.
func (p *Pages) Close() error { return p.f.Close() }

// ReadAt implements io.ReaderAt. It checks every page that it reads and returns ErrPage for a
// damaged one.
func (p *Pages) ReadAt(b []byte, off int64) (int, error) {
	if off < 0 || off > p.size {
		return 0, fmt.Errorf("cannot read byte %d of %d", off, p.size)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for want := min(len(b), int(p.size-off)); n < want; {
		number, from := (off+int64(n))/pageLen, (off+int64(n))%pageLen
		page, err := p.page(number)
		if err != nil {
			return n, err
		}
		n += copy(b[n:want], page[from:])
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (p *Pages) page(number int64) ([]byte, error) {
	page := p.kept[number]
	if page != nil {
		return page, nil
	}
	if number >= int64(len(p.ends)) {
		return nil, p.damaged(number, nil)
	}
	from, to := int64(0), p.ends[number]
	if number > 0 {
		from = p.ends[number-1]
	}
	p.raw = slices.Grow(p.raw[:0], int(to-from))[:to-from]
	if _, err := p.f.ReadAt(p.raw, from); err != nil {
		return nil, p.damaged(number, err)
	}
	packed := p.raw[:max(len(p.raw)-pageSum, 0)]
	if len(packed) == 0 || binary.BigEndian.Uint32(p.raw[len(packed):]) != sumPage(number, packed) {
		return nil, p.damaged(number, nil)
	}
	if len(p.kept) == keptPages { // any of them goes, with its room
		for old, room := range p.kept {
			delete(p.kept, old)
			page = room[:0]
			break
		}
	}
	page, err := p.z.DecodeAll(packed, page)
	if err != nil || int64(len(page)) != min(pageLen, p.size-number*pageLen) {
		return nil, p.damaged(number, err)
	}
	p.kept[number] = page
	return page, nil
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
