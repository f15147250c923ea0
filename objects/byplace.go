package objects

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	packs "github.com/gemini-ctx/ctx/format/pack"
)

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
