package objects

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gemini-ctx/ctx/format"
	packs "github.com/gemini-ctx/ctx/format/pack"
)

// A command that looks up many objects of a store with many packs would ask each pack for each of
// them. A locator knows which packs may have an object, in four bytes an object of all packs.
type locator struct {
	mu    sync.Mutex
	asked int
	packs []*pack  // those whose objects it knows; nil for one that it knows no more
	fan   []uint32 // how many items come before those with the same first two bytes of the id
	low   []uint16 // of an item: the next two bytes
	place []uint16 // of an item: its pack

	list      *packList // that the rest is about
	listed    []bool    // which of packs are in it
	strangers []*pack   // packs of it that have to be asked
}

const (
	// locateFrom is how many packs make a locator worth its while.
	locateFrom = 8
	// locateAfter is how many look-ups are answered pack by pack before there is a locator. Most
	// commands look up fewer.
	locateAfter = 256
	// mostStrangers is how many packs a locator may not know before it is made anew. They are asked
	// before those that it names.
	mostStrangers = 16
	// mostLocated is the most packs that a locator tells apart.
	mostLocated = 1 << 16
)

// packsFor yields the packs of a list that may have an object: the one that was useful last in
// front, and all of them where no locator knows better. It leaves out only packs whose index does
// not have the object.
func (s *Store) packsFor(list *packList, id format.ID) iter.Seq[*pack] {
	return func(yield func(*pack) bool) {
		s.mu.Lock()
		recent := s.recent
		s.mu.Unlock()
		if !slices.Contains(list.packs, recent) {
			recent = nil
		}
		if recent != nil && !yield(recent) {
			return
		}
		for _, p := range s.locator.among(list, id) {
			if p != recent && !yield(p) {
				return
			}
		}
	}
}

// among returns the packs of a list that may have an object.
func (l *locator) among(list *packList, id format.ID) []*pack {
	if len(list.packs) < locateFrom {
		return list.packs
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asked++; l.asked < locateAfter {
		return list.packs
	}
	if l.list != list {
		l.compare(list)
		if len(l.strangers) > mostStrangers && len(list.packs) <= mostLocated {
			l.learn(list)
		}
	}
	out := l.strangers
	if len(l.packs) == 0 {
		return out
	}
	prefix := packs.Prefix(id)
	for i := l.fan[prefix>>16]; i < l.fan[prefix>>16+1]; i++ {
		if n := l.place[i]; l.low[i] == uint16(prefix) && l.listed[n] {
			out = append(out[:len(out):len(out)], l.packs[n])
		}
	}
	return out
}

// compare finds out what the locator knows of a list.
func (l *locator) compare(list *packList) {
	l.list, l.listed, l.strangers = list, make([]bool, len(l.packs)), nil
	known := map[*pack]int{}
	for n, p := range l.packs {
		if p != nil {
			known[p] = n
		}
	}
	for _, p := range list.packs {
		if n, ok := known[p]; ok {
			l.listed[n] = true
		} else {
			l.strangers = append(l.strangers, p)
		}
	}
}

// forget makes a pack one that has to be asked: its index is about to be another one.
func (l *locator) forget(gone *pack) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := slices.Index(l.packs, gone); n >= 0 {
		l.packs[n], l.list = nil, nil
	}
}

// learn takes the objects of the packs of a list in the place of those that the locator knows. It
// leaves out those with an index that cannot be read.
func (l *locator) learn(list *packList) {
	l.packs, l.fan, l.low, l.place = nil, make([]uint32, 1<<16+1), nil, nil
	var indexes []*packs.Index
	for _, p := range list.packs {
		reader, err := p.open()
		if err != nil {
			continue
		}
		counted := make([]uint32, 0, reader.len())
		err = reader.index.EachPrefix(func(prefix uint32) { counted = append(counted, prefix>>16) })
		if err != nil {
			continue
		}
		for _, n := range counted {
			l.fan[n+1]++
		}
		l.packs, indexes = append(l.packs, p), append(indexes, reader.index)
	}
	for n := range 1 << 16 {
		l.fan[n+1] += l.fan[n]
	}
	next := slices.Clone(l.fan)
	l.low, l.place = make([]uint16, l.fan[1<<16]), make([]uint16, l.fan[1<<16])
	for n, x := range indexes {
		err := x.EachPrefix(func(prefix uint32) {
			at := next[prefix>>16]
			if at < l.fan[prefix>>16+1] { // unless the file has changed since
				l.low[at], l.place[at], next[prefix>>16] = uint16(prefix), uint16(n), at+1
			}
		})
		if err != nil {
			l.packs[n] = nil
		}
	}
	l.compare(list)
}

// filterAfter is how many questions for a source are answered pack by pack before a filter is
// built: one message asks one, and a bulk append as many as it has messages, which then cost the
// more the more packs it has written.
const filterAfter = 1024

