package history

import (
	"bytes"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/varint"
	"github.com/gemini-ctx/ctx/objects"
)

const (
	nearVersion = 2

	// nearObject is the largest object that the cache keeps, in bytes, and nearBytes is the most of
	// all of them. Larger objects share no block with others, so it costs little to read them.
	nearObject = 64 << 10
	nearBytes  = 8 << 20

	// nearMisses is how many objects a reading has to miss before the file is written anew. Those of
	// the newest turns are in the log, where they are found at once.
	nearMisses = 64
)

// near reads the objects of a store. While a reading of the kind that Nearby is told of goes on, it
// takes those that the last one read from a file of the cache. In the packs they are spread over
// many blocks, of which each has to be unpacked for the few objects in it.
type near struct {
	Objects
	// standIn may return the header of an entry for one that cannot be read; nil in tests
	standIn func(id format.ID, err error) ([]byte, error)
	set     atomic.Pointer[nearSet]
	written atomic.Pointer[written]
}

// nearSet holds objects by their ids: those of the file, and those that were read since. Every
// object of the file is checked against its id when it is asked for.
type nearSet struct {
	mu     sync.Mutex
	place  map[format.ID]int32 // in list
	list   []nearRaw
	missed int
}

// nearRaw is an object, or its header.
type nearRaw struct {
	format.Raw
	whole bool // not only the header
	used  bool // it was read since, and fits its id
}

// Nearby makes the reader take objects from a file of the cache until done is called. done then
// writes the objects that were read into the file if it missed many. It is for readings that read
// much the same objects each time. Within one that goes on, another one changes nothing.
func (s *Reader) Nearby(name string) (done func()) {
	n, ok := s.Objects.(*near)
	if !ok {
		return func() {}
	}
	set := &nearSet{}
	if _, ok := s.Cache.Get(name, nearVersion, set.code); !ok {
		set = &nearSet{}
	}
	if !n.set.CompareAndSwap(nil, set) {
		return func() {}
	}
	return func() {
		n.set.Store(nil)
		set.mu.Lock()
		defer set.mu.Unlock()
		if set.missed > nearMisses {
			_ = s.Cache.Put(name, cache.Stamp{}, nearVersion, set.code) // may be lost
		}
	}
}

// Afar lets a reading go on without the file until done is called: what is read meanwhile is not
// read by the next one.
func (s *Reader) Afar() (done func()) {
	n, ok := s.Objects.(*near)
	if !ok {
		return func() {}
	}
	set := n.set.Swap(nil)
	return func() { n.set.Store(set) }
}

// ReadFrom makes the reader read from other objects, for tests that count.
func (s *Reader) ReadFrom(o Objects) { s.Objects = &near{Objects: o} }

// Get is that of Objects, but the bytes are lent while a reading goes on: they must not be changed.
func (n *near) Get(id format.ID) (format.Raw, error) {
	w := n.written.Load()
	if r, ok := w.get(id); ok {
		return r, nil
	}
	set := n.set.Load()
	if set == nil {
		r, err := n.get(id)
		if err == nil && w != nil {
			w.add(id, r)
		}
		return r, err
	}
	if r, ok := set.get(id, true); ok {
		return r, nil
	}
	r, err := n.get(id)
	if err == nil {
		set.add(id, nearRaw{Raw: r, whole: true})
	}
	return r, err
}

// get is Get without what is kept.
func (n *near) get(id format.ID) (format.Raw, error) {
	r, err := n.Objects.Get(id)
	if !IsDamage(err) || n.standIn == nil {
		return r, err
	}
	header, err := n.standIn(id, err)
	if err != nil {
		return r, err
	}
	return format.Raw{Header: header}, &objects.GoneError{ID: id, Reason: damaged}
}

// header is Header without what is kept.
func (n *near) header(id format.ID) ([]byte, error) {
	header, err := n.Objects.Header(id)
	if !IsDamage(err) || n.standIn == nil {
		return header, err
	}
	return n.standIn(id, err)
}

// Header is that of Objects; its bytes are lent like those of Get.
func (n *near) Header(id format.ID) ([]byte, error) {
	if r, ok := n.written.Load().get(id); ok {
		return r.Header, nil
	}
	set := n.set.Load()
	if set == nil {
		return n.header(id)
	}
	if r, ok := set.get(id, false); ok {
		return r.Header, nil
	}
	header, err := n.header(id)
	if err == nil && id == format.Sum(header) {
		set.add(id, nearRaw{Raw: format.Raw{Header: header}})
	}
	return header, err
}

// get returns an object, with its body if whole is true. Its bytes must not be changed.
func (s *nearSet) get(id format.ID, whole bool) (format.Raw, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, known := s.place[id]
	if !known || whole && !s.list[i].whole {
		return format.Raw{}, false
	}
	r := &s.list[i]
	if !r.used {
		if complete, err := objects.Sound(id, r.Raw); err != nil || r.whole && !complete {
			return format.Raw{}, false
		}
		r.used = true
	}
	if !whole {
		return format.Raw{Header: r.Header}, true
	}
	return r.Raw, true
}

// add keeps a copy of what was read elsewhere.
func (s *nearSet) add(id format.ID, r nearRaw) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.missed++
	if len(r.Header)+len(r.Body) > nearObject {
		return
	}
	r.Header, r.Body = slices.Clip(bytes.Clone(r.Header)), slices.Clip(bytes.Clone(r.Body))
	r.used = true
	if i, known := s.place[id]; known {
		s.list[i] = r
		return
	}
	if s.place == nil {
		s.place = map[format.ID]int32{}
	}
	s.place[id] = int32(len(s.list))
	s.list = append(s.list, r)
}

// code is the form of the file: the objects by their ids, of those that were used as many as have
// room. A header alone is an object that is not whole.
func (s *nearSet) code(c *varint.Code) {
	left := nearBytes
	kept := make(map[format.ID]int32, len(s.place))
	for _, id := range slices.SortedFunc(maps.Keys(s.place), format.ID.Compare) {
		r := &s.list[s.place[id]]
		if size := len(r.Header) + len(r.Body); r.used && size <= left {
			kept[id] = s.place[id]
			left -= size
		}
	}
	varint.MapBy(c, &kept, format.ID.Compare, func(id *format.ID, at *int32) {
		if !c.Writes {
			*at = int32(len(s.list))
			s.list = append(s.list, nearRaw{})
		}
		r := &s.list[*at]
		hasBody := r.Body != nil
		c.Fixed(id[:])
		c.Flag(&r.whole)
		c.Flag(&hasBody)
		c.Bytes(&r.Header)
		if c.Bytes(&r.Body); hasBody && r.Body == nil {
			r.Body = []byte{}
		}
	})
	s.place = kept
}
