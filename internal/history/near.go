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

// nearSet holds objects by their ids. Every object is checked against its id when it is asked for.
type nearSet struct {
	mu     sync.Mutex
	have   map[format.ID]nearRaw // in the file
	used   map[format.ID]nearRaw // read since
	missed int
}

// nearRaw is an object, or its header.
type nearRaw struct {
	format.Raw
	whole bool // not only the header
}

// Nearby makes the reader take objects from a file of the cache until done is called. done then
// writes the objects that were read into the file if it missed many. It is for readings that read
// much the same objects each time. Within one that goes on, another one changes nothing.
func (s *Reader) Nearby(name string) (done func()) {
	n, ok := s.Objects.(*near)
	if !ok {
		return func() {}
	}
	set := &nearSet{have: map[format.ID]nearRaw{}, used: map[format.ID]nearRaw{}}
	if b, _, ok := s.Cache.Load(name); ok {
		set.have = decodeNear(b)
	}
	if !n.set.CompareAndSwap(nil, set) {
		return func() {}
	}
	return func() {
		n.set.Store(nil)
		set.mu.Lock()
		defer set.mu.Unlock()
		if set.missed > nearMisses {
			_ = s.Cache.Store(name, cache.Stamp{}, encodeNear(set.used)) // may be lost at any time
		}
	}
}

// ReadFrom makes the reader read from other objects, for tests that count.
func (s *Reader) ReadFrom(o Objects) { s.Objects = &near{Objects: o} }

// Get is that of Objects.
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
		set.add(id, nearRaw{r, true})
	}
	return r, err
}

// Header is that of Objects.
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

// get returns an object, with its body if whole is true, in bytes that belong to the caller.
func (s *nearSet) get(id format.ID, whole bool) (format.Raw, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, known := s.used[id]
	if !known || whole && !r.whole {
		var ok bool
		if r, ok = s.have[id]; !ok || whole && !r.whole {
			return format.Raw{}, false
		}
		if complete, err := objects.Sound(id, r.Raw); err != nil || r.whole && !complete {
			return format.Raw{}, false
		}
		s.used[id] = r
	}
	if !whole {
		return format.Raw{Header: bytes.Clone(r.Header)}, true
	}
	return r.clone(), true
}

func (r nearRaw) clone() format.Raw {
	return format.Raw{Header: bytes.Clone(r.Header), Body: bytes.Clone(r.Body)}
}

// add keeps a copy of what was read elsewhere.
func (s *nearSet) add(id format.ID, r nearRaw) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.missed++
	if len(r.Header)+len(r.Body) <= nearObject {
		s.used[id] = nearRaw{r.clone(), r.whole}
	}
}

// The form of an object in the file says what follows its id: the header alone, all of an object
// that has no body, or header and body.
const (
	nearHeader = iota
	nearBare
	nearWhole
)

// encodeNear encodes the version, the number of objects, and the objects in the order of their ids.
func encodeNear(used map[format.ID]nearRaw) []byte {
	ids := slices.SortedFunc(maps.Keys(used), format.ID.Compare)
	var list []byte
	n := 0
	for _, id := range ids {
		r := used[id]
		if len(list)+len(r.Header)+len(r.Body) > nearBytes {
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

// decodeNear returns what encodeNear was given, nothing if the file is of another version or
// damaged.
func decodeNear(b []byte) map[format.ID]nearRaw {
	r := varint.Reader{Rest: b}
	if r.Uvarint() != nearVersion {
		return nil
	}
	n := r.Count(len(format.ID{}) + 2)
	have := make(map[format.ID]nearRaw, n)
	for range n {
		var id format.ID
		copy(id[:], r.Take(uint64(len(id))))
		form := r.Byte()
		o := nearRaw{Raw: format.Raw{Header: r.Take(r.Uvarint())}}
		if form != nearHeader {
			o.whole = true
			if form == nearWhole {
				o.Body = r.Take(r.Uvarint())
			}
		}
		have[id] = o
	}
	if r.Err != nil || len(r.Rest) > 0 {
		return nil
	}
	return have
}
