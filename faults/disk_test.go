package faults

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/lock"
)

// image is all there is below a directory: by its path from there, with slashes. It is never changed, nor are the bytes in it.
type image map[string]file

// file is a file, or a directory.
type file struct {
	dir  bool
	data []byte
	perm fs.FileMode
	time time.Time // zero: when it was written
}

var seed = maphash.MakeSeed()

// sum tells images apart within a run of the tests.
func (m image) sum() (s [2]uint64) {
	for path, f := range m {
		var h maphash.Hash
		h.SetSeed(seed)
		h.WriteString(path)
		fmt.Fprint(&h, f.dir, f.perm, len(path), f.time.UnixNano())
		h.Write(f.data)
		// The order of a map is none, so that of adding must not matter.
		s[0] += h.Sum64()
		h.WriteByte(0)
		s[1] += h.Sum64()
	}
	return s
}

// readImage reads a directory. Everything in it is given the same time.
func readImage(root string, at time.Time) (image, error) {
	m := image{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		f := file{dir: d.IsDir(), perm: info.Mode().Perm()}
		if !f.dir {
			f.time = at
			if f.data, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		m[filepath.ToSlash(rel)] = f
		return nil
	})
	return m, err
}

// event is a call as it was told of, with a copy of what it wrote.
type event struct {
	lock.Call
	file, path string // from the root, with slashes
}

func (e event) String() string { return fmt.Sprintf("%s %s", e.Op, e.path) }

// writes says that bytes went to a file, so that a part of them may have.
func (e event) writes() bool {
	return e.Op == lock.OpWrite || e.Op == lock.OpAppend || e.Op == lock.OpHint
}

// recorder is an FS that does everything, and keeps what it did below root. A call that ends with an error ends the recording with it: the model
// knows only what went well.
func recorder(root string) (*lock.FS, *[]event) {
	var list []event
	within := func(path string) string {
		rel, err := filepath.Rel(root, path)
		if err != nil || strings.HasPrefix(rel, "..") {
			panic(fmt.Sprintf("a durable call outside %q: %q", root, path))
		}
		return filepath.ToSlash(rel)
	}
	return &lock.FS{Told: func(c lock.Call, err error) {
		if err != nil {
			return // it did nothing: a folder that is there, a hint into one that is not
		}
		c.Data = bytes.Clone(c.Data)
		list = append(list, event{c, within(c.File), within(c.Path)})
	}}, &list
}

// node is a file or a directory of the model, whatever its names are.
type node struct {
	dir   bool
	perm  fs.FileMode
	time  time.Time
	names map[string]*node // of a directory, as programs see them
	kept  map[string]*node // as they are certain to be after a power cut
	data  []byte           // of a file, as programs see it
	saved []byte           // as it is certain to be after a power cut
	dirty bool             // data is not saved
}

func newDir(perm fs.FileMode) *node {
	return &node{dir: true, perm: perm, names: map[string]*node{}, kept: map[string]*node{}}
}

// change is what became of names, and is not certain to last. All of it does or none: a rename takes a name and gives one.
type change struct {
	dir   *node
	names []string
	nodes []*node // nil where the name went
}

// disk is what programs and power cuts make of a directory.
type disk struct {
	root    *node
	pending []change // oldest first
}

// newDisk is a disk on which all of an image is certain to last.
func newDisk(m image) *disk {
	d := &disk{root: newDir(0o700)}
	for _, path := range slices.Sorted(maps.Keys(m)) {
		f := m[path]
		n := &node{dir: f.dir, perm: f.perm, time: f.time, data: f.data, saved: f.data}
		if f.dir {
			n = newDir(f.perm)
		}
		dir, name := d.parent(path)
		dir.names[name], dir.kept[name] = n, n
	}
	return d
}

// parent returns the directory of a path and the name in it. A directory that nobody told of was made, and nobody made that last.
func (d *disk) parent(path string) (*node, string) {
	at := d.root
	parts := strings.Split(path, "/")
	for _, name := range parts[:len(parts)-1] {
		next := at.names[name]
		if next == nil {
			next = newDir(0o700)
			d.rename(at, change{dir: at, names: []string{name}, nodes: []*node{next}})
		}
		at = next
	}
	return at, parts[len(parts)-1]
}

func (d *disk) rename(dir *node, c change) {
	apply(dir.names, c)
	d.pending = append(d.pending, c)
}

func apply(names map[string]*node, c change) {
	for i, name := range c.names {
		if c.nodes[i] == nil {
			delete(names, name)
		} else {
			names[name] = c.nodes[i]
		}
	}
}

func (d *disk) at(path string) *node {
	if path == "." {
		return d.root
	}
	dir, name := d.parent(path)
	return dir.names[name]
}

// run has an event happen, with no more than the first part bytes of what it writes.
func (d *disk) run(e event, part int) {
	dir, name := d.parent(e.file)
	n := d.at(e.file)
	switch e.Op {
	case lock.OpWrite, lock.OpAppend, lock.OpHint:
		if n == nil {
			n = &node{perm: 0o600}
			if e.Op == lock.OpWrite {
				n.perm = e.Perm
			}
			d.rename(dir, change{dir, []string{name}, []*node{n}})
		}
		at := int(e.Off)
		if e.Op == lock.OpWrite {
			at = len(n.data)
		}
		data := append(bytes.Clone(n.data[:at]), e.Data[:part]...)
		if len(data) < len(n.data) {
			data = append(data, n.data[len(data):]...)
		}
		n.data, n.dirty, n.time = data, true, time.Time{}
	case lock.OpTruncate:
		n.data, n.dirty = n.data[:e.Off:e.Off], true
	case lock.OpSync:
		n.saved, n.dirty = n.data, false
	case lock.OpSyncDir:
		d.syncDir(d.at(e.path))
	case lock.OpRename, lock.OpHintRename:
		to, toName := d.parent(e.path)
		if to != dir {
			panic(fmt.Sprintf("a rename from one directory to another: %v", e))
		}
		d.rename(dir, change{dir, []string{name, toName}, []*node{nil, n}})
	case lock.OpRemove, lock.OpHintRemove:
		d.rename(dir, change{dir, []string{name}, []*node{nil}})
	case lock.OpMkdir:
		d.rename(dir, change{dir, []string{name}, []*node{newDir(0o700)}})
	case lock.OpChtimes:
		n.time = e.Time
	default:
		panic("what is " + e.Op + "?")
	}
}

