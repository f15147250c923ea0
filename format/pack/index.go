package pack

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/gemini-ctx/ctx/format"
)

// An index finds objects of a pack by the first bytes of their ids and of their source keys. What
// it finds has to be read to know whether it is what was asked for. It follows from the pack.
const (
	IndexMagic = "ctx idx 1\n"

	// Magic, pack, numbers of objects, sources, blocks
	indexHead  = len(IndexMagic) + len(format.ID{}) + 3*4
	indexBlock = 1 + 3*4
	prefixSize = 4 // bytes of an id or a source key that an index tells apart

	// fanFrom is how many items a table has to have for a fan: the numbers of items up to each
	// first byte, in place of that byte of each.
	fanFrom = 1024
	fanSize = 256 * 4

	maxCount = 1<<31 - 1 // the most objects or blocks of a pack
)

// Entry is what an index has of an object.
type Entry struct {
	Prefix uint32 // the first four bytes of the id
	Number uint32 // of the object in its pack, from 0
}

// Compare orders entries as the tables of an index have them.
func (e Entry) Compare(f Entry) int {
	return cmp.Compare(
		uint64(e.Prefix)<<32|uint64(e.Number), uint64(f.Prefix)<<32|uint64(f.Number))
}

// Prefix returns what an index keeps of an id.
func Prefix(id format.ID) uint32 { return binary.BigEndian.Uint32(id[:]) }

// EncodeIndex returns the index of the given pack: all its objects, those with a source with the
// first four bytes of their source keys as the prefix, and its blocks in the order of the file. It
// sorts both lists in place.
func EncodeIndex(pack format.ID, objects, sources []Entry, blocks []Block) ([]byte, error) {
	total := 0
	for _, b := range blocks {
		if err := b.check(); err != nil {
			return nil, err
		}
		total += b.Objects
	}
	if total == 0 || total > maxCount || total != len(objects) || len(sources) > len(objects) {
		return nil, fmt.Errorf("a pack cannot have %d objects and %d sources in blocks of %d",
			len(objects), len(sources), total)
	}
	out := make([]byte, 0, indexHead+sha256.Size+len(blocks)*indexBlock+
		int(tableOf(len(objects), total).size()+tableOf(len(sources), total).size()))
	out = append(append(out, IndexMagic...), pack[:]...)
	for _, n := range []int{len(objects), len(sources), len(blocks)} {
		out = binary.BigEndian.AppendUint32(out, uint32(n))
	}
	for _, list := range [][]Entry{objects, sources} {
		slices.SortFunc(list, Entry.Compare)
		out = tableOf(len(list), total).append(out, list)
	}
	for _, b := range blocks {
		out = appendBlock(out, b)
	}
	sum := sha256.Sum256(out)
	return append(out, sum[:]...), nil
}

// table is a sorted list of entries in an index. An item is the end of a prefix, without the first
// byte where there is a fan, and a number.
type table struct {
	at    int64 // in the file
	count int
	fan   bool
	width int // bytes of a number
	total int // objects of the pack

	ends *atomic.Pointer[[fanSize]byte] // the fan, once it was read; nil in a table that is written
}

func tableOf(count, total int) table {
	t := table{count: count, fan: count >= fanFrom, width: 4, total: total}
	switch {
	case total <= 1<<16:
		t.width = 2
	case total <= 1<<24:
		t.width = 3
	}
	return t
}

// prefix is how many bytes of a prefix an item has.
func (t table) prefix() int {
	if t.fan {
		return prefixSize - 1
	}
	return prefixSize
}

func (t table) item() int { return t.prefix() + t.width }

// items is where the items begin.
func (t table) items() int64 {
	if t.fan {
		return t.at + fanSize
	}
	return t.at
}

func (t table) size() int64 { return t.items() - t.at + int64(t.count)*int64(t.item()) }

