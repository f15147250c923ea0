package upkeep

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/session"
)

// inventory is where every object of a store is, as listed once. Objects that move meanwhile may be met in both places.
type inventory struct {
	ids   []format.ID // sorted, each once; nil once a graph has been made of them
	loose []loosePlace
	packs []*packPlace
}

// loosePlace is an object in a file of its own.
type loosePlace struct {
	id   format.ID
	time int64 // nanoseconds since 1970
	size int64
}

// packPlace is a pack and what its index lists.
type packPlace struct {
	id       format.ID
	path     string
	time     time.Time
	size     int64       // bytes of the pack and its index
	ids      []format.ID // in the order of their headers, which is the quick one to read them in; nil once a graph has been made
	numbers  []uint32    // of the objects in the graph, in the same order
	bodyless []format.ID // those without a body in this pack
}

// takeInventory lists the loose objects and then the packs, so that what is packed meanwhile is met. bad is told of a pack whose index
// cannot be read; its error ends the listing, nil goes on without that pack.
func takeInventory(s *session.Store, bad func(path string, err error) error) (*inventory, error) {
	inv := &inventory{}
	err := eachLoose(s, func(l loosePlace) {
		inv.loose = append(inv.loose, l)
		inv.ids = append(inv.ids, l.id)
	})
	if err != nil {
		return nil, err
	}
	names, err := packNames(s, ".idx")
	if err != nil {
		return nil, err
	}
	for _, id := range names {
		p, err := readPack(s, id)
		if errors.Is(err, fs.ErrNotExist) {
			continue // merged into another, or the pack itself is missing, which shows when its objects are read
		}
		if err != nil {
			if err := bad(indexPath(s, id), err); err != nil {
				return nil, err
			}
			continue
		}
		inv.packs = append(inv.packs, p)
		inv.ids = append(inv.ids, p.ids...)
	}
	slices.SortFunc(inv.ids, format.ID.Compare)
	inv.ids = slices.Compact(inv.ids)
	return inv, nil
}

// eachLoose calls each for the loose objects in the order of their ids, and looks at no pack.
func eachLoose(s *session.Store, each func(loosePlace)) error {
	for i := range 256 {
		xx := hexByte(i)
		dir := filepath.Join(s.Dir, "objects", xx)
		files, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("cannot list objects: %w", err)
		}
		for _, f := range files {
			id, err := format.ParseID(xx + f.Name())
			if err != nil {
				continue
			}
			info, err := f.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return fmt.Errorf("cannot list objects: %w", err)
			}
			each(loosePlace{id: id, time: info.ModTime().UnixNano(), size: info.Size()})
		}
	}
	return nil
}

func loosePath(s *session.Store, id format.ID) string {
	hex := id.String()
	return filepath.Join(s.Dir, "objects", hex[:2], hex[2:])
}

func absentPath(s *session.Store, id format.ID) string {
	hex := id.String()
	return filepath.Join(s.Dir, "absent", hex[:2], hex[2:])
}

func packDir(s *session.Store) string { return filepath.Join(s.Dir, "objects", "pack") }

func packPath(s *session.Store, id format.ID) string {
	return filepath.Join(packDir(s), "pack-"+id.String()+".pack")
}

func indexPath(s *session.Store, id format.ID) string {
	return filepath.Join(packDir(s), "pack-"+id.String()+".idx")
}

// packNames returns the ids of the files pack-<id><ext>, sorted.
func packNames(s *session.Store, ext string) ([]format.ID, error) {
	files, err := os.ReadDir(packDir(s))
	if errors.Is(err, fs.ErrNotExist) && exists(filepath.Dir(packDir(s))) {
		return nil, nil // something that copies no empty folders may have copied the store
	}
	if err != nil {
		return nil, fmt.Errorf("cannot list packs: %w", err)
	}
	var ids []format.ID
	for _, f := range files {
		hex, ok := strings.CutPrefix(f.Name(), "pack-")
		if hex, found := strings.CutSuffix(hex, ext); ok && found {
			if id, err := format.ParseID(hex); err == nil {
				ids = append(ids, id)
			}
		}
	}
	return ids, nil
}

// readPack reads the index of one pack.
func readPack(s *session.Store, id format.ID) (*packPlace, error) {
	p := &packPlace{id: id, path: packPath(s, id)}
	pack, err := os.Stat(p.path)
	if err != nil {
		return nil, err
	}
	file, err := lock.Open(indexPath(s, id))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	p.time, p.size = pack.ModTime(), pack.Size()+info.Size()
	index, err := format.OpenPackIndex(file, info.Size())
	if err == nil && index.Pack != id {
		err = errors.New("index is for another pack")
	}
	if err != nil {
		return nil, err
	}
	type placed struct {
		id     format.ID
		header int64
	}
	list := make([]placed, 0, index.Len())
	err = index.Each(0, func(id format.ID, at format.PackPlace) (bool, error) {
		list = append(list, placed{id, at.Header})
		if at.Body < 0 {
			p.bodyless = append(p.bodyless, id)
		}
		return true, nil
	})
	slices.SortFunc(list, func(a, b placed) int { return cmp.Compare(a.header, b.header) })
	p.ids = make([]format.ID, len(list))
	for i, at := range list {
		p.ids[i] = at.id
	}
	return p, err
}

// size is the number of bytes that the objects take.
func (inv *inventory) size() (n int64) {
	for _, l := range inv.loose {
		n += l.size
	}
	for _, p := range inv.packs {
		n += p.size
	}
	return n
}

// objectBytes is how many bytes the objects of a store take now.
func objectBytes(s *session.Store) (int64, error) {
	n := int64(0)
	if err := eachLoose(s, func(l loosePlace) { n += l.size }); err != nil {
		return 0, err
	}
	packs, err := s.Objects.Packs()
	for _, p := range packs {
		n += p.Size
	}
	return n, err
}