func (d *disk) syncDir(dir *node) {
	d.pending = slices.DeleteFunc(d.pending, func(c change) bool {
		if c.dir != dir {
			return false
		}
		apply(dir.kept, c)
		return true
	})
}

// now is what is there as programs see it: what the crash of a program leaves.
func (d *disk) now() image {
	m := image{}
	collect(m, "", d.root, func(n *node) map[string]*node { return n.names }, func(n *node) []byte { return n.data })
	return m
}

func collect(m image, prefix string, dir *node, names func(*node) map[string]*node, data func(*node) []byte) {
	for name, n := range names(dir) {
		m[prefix+name] = file{dir: n.dir, perm: n.perm, time: n.time}
		if n.dir {
			collect(m, prefix+name+"/", n, names, data)
			continue
		}
		f := m[prefix+name]
		f.data = data(n)
		m[prefix+name] = f
	}
}

// sector is the least that a disk writes as a whole.
const sector = 512

// fate says what a power cut makes of something that was not certain to last.
type fate int

const (
	lost  fate = iota // as it was before
	whole             // it lasts all the same
	half              // of bytes: the first half of the new ones
	zeros             // of bytes: room for the new ones, never filled in
	begun             // of bytes: room for the new ones, filled in up to some sector
	ended             // of bytes: room for the new ones, filled in from some sector on
	fates
)

// cut is what a power cut leaves: names says of each change of names, oldest first, whether it lasts, and bytes what becomes of those of a file. Each is
// asked once for each.
func (d *disk) cut(names func() bool, bytesOf func() fate) image {
	kept := map[*node]map[string]*node{}
	namesOf := func(n *node) map[string]*node {
		if kept[n] != nil {
			return kept[n]
		}
		return n.kept
	}
	for _, c := range d.pending {
		if !names() {
			continue
		}
		if kept[c.dir] == nil {
			kept[c.dir] = maps.Clone(c.dir.kept)
		}
		apply(kept[c.dir], c)
	}
	left := map[*node][]byte{}
	m := image{}
	// In the order of names, so that a seed gives the same every time.
	collect(m, "", d.root, namesOf, func(n *node) []byte { return nil })
	for _, path := range slices.Sorted(maps.Keys(m)) {
		f := m[path]
		if f.dir {
			continue
		}
		n := find(d.root, path, namesOf)
		if _, ok := left[n]; !ok {
			left[n] = n.saved
			if n.dirty {
				left[n] = n.remains(bytesOf())
			}
		}
		f.data = left[n]
		m[path] = f
	}
	return m
}

func find(at *node, path string, names func(*node) map[string]*node) *node {
	for name := range strings.SplitSeq(path, "/") {
		at = names(at)[name]
	}
	return at
}

// remains is what a power cut leaves of a file's bytes.
func (n *node) remains(f fate) []byte {
	grown := len(n.data) - len(n.saved)
	switch {
	case f == whole:
		return n.data
	case f == half && grown >= 0:
		// What was written is all of the new bytes, or those at the end.
		from := len(n.saved)
		if !bytes.HasPrefix(n.data, n.saved) {
			from = 0
		}
		to := from + (len(n.data)-from)/2
		out := bytes.Clone(n.data[:to])
		if to < len(n.saved) {
			out = append(out, n.saved[to:]...)
		}
		return out
	case f == zeros && grown > 0:
		return append(bytes.Clone(n.saved), make([]byte, grown)...)
	case grown > 0 && bytes.HasPrefix(n.data, n.saved):
		out := bytes.Clone(n.data)
		at := max(len(n.saved), (len(n.saved)+grown/2)/sector*sector)
		if f == begun {
			clear(out[at:])
		} else {
			clear(out[len(n.saved):at])
		}
		if at == len(n.saved) {
			clear(out[at:])
		}
		return out
	}
	return n.saved
}

// unsafe says whether a power cut can take anything.
func (d *disk) unsafe() bool {
	if len(d.pending) > 0 {
		return true
	}
	return anyDirty(d.root)
}

func anyDirty(n *node) bool {
	for _, below := range n.names {
		if below.dirty || below.dir && anyDirty(below) {
			return true
		}
	}
	return false
}

// cutsOf are images that a power cut can leave: nothing lasts; all names do, with each fate for all bytes; and some at random.
func (d *disk) cutsOf(r *rand.Rand, random int) []image {
	if !d.unsafe() {
		return nil
	}
	always := func(b bool) func() bool { return func() bool { return b } }
	all := func(f fate) func() fate { return func() fate { return f } }
	list := []image{d.cut(always(false), all(lost))}
	for f := range fates {
		list = append(list, d.cut(always(true), all(f)))
	}
	for range random {
		list = append(list, d.cut(func() bool { return r.IntN(2) == 0 }, func() fate { return fate(r.IntN(int(fates))) }))
	}
	return list
}
