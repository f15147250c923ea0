package objects

import (
	"iter"
	"slices"
	"sync"

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
