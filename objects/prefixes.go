package objects

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	packs "github.com/gemini-ctx/ctx/format/pack"
)

// PrefixSize is how many bytes of an id Resolve takes: those that an index has.
const PrefixSize = 4

// Resolve returns for each prefix the ids of the objects that begin with it. An object that nothing
// begins with has none: that is said only after the packs were listed again. With first it returns
// one id at most for a prefix, the likeliest where there are several: that of the object behind the
// one that was found before.
//
// It looks into packs, and for what is in none of them into the log as it was last read. With first
// it prefers objects in self-contained blocks to nodes that stand in other blocks.
func (s *Store) Resolve(prefixes [][PrefixSize]byte, first bool) ([][]format.ID, error) {
	list, err := s.list()
	for err == nil {
		found := make([][]format.ID, len(prefixes))
		unread := s.resolveIn(list, prefixes, sought{first: first, nodes: !first}, found)
		if !slices.ContainsFunc(found, func(ids []format.ID) bool { return ids == nil }) {
			return found, nil
		}
		var next *packList
		if next, err = s.relist(); err == nil && next == list {
			if first { // gc may have moved a node that the log names
				unread = s.resolveIn(list, prefixes, sought{first: true, nodes: true}, found)
			}
			s.resolveLogged(prefixes, found)
			return found, unread
		}
		list = next
	}
	return nil, err
}

// Packed tells of each id whether a pack has an object of this id in a self-contained block, and
// none beside it that begins with the same bytes.
func (s *Store) Packed(ids []format.ID) ([]bool, error) {
	if err := s.Refresh(); err != nil {
		return nil, err
	}
	prefixes := make([][PrefixSize]byte, len(ids))
	for i, id := range ids {
		prefixes[i] = [PrefixSize]byte(id[:])
	}
	list, err := s.list()
	if err != nil {
		return nil, err
	}
	found := make([][]format.ID, len(ids))
	if err := s.resolveIn(list, prefixes, sought{}, found); err != nil {
		return nil, err
	}
	there := make([]bool, len(ids))
	for i, id := range ids {
		there[i] = len(found[i]) == 1 && found[i][0] == id
	}
	return there, nil
}

// resolveIn looks into the packs of a list. unread tells that some of them could not be read.
func (s *Store) resolveIn(
	list *packList, prefixes [][PrefixSize]byte, what sought, found [][]format.ID,
) (unread error) {
	for _, p := range list.packs {
		reader, err := p.open()
		if err != nil {
			if !vanished(err) {
				unread = errors.Join(unread, err)
			}
			continue
		}
		if err := reader.resolve(s, prefixes, what, found); err != nil && !vanished(err) {
			unread = errors.Join(unread, err)
		}
	}
	for i := range found {
		found[i] = sorted(found[i])
	}
	return unread
}

// resolveLogged looks for what was not found among the objects in the log.
func (s *Store) resolveLogged(prefixes [][PrefixSize]byte, found [][]format.ID) {
	missing := map[[PrefixSize]byte][]int{}
	for i, ids := range found {
		if ids == nil {
			missing[prefixes[i]] = append(missing[prefixes[i]], i)
		}
	}
	for _, id := range s.Logged() {
		for _, i := range missing[[PrefixSize]byte(id[:])] {
			found[i] = append(found[i], id)
		}
	}
}

// sought says what to look for.
type sought struct {
	first bool // one id for each prefix is enough
	nodes bool // also nodes that stand in blocks that are not self-contained
}

// resolve adds to found what the pack has for each prefix: it looks into the index for each. With
// first it tries the objects behind those that it has found before it does so: neighbours in the
// log are mostly neighbours in a pack.
func (r *packReader) resolve(
	s *Store, prefixes [][PrefixSize]byte, what sought, found [][]format.ID,
) error {
	next := map[[PrefixSize]byte]uint32{} // the objects behind those that were found
	last := int64(0)                      // the number of the one that was found last
	expect := func(n uint32) {
		last = int64(n)
		for k := n + 1; k <= n+neighbours && int64(k) < int64(r.len()); k++ {
			if id, err := r.far(s, k, math.MaxInt); err == nil {
				next[[PrefixSize]byte(id[:])] = k
			}
		}
	}
	var unread error
	for i, p := range prefixes {
		if what.first && found[i] != nil {
			continue
		}
		if n, ok := next[p]; ok && what.first {
			id, err := r.far(s, n, math.MaxInt)
			if err != nil {
				return err
			}
			found[i] = append(found[i], id)
			delete(next, p)
			expect(n)
			continue
		}
		numbers, err := r.index.Find(binary.BigEndian.Uint32(p[:]))
		if err != nil {
			return r.p.blame(err)
		}
		if what.first && len(numbers) > 1 { // the near one is likelier, and its block at hand
			slices.SortStableFunc(numbers, func(a, b uint32) int {
				return cmp.Compare(max(int64(a)-last, last-int64(a)),
					max(int64(b)-last, last-int64(b)))
			})
		}
		for _, n := range numbers {
			id, ok, err := r.idAt(s, n, p, what.nodes)
			if err != nil || !ok {
				unread = errors.Join(unread, err)
				continue
			}
			if [PrefixSize]byte(id[:]) == p {
				found[i] = append(found[i], id)
				if what.first {
					expect(n)
					break
				}
			}
		}
	}
	return unread
}

// neighbours is how many objects behind one that was found may be what the next prefix stands for.
const neighbours = 2

// idAt returns the id of an object, which begins with a prefix by the index. ok is false for a node
// in a block that is not self-contained, unless nodes are sought. Where the store was lent one name
// with the prefix, no block is unpacked.
func (r *packReader) idAt(
	s *Store, n uint32, p [PrefixSize]byte, nodes bool,
) (id format.ID, ok bool, err error) {
	whole, err := r.isWhole(n)
	switch {
	case err != nil:
		return id, false, err
	case whole:
		if names := s.lent(); names != nil {
			if from, to := names.Begins(p); to == from+1 {
				return names.ID(from), true, nil
			}
		}
		id, err = r.far(s, n, math.MaxInt)
		return id, true, err
	case !nodes:
		return id, false, nil
	}
	o, err := r.object(s, n, true)
	return o.ID, true, err
}

func (r *packReader) isWhole(n uint32) (bool, error) {
	layout, err := r.layout()
	if err != nil {
		return false, err
	}
	span, _, ok := layout.Find(n)
	return ok && span.Kind == packs.Whole, nil
}

// CompressLog compresses a block of the log.
func (s *Store) CompressLog(raw []byte) ([]byte, error) {
	e, err := s.codec.logEncoder()
	if err != nil {
		return nil, err
	}
	return e.EncodeAll(raw, nil), nil
}

// DecompressLog is the inverse of CompressLog; size is the number of bytes that come out.
func (s *Store) DecompressLog(size int, frame []byte) ([]byte, error) {
	return s.codec.decode(size, frame)
}
