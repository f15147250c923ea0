package history

import (
	"bytes"
	"encoding/binary"
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
	nearVersion = 1

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
	set atomic.Pointer[nearSet]
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
	if b, _, ok := s.Cache.Load(name); ok {
		set = decodeNear(b)
	}
	if !n.set.CompareAndSwap(nil, set) {
		return func() {}
	}
	return func() {
		n.set.Store(nil)
		set.mu.Lock()
		defer set.mu.Unlock()
		if set.missed > nearMisses {
			_ = s.Cache.Store(name, cache.Stamp{}, encodeNear(set)) // may be lost at any time
		}
	}
}

// ReadFrom makes the reader read from other objects, for tests that count.
func (s *Reader) ReadFrom(o Objects) { s.Objects = &near{Objects: o} }

// Get is that of Objects, but the bytes are lent while a reading goes on: they must not be changed.
func (n *near) Get(id format.ID) (format.Raw, error) {
	set := n.set.Load()
	if set == nil {
		return n.Objects.Get(id)
	}
	if r, ok := set.get(id, true); ok {
		return r, nil
	}
	r, err := n.Objects.Get(id)
	if err == nil {
		set.add(id, nearRaw{Raw: r, whole: true})
	}
	return r, err
}

// Header is that of Objects; its bytes are lent like those of Get.
func (n *near) Header(id format.ID) ([]byte, error) {
	set := n.set.Load()
	if set == nil {
		return n.Objects.Header(id)
	}
	if r, ok := set.get(id, false); ok {
		return r.Header, nil
	}
	header, err := n.Objects.Header(id)
	if err == nil {
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

// The form of an object in the file says what follows its id: the header alone, all of an object
// that has no body, or header and body.
const (
	nearHeader = iota
	nearBare
	nearWhole
)

// encodeNear encodes the version, the number of the objects that were used, and these objects in
// the order of their ids.
func encodeNear(s *nearSet) []byte {
	var list []byte
	n := 0
	for _, id := range slices.SortedFunc(maps.Keys(s.place), format.ID.Compare) {
		r := &s.list[s.place[id]]
		if !r.used || len(list)+len(r.Header)+len(r.Body) > nearBytes {
			continue
		}
		n++
		form := byte(nearHeader)
		switch {
		case r.whole && r.Body == nil:
			form = nearBare
		case r.whole:
			form = nearWhole
		}
		list = append(append(list, id[:]...), form)
		list = varint.AppendString(list, string(r.Header))
		if form == nearWhole {
			list = varint.AppendString(list, string(r.Body))
		}
	}
	b := binary.AppendUvarint(make([]byte, 0, len(list)+16), nearVersion)
	return append(binary.AppendUvarint(b, uint64(n)), list...)
}

// decodeNear returns the objects that encodeNear was given, none if the file is of another version
// or damaged. They share memory with b.
func decodeNear(b []byte) *nearSet {
	r := varint.Reader{Rest: b}
	if r.Uvarint() != nearVersion {
		return &nearSet{}
	}
	n := r.Count(len(format.ID{}) + 2)
	s := &nearSet{place: make(map[format.ID]int32, n), list: make([]nearRaw, n)}
	for i := range s.list {
		var id format.ID
		copy(id[:], r.Take(uint64(len(id))))
		form, o := r.Byte(), &s.list[i]
		o.Header = slices.Clip(r.Take(r.Uvarint()))
		if form != nearHeader {
			o.whole = true
			if form == nearWhole {
				o.Body = slices.Clip(r.Take(r.Uvarint()))
			}
		}
		s.place[id] = int32(i)
	}
	if r.Err != nil || len(r.Rest) > 0 {
		return &nearSet{}
	}
	return s
}
