package graph

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/objects"
)

// ErrForgot says that something was forgotten while gc packed it, in each of its tries. Nothing
// was removed; gc can run again.
var ErrForgot = errors.New("something was forgotten meanwhile")

// Inventory lists where every object of a store is. An object that moves during the listing may
// be met in both places.
type Inventory struct {
	// Sorted, each once; an object is known by its place here. nil once a graph has been made
	IDs    []format.ID
	Logged []format.ID // in the log, oldest first
	Packs  []*PackPlace
	Holes  []format.ID // lost, and another header stands for each; some may be there all the same

	loggedSize int64 // bytes of the objects in the log
}

// PackPlace is a pack and the objects in it.
type PackPlace struct {
	ID      format.ID
	Path    string
	Time    time.Time
	size    int64    // bytes of the pack and its index
	Numbers []uint32 // of its objects, in the order that they were written in

	count int // of its ids, in an inventory
	// Places in Numbers of those whose body is not in this pack; numbers after LetGo
	bodyless []uint32
}

// LetGo frees the numbers of the objects of packs, but for those of Bodyless.
func (inv *Inventory) LetGo() {
	for _, p := range inv.Packs {
		for k, at := range p.bodyless {
			p.bodyless[k] = p.Numbers[at]
		}
		p.Numbers = nil
	}
}

// Bodyless returns the numbers of the objects whose body is not in a pack of an inventory, and of
// an old pack also of those that have none.
func (p *PackPlace) Bodyless() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for _, at := range p.bodyless {
			if p.Numbers != nil {
				at = p.Numbers[at]
			}
			if !yield(at) {
				return
			}
		}
	}
}

// TakeInventory lists the objects in the log and then the packs, so that it meets an object that is
// packed meanwhile. It calls bad for a log or an index that cannot be read: an error from bad ends
// the listing, nil leaves out what is there.
func TakeInventory(s *store.Opened, bad func(path string, err error) error) (*Inventory, error) {
	return TakeInventoryBy(s, s.Objects.PackContentsBehind, nil, bad)
}

// Lister lists the objects of a pack behind ids, as objects.Store.PackContentsBehind does.
type Lister func(ids []format.ID, pack format.ID) (objects.PackContents, error)

// TakeInventoryBy is TakeInventory for who has a way of its own to list a pack.
func TakeInventoryBy(
	s *store.Opened, list Lister, progress Progress, bad func(path string, err error) error,
) (*Inventory, error) {
	if err := s.Objects.RefreshLog(); err != nil {
		if err := bad(filepath.Join(s.Dir, "refs"), err); err != nil {
			return nil, err
		}
	}
	inv := &Inventory{Logged: s.Objects.Logged()}
	err := s.Objects.EachLogged(func(_ objects.Place, raw format.Raw) error {
		inv.loggedSize += int64(len(raw.Header) + len(raw.Body))
		return nil
	}, func(string, error) error { return nil })
	if err != nil {
		return nil, err
	}
	if inv.Holes, err = s.Objects.Holes(); err != nil {
		return nil, err
	}
	names, err := s.Objects.PackNames(objects.IndexExt)
	if err != nil {
		return nil, err
	}
	total := len(inv.Logged) + len(inv.Holes)
	for _, id := range names {
		n, _ := s.Objects.PackLen(id) // ReadPack tells what is wrong
		total += n
	}
	// There may be millions: they are to have their room from the first pack on.
	inv.IDs = make([]format.ID, 0, total+spareIDs)
	for n, id := range names {
		progress.Tell(n, len(names), "listing packs")
		p, err := inv.addPack(s, list, id)
		if errors.Is(err, fs.ErrNotExist) {
			// Merged into another, or the pack itself is missing, which shows when its
			// objects are read
			continue
		}
		if err != nil {
			path := s.Objects.IndexPath(id)
			var corrupt *objects.CorruptError
			if errors.As(err, &corrupt) && corrupt.Path != "" {
				path = corrupt.Path
			}
			if err := bad(path, err); err != nil {
				return nil, err
			}
		}
		if p != nil {
			inv.Packs = append(inv.Packs, p)
		}
	}
	inv.number()
	return inv, nil
}

// spareIDs is for how many objects that come later a graph has room before it takes all of its
// memory anew.
const spareIDs = 1 << 10