// filterBits is how many bits a filter has: 8 MiB, so that of a million sources one and a half in
// a hundred others are taken for one of them.
const filterBits = 26

// sourceFilter knows of most sources that no pack has them. It may be wrong in the other direction
// alone, and is never smaller than what was put into it: packs that went away leave their bits.
type sourceFilter struct {
	mu    sync.Mutex
	asked int
	packs map[*pack]bool // those whose sources are in bits
	bits  []uint64
}

// excludes reports whether none of the packs has a source of this tag. It says no where it does
// not know.
func (f *sourceFilter) excludes(packs []*pack, tag uint32) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.asked++; f.asked < filterAfter {
		return false
	}
	if f.bits == nil {
		f.bits, f.packs = make([]uint64, 1<<(filterBits-6)), map[*pack]bool{}
	}
	for _, p := range packs {
		if !f.packs[p] && !f.add(p) {
			return false
		}
	}
	return f.bits[tag>>(32-filterBits)>>6]&(1<<(tag>>(32-filterBits)&63)) == 0
}

func (f *sourceFilter) add(p *pack) bool {
	reader, err := p.open()
	if err == nil {
		err = reader.eachTag(func(tag uint32) {
			f.bits[tag>>(32-filterBits)>>6] |= 1 << (tag >> (32 - filterBits) & 63)
		})
	}
	f.packs[p] = err == nil
	return err == nil
}

// indexFile reads the file of an index in pieces, and holds all of it in memory once that would
// have cost less. One look-up reads little of it; a command that reads a session looks up every
// entry, which is a few system calls for each.
type indexFile struct {
	file  io.ReaderAt
	size  int64
	most  int64 // bytes of a file that is held
	reads atomic.Int64
	whole atomic.Pointer[bytes.Reader]
}

const (
	// indexPiece is how many bytes of a file one system call costs about as much as.
	indexPiece = 4 << 10
	// fewReads are left to the file whatever its size.
	fewReads = 64
	// maxIndexHeld is the largest index that is held, in bytes: that of some 8,000,000 objects.
	maxIndexHeld = 64 << 20
	// fewIndexHeld is the same for who reads all of a store, and has little memory to spare.
	fewIndexHeld = 4 << 20
)

func (f *indexFile) ReadAt(b []byte, at int64) (int, error) {
	if whole := f.whole.Load(); whole != nil {
		return whole.ReadAt(b, at)
	}
	if f.size <= f.most && f.reads.Add(1) == fewReads+f.size/indexPiece {
		all := make([]byte, f.size)
		if n, err := f.file.ReadAt(all, 0); err == nil || errors.Is(err, io.EOF) {
			f.whole.Store(bytes.NewReader(all[:n]))
		}
	}
	return f.file.ReadAt(b, at)
}

// ByPlace sorts ids so that those of objects in one pack come one after the other, as the objects
// lie in it. Who reads many objects in this order unpacks each block once. Ids that no pack has
// come last. It looks at the first bytes of an id only, and passes over packs that it cannot read:
// the order is good, not certain. It does nothing for few ids, for it reads the indexes of all
// packs.
func (s *Store) ByPlace(ids []format.ID) {
	if len(ids) < placedFrom {
		return
	}
	list, err := s.list()
	if err != nil {
		return
	}
	slices.SortFunc(ids, format.ID.Compare)
	places := make([]packPlace, len(ids))
	for i, id := range ids {
		places[i] = packPlace{id: id, pack: len(list.packs)}
	}
	for k, p := range list.packs {
		if r, err := p.open(); err == nil {
			r.place(places, k)
		}
	}
	slices.SortStableFunc(places, func(a, b packPlace) int {
		return cmp.Or(cmp.Compare(a.pack, b.pack), cmp.Compare(a.number, b.number))
	})
	for i, p := range places {
		ids[i] = p.id
	}
}

// placedFrom is the least number of ids for which an index is read.
const placedFrom = 32

// packPlace is an id with the pack that has its object, counted in the list of packs, and the
// object's number in this pack.
type packPlace struct {
	id     format.ID
	pack   int
	number uint32
}

// place gives the places of objects of this pack, the pack k, to ids that are sorted.
func (r *packReader) place(places []packPlace, k int) {
	at := 0
	// What an index that cannot be read to its end has said is as good as before.
	_ = r.index.EachObject(func(e packs.Entry) {
		for at < len(places) && binary.BigEndian.Uint32(places[at].id[:]) < e.Prefix {
			at++
		}
		for i := at; i < len(places) && binary.BigEndian.Uint32(places[i].id[:]) == e.Prefix; i++ {
			places[i].pack, places[i].number = k, e.Number
		}
	})
}
