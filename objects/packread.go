package objects

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	packs "github.com/gemini-ctx/ctx/format/pack"
)

// packReader reads a pack. An index has the first bytes of ids, so what it finds is read, a block
// at a time, before it counts. Errors: *CorruptError, and what the file system says.
type packReader struct {
	p      *pack
	index  *packs.Index
	blocks kept[*packs.Map]
	key    kept[packs.Key]

	ids blockIDs // of the self-contained blocks that others named objects of
}

// len returns the number of objects.
func (r *packReader) len() int { return r.index.Len() }

// check compares the index with its digest.
func (r *packReader) check() error { return r.index.Check() }

func (r *packReader) layout() (*packs.Map, error) {
	return r.blocks.get(func() (*packs.Map, error) {
		blocks, err := r.index.Blocks()
		return blocks, r.p.blame(err)
	})
}

// keyOf returns the key in the head of the pack.
func (r *packReader) keyOf() (packs.Key, error) {
	return r.key.get(func() (packs.Key, error) {
		var head [packs.HeadSize]byte
		if err := r.p.readPiece(head[:], 0); err != nil {
			return packs.Key{}, err
		}
		key, err := packs.ParseHead(head[:])
		if err != nil { // of another version, too: the index has this one
			return key, &CorruptError{Path: r.p.path, Why: err.Error()}
		}
		return key, nil
	})
}

// block returns a block.
func (r *packReader) block(s *Store, span packs.Span) (*cachedBlock, error) {
	key := blockKey{r.p.id, span.N}
	if b := s.cache.get(key); b != nil {
		return b, nil
	}
	b, err := r.fresh(s, span)
	if err == nil {
		s.cache.put(key, b)
	}
	return b, err
}

// fresh returns a block that is not in the cache.
func (r *packReader) fresh(s *Store, span packs.Span) (*cachedBlock, error) {
	raw, head, err := r.unpack(s, span)
	if err != nil {
		return nil, err
	}
	reader, err := r.open(s, span, raw, head)
	if err != nil {
		return nil, r.p.blamePack(err)
	}
	return &cachedBlock{reader: reader, size: 2 * len(raw)}, nil
}

// all returns the objects of a block; they are shared and must not be changed.
func (r *packReader) all(s *Store, span packs.Span) ([]packs.Object, error) {
	b, err := r.block(s, span)
	if err != nil {
		return nil, err
	}
	return r.allOf(s, b)
}

// once is all for who reads each block once: what is not in the cache does not get there.
func (r *packReader) once(s *Store, span packs.Span) ([]packs.Object, error) {
	b := s.cache.get(blockKey{r.p.id, span.N})
	if b == nil {
		var err error
		if b, err = r.fresh(s, span); err != nil {
			return nil, err
		}
	}
	return r.allOf(s, b)
}

func (r *packReader) allOf(s *Store, b *cachedBlock) ([]packs.Object, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	list, err := b.reader.All()
	b.extracts.Store(int64(b.reader.Extracts()))
	if err != nil {
		s.cache.drop(r.p.id) // the next reader may find it restored
	}
	return list, r.p.blamePack(err)
}

// unpack reads the frame of a block and unpacks it.
func (r *packReader) unpack(s *Store, span packs.Span) (raw []byte, head packs.Block, err error) {
	b := make([]byte, packs.BlockHead+span.Frame)
	if err := r.p.readPiece(b, span.Offset); err != nil {
		return nil, head, err
	}
	head, err = packs.ParseBlockHead(b)
	if digest := head.Digest; err == nil {
		head.Digest = span.Digest // an index has none
		if head != span.Block {
			err = errors.New("block is not the one its index names")
		}
		head.Digest = digest
	}
	if err == nil {
		raw, err = s.codec.Decode(head.Raw, b[packs.BlockHead:])
	}
	return raw, head, r.p.blamePack(err)
}

func (r *packReader) open(
	s *Store, span packs.Span, raw []byte, head packs.Block,
) (*packs.Reader, error) {
	key, err := r.keyOf()
	if err != nil {
		return nil, err
	}
	var far func(uint32) (format.ID, error)
	if head.Kind == packs.Nodes {
		far = func(n uint32) (format.ID, error) { return r.far(s, n, span.First) }
	}
	return packs.Open(raw, head.Objects, head.Digest, key, far)
}

