package objects

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	packs "github.com/gemini-ctx/ctx/format/pack"
	"github.com/gemini-ctx/ctx/internal/durable"
)

// openPack opens a pack's own file and tells its size.
func openPack(path string) (file *os.File, size int64, err error) {
	if file, err = durable.Open(path); err != nil {
		return nil, 0, notFile(path, err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, info.Size(), nil
}

// walkPack calls fn for the objects of a pack, in no order. It passes over a block that cannot be
// read; a damaged head ends the walk. Errors: *CorruptError, once all was told that can be read;
// what the file system says.
func (s *Store) walkPack(path string, fn func(packs.Object)) (err error) {
	file, size, err := openPack(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	var passed error // over the first bad block
	_, err = s.walk(bufio.NewReaderSize(file, packBuffer), size, &walked{}, false,
		func(o packs.Object) error { fn(o); return nil },
		func(err error) error {
			if passed == nil {
				passed = err
			}
			return nil
		})
	return blamed(path, cmp.Or(passed, err))
}

// walk reads a pack and calls fn for every object. It calls bad with the error of a block that
// cannot be read, and ends with the error that bad returns, or with that of the block where bad is
// nil. Several blocks are unpacked at a time. With check, an object that is not sound ends the
// walk. walk keeps the ids in met: 32 bytes an object, or 4 where the store was lent names. The
// bytes are good until the block ends.
func (s *Store) walk(
	in io.Reader, size int64, met *walked, check bool,
	fn func(packs.Object) error, bad func(error) error,
) (format.ID, error) {
	waiting := newTurns(func(u unpackedBlock) error {
		if u.err != nil {
			if met.add(u.Block, nil); bad == nil {
				return u.err
			}
			return bad(u.err) // the numbers of those that follow stay
		}
		if u.wrong != nil {
			return u.wrong
		}
		ids := s.idsOf(u.list)
		met.add(u.Block, &ids)
		for _, o := range u.list {
			if err := fn(o); err != nil {
				return err
			}
		}
		return nil
	})
	id, err := packs.Walk(in, size, func(key packs.Key, b packs.Block, frame []byte) error {
		names := met.far
		if b.Kind != packs.Nodes {
			names = nil
		} else if err := waiting.end(); err != nil { // it names objects of the blocks before
			return err
		}
		frame = bytes.Clone(frame)
		begin := waiting.begin
		if b.Raw > largeBlock {
			begin = waiting.alone
		}
		return begin(func() unpackedBlock { return s.unpackBlock(key, b, frame, names, check) })
	})
	if ended := waiting.end(); ended != nil {
		return id, ended
	}
	return id, err
}

// unpackedBlock is a block with its objects.
type unpackedBlock struct {
	packs.Block
	list  []packs.Object
	err   error // it cannot be read
	wrong error // what is wrong with one of them, where that was asked
}

func (s *Store) unpackBlock(
	key packs.Key, b packs.Block, frame []byte,
	far func(uint32) (format.ID, error), check bool,
) unpackedBlock {
	u := unpackedBlock{Block: b}
	raw, err := s.codec.Decode(b.Raw, frame)
	if err == nil {
		u.list, err = packs.Decode(raw, b.Objects, b.Digest, key, true, far)
	}
	if u.err = err; err != nil || !check {
		return u
	}
	for _, o := range u.list {
		if _, err := soundPacked(format.Raw{Header: o.Header, Body: o.Body}); err != nil {
			u.wrong = fmt.Errorf("object %v: %w", o.ID, err)
			break
		}
	}
	return u
}

// walked are the ids of the objects that a walk through a pack has met, block by block.
type walked struct {
	list   []packs.Block
	blocks []walkedBlock
	count  int
}

type walkedBlock struct {
	first int // the number of its first object
	whole bool
	ids   *someIDs // nil where it cannot be read
}

func (w *walked) add(b packs.Block, ids *someIDs) {
	w.blocks = append(w.blocks, walkedBlock{first: w.count, whole: b.Kind == packs.Whole, ids: ids})
	w.list = append(w.list, b)
	w.count += b.Objects
}

// at returns the id of an object; ok is false where its block cannot be read.
func (w *walked) at(n uint32) (id format.ID, whole, ok bool) {
	i, found := slices.BinarySearchFunc(w.blocks, int(n),
		func(b walkedBlock, n int) int { return b.first - n })
	if !found {
		i--
	}
	if int(n) >= w.count || w.blocks[i].ids == nil {
		return id, false, false
	}
	return w.blocks[i].ids.at(int(n) - w.blocks[i].first), w.blocks[i].whole, true
}

// far returns the id of an object in a self-contained block.
func (w *walked) far(n uint32) (format.ID, error) {
	id, whole, ok := w.at(n)
	if !ok || !whole {
		return format.ID{}, errors.New("an object is named that cannot be")
	}
	return id, nil
}

// census is what a walk through a pack finds.
type census struct {
	met   walked
	table table
}

func (c *census) object(o packs.Object) { c.table.add(o.ID, o.Header) }

// index returns the index of the pack, once all objects were met. The pack must have each once.
func (c *census) index(pack format.ID) ([]byte, error) {
	index, sorted, err := c.table.index(pack, c.met.list)
	if err != nil {
		return nil, err
	}
	for i, o := range sorted {
		for k := i - 1; k >= 0 && sorted[k].Prefix == o.Prefix; k-- {
			id, _, _ := c.met.at(o.Number)
			if other, _, _ := c.met.at(sorted[k].Number); other == id {
				return nil, fmt.Errorf("object %v is in the pack twice", id)
			}
		}
	}
	return index, nil
}

// table collects what an index has of the objects of a pack.
type table struct {
	prefixes []uint32 // of the ids, by the numbers of the objects
	sources  []packs.Entry
}

// len returns the number of objects.
func (t *table) len() uint32 { return uint32(len(t.prefixes)) }

// add adds the object that is next in the pack.
func (t *table) add(id format.ID, header []byte) {
	if key, ok := format.SourceKey(header); ok {
		t.sources = append(t.sources, packs.Entry{Prefix: format.SourceTag(key), Number: t.len()})
	}
	t.prefixes = append(t.prefixes, packs.Prefix(id))
}

// addAll adds the objects of a pack, as its index has them, behind those that are there.
func (t *table) addAll(x *packs.Index) error {
	first := t.len()
	t.prefixes = append(t.prefixes, make([]uint32, x.Len())...)
	outside := false
	objects := x.EachObject(func(e packs.Entry) {
		if outside = outside || first+e.Number >= t.len(); !outside {
			t.prefixes[first+e.Number] = e.Prefix
		}
	})
	sources := x.EachSource(func(e packs.Entry) {
		t.sources = append(t.sources, packs.Entry{Prefix: e.Prefix, Number: first + e.Number})
	})
	if outside {
		return errors.New("index has an object that its pack does not have")
	}
	return errors.Join(objects, sources)
}

// objects returns the objects in the order in which an index has them.
func (t *table) objects() []packs.Entry {
	sorted := make([]packs.Entry, len(t.prefixes))
	for n, p := range t.prefixes {
		sorted[n] = packs.Entry{Prefix: p, Number: uint32(n)}
	}
	slices.SortFunc(sorted, packs.Entry.Compare)
	return sorted
}

// index returns the index of a pack, and its objects in the order in which the index has them.
func (t *table) index(
	pack format.ID, blocks []packs.Block,
) (index []byte, sorted []packs.Entry, err error) {
	sorted = t.objects()
	index, err = packs.EncodeIndex(pack, sorted, t.sources, blocks)
	return index, sorted, err
}

// salvagePack reads a pack without an index as far as it goes.
func (s *Store) salvagePack(path string, fn func(r format.Raw, whole bool) error) error {
	var raws []format.Raw
	// What cannot be unpacked is passed over, and what follows a bad head is out of reach.
	err := s.walkPack(path, func(o packs.Object) { raws = append(raws, copied(o, true)) })
	if err != nil && !errors.As(err, new(*CorruptError)) && !vanished(err) {
		return err
	}
	for _, r := range raws {
		whole, err := sound(r.ID(), r)
		if err != nil {
			continue
		}
		if err := fn(r, whole); err != nil {
			return err
		}
	}
	return nil
}