func (t table) append(out []byte, list []Entry) []byte {
	if t.fan {
		i := 0
		for first := range 256 {
			for i < len(list) && list[i].Prefix>>24 <= uint32(first) {
				i++
			}
			out = binary.BigEndian.AppendUint32(out, uint32(i))
		}
	}
	var b [4]byte
	for _, e := range list {
		binary.BigEndian.PutUint32(b[:], e.Prefix)
		out = append(out, b[prefixSize-t.prefix():]...)
		binary.BigEndian.PutUint32(b[:], e.Number)
		out = append(out, b[4-t.width:]...)
	}
	return out
}

// Index looks up objects without reading all of an index: a look-up among a million objects reads
// one or two pieces. What it returns is not proven by the digest of the index, which Check does.
// It may be used by several goroutines if its reader allows it.
type Index struct {
	Pack format.ID

	r                io.ReaderAt
	objects, sources table
	blocksAt         int64
	blocks           int
}

// OpenIndex reads the head of an index of size bytes. It fails if size differs from the size that
// the head gives.
func OpenIndex(r io.ReaderAt, size int64) (*Index, error) {
	var head [indexHead]byte
	if size < int64(len(head)) {
		return nil, errShortIndex
	}
	if err := readIndexAt(r, head[:], 0); err != nil {
		return nil, err
	}
	if err := checkMagic("pack index", head[:], IndexMagic); err != nil {
		return nil, err
	}
	x := &Index{r: r, Pack: format.ID(head[len(IndexMagic):])}
	var counts [3]int64
	for i := range counts {
		counts[i] = int64(binary.BigEndian.Uint32(head[len(IndexMagic)+len(x.Pack)+4*i:]))
	}
	if slices.Max(counts[:]) > maxCount || counts[0] == 0 || counts[1] > counts[0] ||
		counts[2] > counts[0] {
		return nil, errSize
	}
	x.objects = tableOf(int(counts[0]), int(counts[0]))
	x.objects.at, x.objects.ends = int64(len(head)), new(atomic.Pointer[[fanSize]byte])
	x.sources = tableOf(int(counts[1]), int(counts[0]))
	x.sources.at, x.sources.ends = x.objects.at+x.objects.size(), new(atomic.Pointer[[fanSize]byte])
	x.blocksAt, x.blocks = x.sources.at+x.sources.size(), int(counts[2])
	if size != x.blocksAt+counts[2]*indexBlock+sha256.Size {
		return nil, errSize
	}
	return x, nil
}

const (
	errShortIndex = fault("pack index is cut short")
	errSize       = fault("pack index has a size that its head does not give")
	errTable      = fault("bad table in a pack index")
)

// Len returns the number of objects.
func (x *Index) Len() int { return x.objects.count }

// Find returns the numbers of the objects whose ids begin with prefix, in order.
func (x *Index) Find(prefix uint32) ([]uint32, error) { return x.find(x.objects, prefix, prefix) }

// Range returns the numbers of the objects whose ids begin with first, last or what is between.
func (x *Index) Range(first, last uint32) ([]uint32, error) {
	return x.find(x.objects, first, last)
}

// Tagged returns the numbers of the objects whose source key begins with tag, in order.
func (x *Index) Tagged(tag uint32) ([]uint32, error) { return x.find(x.sources, tag, tag) }

// window is the largest part of a table that a look-up reads in one piece.
const window = 64

// maxItem is the most bytes of an item.
const maxItem = prefixSize + 4

// rooms are for the pieces of tables. A command looks up hundreds of thousands of ids.
var rooms = sync.Pool{New: func() any { return new([window * maxItem]byte) }}