// addPack lists what is in a pack behind what was listed before. With an error it lists what can be
// read of it, or is nil.
func (inv *Inventory) addPack(s *store.Opened, list Lister, id format.ID) (*PackPlace, error) {
	p := &PackPlace{ID: id, Path: s.Objects.PackPath(id)}
	pack, err := os.Stat(p.Path)
	if err != nil {
		return nil, err
	}
	index, err := os.Stat(s.Objects.IndexPath(id))
	if err != nil {
		return nil, err
	}
	p.Time, p.size = pack.ModTime(), pack.Size()+index.Size()
	before := len(inv.IDs)
	c, err := list(inv.IDs, id)
	inv.IDs, p.bodyless, p.count = c.IDs, c.Bodyless, len(c.IDs)-before
	return p, err
}

// number makes the sorted list of ids, and gives each pack the places of its objects in it.
func (inv *Inventory) number() {
	ids := append(append(inv.IDs, inv.Logged...), inv.Holes...)
	order := sortedOrder(ids)
	numbers := make([]uint32, len(ids)) // of each id
	n := uint32(0)
	for k, at := range order {
		if k > 0 && ids[at] != ids[order[k-1]] {
			n++
		}
		numbers[at] = n
	}
	arrange(ids, order)
	// Many are in several places
	if inv.IDs = slices.Compact(ids); cap(ids)-len(inv.IDs) > len(ids)/4+spareIDs {
		inv.IDs = append(make([]format.ID, 0, len(inv.IDs)+spareIDs), inv.IDs...)
	}
	for _, p := range inv.Packs {
		p.Numbers, numbers = numbers[:p.count:p.count], numbers[p.count:]
	}
}

// sortedOrder returns the places of ids in the order of the ids.
func sortedOrder(ids []format.ID) []uint32 {
	fan := fanOf(ids)
	next := slices.Clone(fan[:len(fan)-1])
	order := make([]uint32, len(ids))
	for at, id := range ids {
		n := &next[fanPlace(id)]
		order[*n] = uint32(at)
		*n++
	}
	for k := range next {
		slices.SortFunc(order[fan[k]:fan[k+1]],
			func(a, b uint32) int { return ids[a].Compare(ids[b]) })
	}
	return order
}

// arrange puts ids into an order, in place. Afterwards the order is that in which they are.
func arrange(ids []format.ID, order []uint32) {
	for k := range order {
		first := ids[k]
		for at := uint32(k); order[at] != at; {
			from := order[at]
			order[at] = at
			if from == uint32(k) {
				ids[at] = first
				break
			}
			ids[at] = ids[from]
			at = from
		}
	}
}

// Size returns the number of bytes that the objects take.
func (inv *Inventory) Size() (n int64) {
	n = inv.loggedSize
	for _, p := range inv.Packs {
		n += p.size
	}
	return n
}

// names are the ids of an inventory, sorted, with their places in it as numbers. It is what a graph
// lends to the store: other than the graph, it never changes.
type names struct {
	ids []format.ID
	fan []uint32 // by the first fanBits of an id: how many ids begin with less
}

func newNames(ids []format.ID) names { return names{ids: ids[:len(ids):len(ids)], fan: fanOf(ids)} }

// fanBits is how many bits of an id lead to the few objects that begin with them.
const fanBits = 16

func fanPlace(id format.ID) int { return int(binary.BigEndian.Uint16(id[:])) }

// fanOf counts sorted ids by their first bits: those that begin with less than n are fan[n].
func fanOf(ids []format.ID) []uint32 {
	fan := make([]uint32, 1<<fanBits+1)
	for _, id := range ids {
		fan[fanPlace(id)+1]++
	}
	for n := range 1 << fanBits {
		fan[n+1] += fan[n]
	}
	return fan
}

func (n names) Len() int { return len(n.ids) }

func (n names) ID(i uint32) format.ID { return n.ids[i] }

func (n names) Find(id format.ID) (uint32, bool) {
	at := fanPlace(id)
	lo, hi := n.fan[at], n.fan[at+1]
	for lo < hi {
		mid := lo + (hi-lo)/2
		switch n.ids[mid].Compare(id) {
		case 0:
			return mid, true
		case -1:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return 0, false
}
