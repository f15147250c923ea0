package format

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// PackIndex looks up objects in a pack index without reading all of it: a look-up by id among a
// million objects reads about ten pieces, 2 KiB in total. The results are within the limits but not
// proven by the digest of the index (Check does that), so a caller must check the id of every
// object that it fetches. A PackIndex may be used by several goroutines if its reader allows it.
type PackIndex struct {
	Pack ID // the pack that the index belongs to

	r                      io.ReaderAt
	entries, sources, blks int
	fan                    [256]uint32
}

// OpenPackIndex reads the head of an index of size bytes, about 1 KiB. It fails if size differs
// from the size that the head gives.
func OpenPackIndex(r io.ReaderAt, size int64) (*PackIndex, error) {
	var head [idxHead + idxFan]byte
	if size < int64(len(head)) {
		return nil, errors.New("pack index is cut short")
	}
	if err := ReadIndexAt(r, head[:], 0); err != nil {
		return nil, err
	}
	if string(head[:len(PackIndexMagic)]) != PackIndexMagic {
		return nil, errors.New("not a pack index of a known version")
	}
	x := &PackIndex{r: r}
	b := head[len(PackIndexMagic):]
	copy(x.Pack[:], b)
	b = b[len(x.Pack):]
	counts := [3]int64{}
	for i := range counts {
		counts[i] = int64(binary.BigEndian.Uint32(b[4*i:]))
	}
	want := int64(len(head)) + counts[0]*int64(len(ID{})+idxPlace) + counts[1]*idxSource +
		counts[2]*idxBlock + int64(len(ID{}))
	if size != want || counts[0] == 0 || counts[1] > counts[0] ||
		max(counts[0], counts[2]) > idxCount {
		return nil, errors.New("pack index has a size that its head does not give")
	}
	x.entries, x.sources, x.blks = int(counts[0]), int(counts[1]), int(counts[2])
	return x, x.readFan(b[3*4:])
}

func (x *PackIndex) readFan(b []byte) error {
	last := uint32(0)
	for i := range x.fan {
		x.fan[i] = binary.BigEndian.Uint32(b[4*i:])
		if x.fan[i] < last {
			return errors.New("bad table of first bytes in a pack index")
		}
		last = x.fan[i]
	}
	if int(last) != x.entries {
		return errors.New("bad table of first bytes in a pack index")
	}
	return nil
}

// Len returns the number of objects.
func (x *PackIndex) Len() int { return x.entries }

func (x *PackIndex) idsAt() int64     { return int64(idxHead + idxFan) }
func (x *PackIndex) placesAt() int64  { return x.idsAt() + int64(x.entries)*int64(len(ID{})) }
func (x *PackIndex) sourcesAt() int64 { return x.placesAt() + int64(x.entries)*idxPlace }
func (x *PackIndex) blocksAt() int64  { return x.sourcesAt() + int64(x.sources)*idxSource }

// window is the largest range of a table that a search reads in one piece.
const window = 32

// Find returns the place of the object id in the pack. ok is false if the pack does not hold it.
func (x *PackIndex) Find(id ID) (at PackPlace, ok bool, err error) {
	n, found, err := x.Search(id)
	if err != nil || !found {
		return PackPlace{}, false, err
	}
	var b [idxPlace]byte
	if err := ReadIndexAt(x.r, b[:], x.placesAt()+int64(n)*idxPlace); err != nil {
		return PackPlace{}, false, err
	}
	return placeOf(b[:]), true, nil
}

func placeOf(b []byte) PackPlace {
	return PackPlace{Header: position(b), Body: position(b[5:])}
}

// Search returns the number of the first object whose id is not less than id, and whether that
// object has this id. Objects are numbered from 0 in the order of their ids.
func (x *PackIndex) Search(id ID) (n int, found bool, err error) {
	lo, hi := 0, int(x.fan[id[0]])
	if id[0] > 0 {
		lo = int(x.fan[id[0]-1])
	}
	return x.search(x.idsAt(), len(id), id[:], lo, hi, x.entries)
}