func (x *Index) find(t table, first, last uint32) (numbers []uint32, err error) {
	lo, hi, err := x.bounds(t, first, last)
	if err != nil {
		return nil, err
	}
	room := rooms.Get().(*[window * maxItem]byte)
	defer rooms.Put(room)
	from, have, err := x.near(t, lo, hi, first, room)
	if err != nil {
		return nil, err
	}
	item := t.item()
	for ; from < hi; from += window {
		n := min(window, hi-from)
		b := room[:n*item]
		if from != have {
			if err := x.items(t, b, from); err != nil {
				return nil, err
			}
		}
		for i := sort.Search(n,
			func(i int) bool { return t.prefixOf(b[i*item:], first) >= first }); i < n; i++ {
			at := b[i*item : (i+1)*item]
			if t.prefixOf(at, first) > last {
				return numbers, nil
			}
			number := t.numberOf(at)
			if int(number) >= t.total {
				return nil, errTable
			}
			numbers = append(numbers, number)
		}
	}
	return numbers, nil
}

// guesses is how often a look-up reads where an item lies if prefixes are spread evenly, as those
// of digests are: most end after one or two. Then it halves what is left.
const guesses = 4

// near returns a place from which on the first item that is not less than a prefix comes within a
// window; it lies from lo to hi. have is the place of the window that room holds; -1 for none.
func (x *Index) near(
	t table, lo, hi int, first uint32, room *[window * maxItem]byte,
) (from, have int, err error) {
	item, end := t.item(), hi
	from, have = lo, -1
	least, most := t.span(first) // no item from from to end is less or more
	for try := 0; end-from > window; try++ {
		mid := from + (end-from)/2
		if try < guesses && most > least {
			mid = from + int(uint64(end-from)*(uint64(first)-least)/(most-least))
		}
		at := min(max(mid-window/2, from), end-window)
		if err := x.items(t, room[:window*item], at); err != nil {
			return 0, -1, err
		}
		have = at
		lowest, highest := t.prefixOf(room[:], first), t.prefixOf(room[(window-1)*item:], first)
		switch {
		case lowest >= first:
			end, most = at, uint64(lowest)
		case highest < first:
			from, least = at+window, uint64(highest)
		default:
			return at, have, nil
		}
	}
	return from, have, nil
}

// items reads items of a table from a place on.
func (x *Index) items(t table, b []byte, from int) error {
	return readIndexAt(x.r, b, t.items()+int64(from)*int64(t.item()))
}

// span returns between which prefixes those lie that bounds has found for one.
func (t table) span(first uint32) (least, most uint64) {
	if !t.fan {
		return 0, 1 << 32
	}
	least = uint64(first &^ (1<<24 - 1))
	return least, least + 1<<24
}

// prefixOf returns the prefix of an item, which has the first byte of like where the table has a
// fan.
func (t table) prefixOf(b []byte, like uint32) uint32 {
	if t.fan {
		return like&^(1<<24-1) | uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2])
	}
	return binary.BigEndian.Uint32(b)
}

// numberOf returns the number of an item.
func (t table) numberOf(b []byte) (n uint32) {
	for _, c := range b[t.prefix():t.item()] {
		n = n<<8 | uint32(c)
	}
	return n
}

// bounds returns the items of a table among which those from first to last are. With a fan, these
// have one first byte.
func (x *Index) bounds(t table, first, last uint32) (lo, hi int, err error) {
	if !t.fan {
		return 0, t.count, nil
	}
	if first>>24 != last>>24 {
		return 0, 0, errors.New("a range over two first bytes")
	}
	fan := t.ends.Load()
	if fan == nil {
		fan = new([fanSize]byte)
		if err := readIndexAt(x.r, fan[:], t.at); err != nil {
			return 0, 0, err
		}
		t.ends.Store(fan)
	}
	at := 4 * int(first>>24)
	if hi = int(binary.BigEndian.Uint32(fan[at:])); at > 0 {
		lo = int(binary.BigEndian.Uint32(fan[at-4:]))
	}
	if lo > hi || hi > t.count {
		return lo, hi, errTable
	}
	return lo, hi, nil
}

// EachTag calls fn for each tag of the source table, in order. It reads the table in pieces.
func (x *Index) EachTag(fn func(tag uint32)) error {
	return x.EachSource(func(e Entry) { fn(e.Prefix) })
}

