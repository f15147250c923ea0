package graph

import (
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/objects"
)

// ErrForgot says that something was forgotten while gc packed it, in each of its tries. Nothing
// was removed; gc can run again.
var ErrForgot = errors.New("something was forgotten meanwhile")

// Inventory lists where every object of a store is. An object that moves during the listing may
// be met in both places.
type Inventory struct {
	IDs    []format.ID // sorted, each once; nil once a graph has been made of them
	Logged []format.ID // in the log, oldest first
	Loose  []LoosePlace
	Packs  []*PackPlace

	loggedSize int64 // bytes of the objects in the log
}

// LoosePlace is an object in a file of its own.
type LoosePlace struct {
	ID   format.ID
	Time int64 // nanoseconds since 1970
	Size int64
}

// PackPlace is a pack and the objects in it.
type PackPlace struct {
	ID       format.ID
	Path     string
	Time     time.Time
	size     int64       // bytes of the pack and its index
	IDs      []format.ID // in the order that they were written in, which is the quick one to read them in; nil once a graph has been made
	Numbers  []uint32    // of the objects in the graph, in the same order
	Bodyless []format.ID // those without a body in this pack
	Old      bool        // it has a version that is no longer written
}

// TakeInventory lists the objects in the log, the loose objects, and then the packs, so that it
// meets an object that is packed meanwhile. It calls bad for a log or an index that cannot be read:
// an error from bad ends the listing, nil leaves out what is there.
func TakeInventory(s *session.Store, bad func(path string, err error) error) (*Inventory, error) {
	if err := s.Objects.RefreshLog(); err != nil {
		if err := bad(filepath.Join(s.Dir, "refs"), err); err != nil {
			return nil, err
		}
	}
	inv := &Inventory{Logged: s.Objects.Logged()}
	inv.IDs = append(inv.IDs, inv.Logged...)
	err := s.Objects.EachLogged(func(_ objects.Place, raw format.Raw) error {
		inv.loggedSize += int64(len(raw.Header) + len(raw.Body))
		return nil
	}, func(string, error) error { return nil })
	if err != nil {
		return nil, err
	}
	err = s.Objects.EachLoose(func(at objects.Info) error {
		inv.Loose = append(inv.Loose, LoosePlace{ID: at.ID, Time: at.ModTime.UnixNano(), Size: at.Size})
		inv.IDs = append(inv.IDs, at.ID)
		return nil
	})
	if err != nil {
		return nil, err
	}
	names, err := s.Objects.PackNames(objects.IndexExt)
	if err != nil {
		return nil, err
	}
	for _, id := range names {
		p, err := ReadPack(s, id)
		if errors.Is(err, fs.ErrNotExist) {
			continue // merged into another, or the pack itself is missing, which shows when its objects are read
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
		if p == nil {
			continue
		}
		inv.Packs = append(inv.Packs, p)
		inv.IDs = append(inv.IDs, p.IDs...)
	}
	slices.SortFunc(inv.IDs, format.ID.Compare)
	inv.IDs = slices.Compact(inv.IDs)
	return inv, nil
}

// ReadPack lists what is in one pack. With an error it lists what can be read of it, or is nil.
func ReadPack(s *session.Store, id format.ID) (*PackPlace, error) {
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
	c, err := s.Objects.PackContents(id)
	p.IDs, p.Bodyless, p.Old = c.IDs, c.Bodyless, c.Old
	return p, err
}

// Unpacked returns the objects in the log and the loose ones. One in both places comes twice.
func (inv *Inventory) Unpacked() iter.Seq[format.ID] {
	return func(yield func(format.ID) bool) {
		for _, id := range inv.Logged {
			if !yield(id) {
				return
			}
		}
		for _, l := range inv.Loose {
			if !yield(l.ID) {
				return
			}
		}
	}
}

// Size returns the number of bytes that the objects take.
func (inv *Inventory) Size() (n int64) {
	n = inv.loggedSize
	for _, l := range inv.Loose {
		n += l.Size
	}
	for _, p := range inv.Packs {
		n += p.size
	}
	return n
}