// search finds the first item that is not less than key in a sorted table. The table has count
// items of width bytes, which are compared by their first len(key) bytes. The caller knows that all
// items before lo are less than key, and that the items from hi on are not.
func (x *PackIndex) search(
	table int64, width int, key []byte, lo, hi, count int,
) (at int, found bool, err error) {
	item := make([]byte, (window+1)*width)
	for hi-lo > window {
		mid := lo + (hi-lo)/2
		if err := ReadIndexAt(x.r, item[:width], table+int64(mid)*int64(width)); err != nil {
			return 0, false, err
		}
		if bytes.Compare(item[:len(key)], key) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	// The item at hi may be the result, because it was not less than key when it became hi.
	n := min(hi+1, count) - lo
	item = item[:n*width]
	if err := ReadIndexAt(x.r, item, table+int64(lo)*int64(width)); err != nil {
		return 0, false, err
	}
	for ; len(item) > 0; lo++ {
		if c := bytes.Compare(item[:len(key)], key); c >= 0 {
			return lo, c == 0, nil
		}
		item = item[width:]
	}
	return lo, false, nil
}

// Each calls fn for the objects from number n on, in the order of their ids, until fn returns false
// or an error. It returns the error of fn. It reads the index in pieces of about 20 KiB.
func (x *PackIndex) Each(n int, fn func(ID, PackPlace) (bool, error)) error {
	const piece = 512
	ids, places := make([]byte, piece*len(ID{})), make([]byte, piece*idxPlace)
	for ; n < x.entries; n += piece {
		count := min(piece, x.entries-n)
		if err := ReadIndexAt(x.r, ids[:count*len(ID{})],
			x.idsAt()+int64(n)*int64(len(ID{}))); err != nil {
			return err
		}
		if err := ReadIndexAt(x.r, places[:count*idxPlace],
			x.placesAt()+int64(n)*idxPlace); err != nil {
			return err
		}
		for i := range count {
			more, err := fn(ID(ids[i*len(ID{}):]), placeOf(places[i*idxPlace:]))
			if err != nil || !more {
				return err
			}
		}
	}
	return nil
}

// Tagged returns the objects whose source key begins with tag, in the order of their ids. Another
// source can have the same tag by chance, so the caller must check the header of each object.
func (x *PackIndex) Tagged(tag uint32) ([]PackEntry, error) {
	key := binary.BigEndian.AppendUint32(nil, tag)
	n, _, err := x.search(x.sourcesAt(), idxSource, key, 0, x.sources, x.sources)
	var out []PackEntry
	for ; err == nil && n < x.sources; n++ {
		var b [idxSource]byte
		if err = ReadIndexAt(x.r, b[:], x.sourcesAt()+int64(n)*idxSource); err != nil {
			break
		}
		if !bytes.HasPrefix(b[:], key) {
			break
		}
		var e PackEntry
		if e, err = x.entry(int(binary.BigEndian.Uint32(b[4:]))); err == nil {
			e.Sourced, e.Tag = true, tag
			out = append(out, e)
		}
	}
	return out, err
}

func (x *PackIndex) entry(n int) (PackEntry, error) {
	if n < 0 || n >= x.entries {
		return PackEntry{}, fmt.Errorf("bad number in the source table of a pack index: %d", n)
	}
	var e PackEntry
	var place [idxPlace]byte
	if err := ReadIndexAt(x.r, e.ID[:], x.idsAt()+int64(n)*int64(len(e.ID))); err != nil {
		return PackEntry{}, err
	}
	err := ReadIndexAt(x.r, place[:], x.placesAt()+int64(n)*idxPlace)
	e.PackPlace = placeOf(place[:])
	return e, err
}

// Check reads the whole index and compares it with its digest. Without this check, a look-up that
// finds nothing proves nothing.
func (x *PackIndex) Check() error {
	return CheckIndexDigest(x.r, x.blocksAt()+int64(x.blks)*idxBlock)
}

// CheckIndexDigest compares the first size bytes of an index with the SHA-256 that follows them.
func CheckIndexDigest(r io.ReaderAt, size int64) error {
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(r, 0, size)); err != nil {
		return err
	}
	var want [sha256.Size]byte
	if err := ReadIndexAt(r, want[:], size); err != nil {
		return err
	}
	if !bytes.Equal(sum.Sum(nil), want[:]) {
		return errors.New("pack index does not match its digest")
	}
	return nil
}

// Blocks returns the blocks of the pack in the order of its file.
func (x *PackIndex) Blocks() ([]PackBlock, error) {
	b := make([]byte, x.blks*idxBlock)
	if err := ReadIndexAt(x.r, b, x.blocksAt()); err != nil {
		return nil, err
	}
	blocks := make([]PackBlock, 0, x.blks)
	for ; len(b) > 0; b = b[idxBlock:] {
		block, err := ParsePackBlockHead(b)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, block)
	}
	return blocks, nil
}

// ReadIndexAt fills b from offset at of an index. That the index ends before is an error.
func ReadIndexAt(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return errors.New("pack index is cut short")
	}
	return err
}

// EachTag calls fn for each tag of the source table, in order. It reads the table in pieces of
// about 4 KiB.
func (x *PackIndex) EachTag(fn func(tag uint32)) error {
	const piece = 512
	b := make([]byte, piece*idxSource)
	for n := 0; n < x.sources; n += piece {
		some := b[:min(piece, x.sources-n)*idxSource]
		if err := ReadIndexAt(x.r, some, x.sourcesAt()+int64(n)*idxSource); err != nil {
			return err
		}
		for ; len(some) > 0; some = some[idxSource:] {
			fn(binary.BigEndian.Uint32(some))
		}
	}
	return nil
}