// EachPrefix calls fn for the prefix of each id, in order. It reads the table in pieces.
func (x *Index) EachPrefix(fn func(prefix uint32)) error {
	return x.EachObject(func(e Entry) { fn(e.Prefix) })
}

// EachObject calls fn for each object, in the order of the table, which it reads in pieces. The
// numbers are not checked.
func (x *Index) EachObject(fn func(Entry)) error { return x.each(x.objects, fn) }

// EachSource is EachObject for the objects with a source, whose prefixes are those of their keys.
func (x *Index) EachSource(fn func(Entry)) error { return x.each(x.sources, fn) }

func (x *Index) each(t table, fn func(Entry)) error {
	var ends []byte
	if t.fan {
		ends = make([]byte, fanSize)
		if err := readIndexAt(x.r, ends, t.at); err != nil {
			return err
		}
	}
	const piece = 512
	b := make([]byte, piece*t.item())
	first := 0
	for n := 0; n < t.count; n += piece {
		some := b[:min(piece, t.count-n)*t.item()]
		if err := x.items(t, some, n); err != nil {
			return err
		}
		for i := n; len(some) > 0; i++ {
			for t.fan && first < 255 && i >= int(binary.BigEndian.Uint32(ends[4*first:])) {
				first++
			}
			fn(Entry{Prefix: t.prefixOf(some, uint32(first)<<24), Number: t.numberOf(some)})
			some = some[t.item():]
		}
	}
	return nil
}

// Check reads the whole index and compares it with its digest. Without this check, a look-up that
// finds nothing proves nothing.
func (x *Index) Check() error {
	return checkIndexDigest(x.r, x.blocksAt+int64(x.blocks)*indexBlock)
}

// Blocks returns where the blocks of the pack are. The digests are in the pack alone.
func (x *Index) Blocks() (*Map, error) {
	b := make([]byte, x.blocks*indexBlock)
	if err := readIndexAt(x.r, b, x.blocksAt); err != nil {
		return nil, err
	}
	m := &Map{Spans: make([]Span, 0, x.blocks)}
	at, first := int64(HeadSize), 0
	for ; len(b) > 0; b = b[indexBlock:] {
		block, err := parseBlock(b)
		if err != nil {
			return nil, err
		}
		m.Spans = append(m.Spans, Span{Block: block, N: len(m.Spans), Offset: at, First: first})
		at += BlockHead + int64(block.Frame)
		first += block.Objects
	}
	if first != x.objects.count {
		return nil, errTable
	}
	return m, nil
}

// Span says where a block lies in its pack.
type Span struct {
	Block
	N      int   // the block's number, from 0
	Offset int64 // of the block's head in the file
	First  int   // the number of its first object
}

// Map finds the blocks of a pack by the numbers of objects.
type Map struct{ Spans []Span }

// Find returns the block that holds an object, and the object's place in it. ok is false if none
// does.
func (m *Map) Find(number uint32) (span Span, i int, ok bool) {
	n, found := slices.BinarySearchFunc(m.Spans, int(number),
		func(s Span, n int) int { return s.First - n })
	if !found {
		n--
	}
	if n < 0 || int(number)-m.Spans[n].First >= m.Spans[n].Objects {
		return Span{}, 0, false
	}
	return m.Spans[n], int(number) - m.Spans[n].First, true
}

// checkIndexDigest compares the first size bytes of an index with the SHA-256 that follows them.
func checkIndexDigest(r io.ReaderAt, size int64) error {
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(r, 0, size)); err != nil {
		return err
	}
	var want [sha256.Size]byte
	if err := readIndexAt(r, want[:], size); err != nil {
		return err
	}
	if !bytes.Equal(sum.Sum(nil), want[:]) {
		return errors.New("pack index does not match its digest")
	}
	return nil
}

// readIndexAt fills b from offset at of an index. That the index ends before is an error.
func readIndexAt(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return errors.New("pack index is cut short")
	}
	return err
}