// far returns the id of an object in a self-contained block before the object numbered before.
func (r *packReader) far(s *Store, n uint32, before int) (format.ID, error) {
	layout, err := r.layout()
	if err != nil {
		return format.ID{}, err
	}
	span, i, ok := layout.Find(n)
	if !ok || span.Kind != packs.Whole || span.First >= before {
		return format.ID{}, errors.New("an object is named that cannot be")
	}
	if ids, there := r.ids.get(span.N); there {
		return ids.at(i), nil
	}
	read := r.all // who reads the node mostly reads what it names
	if s.cache.keepsFew() {
		read = r.once
	}
	list, err := read(s, span)
	if err != nil {
		return format.ID{}, err
	}
	ids := s.idsOf(list)
	r.ids.put(span.N, ids)
	return ids.at(i), nil
}

// object returns the object of a number. Unless proven is true, it is proven only to a caller that
// knows its id.
func (r *packReader) object(s *Store, number uint32, proven bool) (packs.Object, error) {
	layout, err := r.layout()
	if err != nil {
		return packs.Object{}, err
	}
	span, i, ok := layout.Find(number)
	if !ok {
		return packs.Object{}, r.p.noBlock(int64(number))
	}
	if proven {
		list, err := r.all(s, span)
		if err != nil {
			return packs.Object{}, err
		}
		return list[i], nil
	}
	b, err := r.block(s, span)
	if err != nil {
		return packs.Object{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	o, err := b.reader.At(i)
	b.extracts.Store(int64(b.reader.Extracts()))
	if err != nil {
		s.cache.drop(r.p.id)
	}
	return o, r.p.blamePack(err)
}

// find returns the object id. A block that cannot be read hides only what it may have.
func (r *packReader) find(s *Store, id format.ID) (o packs.Object, ok bool, err error) {
	numbers, err := r.index.Find(packs.Prefix(id))
	if err != nil {
		return o, false, r.p.blame(err)
	}
	var unread error
	for _, n := range numbers {
		o, err := r.object(s, n, false)
		if err == nil && o.ID == id {
			return o, true, nil
		}
		if err == nil {
			// Another object with the same first bytes, or damage: the digest of the block tells.
			_, err = r.object(s, n, true)
		}
		unread = errors.Join(unread, err)
	}
	return packs.Object{}, false, unread
}

// get reads an object; ok is false where the pack does not have it. Body is nil where the pack has
// none, or none is wanted. The bytes belong to the caller.
func (r *packReader) get(s *Store, id format.ID, body bool) (raw format.Raw, ok bool, err error) {
	o, ok, err := r.find(s, id)
	if err != nil || !ok {
		return raw, ok, err
	}
	return copied(o, body), true, nil
}

// copied returns an object in bytes of its own, which belong to the caller.
func copied(o packs.Object, body bool) (raw format.Raw) {
	raw.Header = slices.Clone(o.Header)
	if body && o.Stored {
		raw.Body = append([]byte{}, o.Body...)
	}
	return raw
}

// those returns the ids of the objects of these numbers.
func (r *packReader) those(s *Store, numbers []uint32) (ids []format.ID, err error) {
	slices.Sort(numbers) // a block is read once
	for _, n := range numbers {
		o, err := r.object(s, n, true)
		if err != nil {
			return nil, err
		}
		ids = append(ids, o.ID)
	}
	return ids, nil
}

// prefix returns the ids that begin with the digits, which are at least minPrefix, unsorted.
func (r *packReader) prefix(s *Store, digits string) (ids []format.ID, err error) {
	const known = 8 // digits that an index has
	some := digits[:min(len(digits), known)]
	var first, last [4]byte
	for _, end := range []struct {
		b   []byte
		pad string
	}{{first[:], "0"}, {last[:], "f"}} {
		if _, err := hex.Decode(end.b,
			[]byte(some+strings.Repeat(end.pad, known-len(some)))); err != nil {
			return nil, err
		}
	}
	numbers, err := r.index.Range(binary.BigEndian.Uint32(first[:]),
		binary.BigEndian.Uint32(last[:]))
	if err != nil {
		return nil, r.p.blame(err)
	}
	ids, err = r.those(s, numbers)
	return slices.DeleteFunc(ids,
		func(id format.ID) bool { return !strings.HasPrefix(id.String(), digits) }), err
}

// tagged returns the ids whose source key may begin with tag, unsorted.
func (r *packReader) tagged(s *Store, tag uint32) ([]format.ID, error) {
	numbers, err := r.index.Tagged(tag)
	if err != nil {
		return nil, r.p.blame(err)
	}
	return r.those(s, numbers)
}

// eachTag calls fn for the tags of all sources.
func (r *packReader) eachTag(fn func(tag uint32)) error { return r.p.blame(r.index.EachTag(fn)) }

// list lists the objects for PackContents. The ids in c are also those that the nodes of the pack
// name.
func (r *packReader) list(s *Store, c *PackContents) error {
	before := len(c.IDs)
	type block struct {
		packs.Span
		ids      []format.ID
		bodyless []uint32 // places in the block
	}
	return eachBlock(s, r, func(span packs.Span, list []packs.Object) block {
		b := block{Span: span, ids: make([]format.ID, len(list))}
		for i, o := range list { // the objects themselves take much memory
			b.ids[i] = o.ID
			if _, named, err := format.HeaderBody(o.Header); !o.Stored && (named || err != nil) {
				b.bodyless = append(b.bodyless, uint32(i))
			}
		}
		return b
	}, func(b block) error {
		first := len(c.IDs)
		c.IDs = append(c.IDs, b.ids...)
		for _, i := range b.bodyless {
			c.Bodyless = append(c.Bodyless, uint32(first-before)+i)
		}
		if b.Kind == packs.Whole {
			r.ids.put(b.N, someIDs{ids: c.IDs[first:], shared: true})
		}
		return nil
	})
}

// every calls fn for the objects in the order that they were written in, with what is wrong with
// each: a reason, or nil. The bytes are not to be changed, and good until fn returns. It ends with
// an error of fn. Another error comes once fn was called for all that can be read.
func (r *packReader) every(
	s *Store, fn func(id format.ID, raw format.Raw, wrong error) error,
) error {
	type checked struct {
		objects []packs.Object
		wrong   []error
	}
	return eachBlock(s, r, func(_ packs.Span, list []packs.Object) checked {
		c := checked{objects: list, wrong: make([]error, len(list))}
		for i, o := range list {
			_, c.wrong[i] = soundPacked(format.Raw{Header: o.Header, Body: o.Body})
		}
		return c
	}, func(c checked) error {
		for i, o := range c.objects {
			if err := fn(o.ID, format.Raw{Header: o.Header, Body: o.Body}, c.wrong[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// salvage reads block by block. Of a block that cannot be read as a whole it takes the objects that
// can be read by their ids, as find does. The others are lost, and the pack does not say what they
// were; so are the nodes that name one of them by its number.
func (r *packReader) salvage(s *Store, fn func(format.Raw, bool) error) error {
	layout, err := r.layout()
	if err != nil {
		return err
	}
	for _, span := range layout.Spans {
		list, err := r.all(s, span)
		if err != nil {
			list = r.some(s, span)
		}
		for _, o := range list {
			raw := format.Raw{Header: o.Header, Body: o.Body}
			whole, err := sound(o.ID, raw)
			if err != nil {
				continue
			}
			if err := fn(raw, whole); err != nil {
				return fmt.Errorf("object %v: %w", o.ID, err)
			}
		}
	}
	return nil
}

// some returns the objects of a damaged block that the index has under the beginnings of their ids.
// Damage gives an object another id.
func (r *packReader) some(s *Store, span packs.Span) (list []packs.Object) {
	b, err := r.block(s, span)
	if err != nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range int(span.Objects) {
		o, err := b.reader.At(i)
		if err != nil {
			continue
		}
		numbers, err := r.index.Find(packs.Prefix(o.ID))
		if err == nil && slices.Contains(numbers, uint32(span.First+i)) {
			raw := copied(o, true)
			o.Header, o.Body = raw.Header, raw.Body
			list = append(list, o)
		}
	}
	s.cache.drop(r.p.id) // the next reader may find it restored
	return list
}
