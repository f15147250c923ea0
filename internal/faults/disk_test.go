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

	"github.com/gemini-ctx/ctx/internal/durable"
)

// image is the content of a directory: its files by their relative paths, with slashes. Neither the
// map nor the bytes in it are ever changed.
type image map[string]file

// file is a file or a directory.
type file struct {
	dir  bool
	data []byte
	perm fs.FileMode
	time time.Time // zero means the time written
}

var seed = maphash.MakeSeed()

// sum identifies an image within a run of the tests.
func (m image) sum() (s [2]uint64) {
	for path, f := range m {
		var h maphash.Hash
		h.SetSeed(seed)
		h.WriteString(path)
		fmt.Fprint(&h, f.dir, f.perm, len(path), f.time.UnixNano())
		h.Write(f.data)
		// A map has no order, so the sum must not depend on one.
		s[0] += h.Sum64()
		h.WriteByte(0)
		s[1] += h.Sum64()
	}
	return s
}

// readImage reads a directory. Everything in it gets the same time.
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

// event is a durable call, with a copy of the written bytes.
type event struct {
	durable.Call
	file, path string // relative to the root, with slashes
}

func (e event) String() string { return fmt.Sprintf("%s %s", e.Op, e.path) }

// writes reports whether the call writes bytes to a file, of which a crash may leave a part.
func (e event) writes() bool {
	return e.Op == durable.OpWrite || e.Op == durable.OpAppend || e.Op == durable.OpHint
}

// recorder returns an FS that performs all calls and records those below root. The recording ends
// at the first call with an error, because the model knows only successful calls.
func recorder(root string) (*durable.FS, *[]event) {
	var list []event
	within := func(path string) string {
		rel, err := filepath.Rel(root, path)
		if err != nil || strings.HasPrefix(rel, "..") {
			panic(fmt.Sprintf("a durable call outside %q: %q", root, path))
		}
		return filepath.ToSlash(rel)
	}
	return &durable.FS{OnStep: func(c durable.Call, err error) {
		if err != nil {
			return // without effect: an existing directory, or a hint in a missing one
		}
		c.Data = bytes.Clone(c.Data)
		list = append(list, event{c, within(c.File), within(c.Path)})
	}}, &list
}

// node is a file or a directory of the model, independent of its names.
type node struct {
	dir   bool
	perm  fs.FileMode
	time  time.Time
	names map[string]*node // of a directory, as programs see them
	kept  map[string]*node // the names that certainly survive a power cut
	data  []byte           // of a file, as programs see it
	saved []byte           // the data that certainly survives a power cut
	dirty bool             // data differs from saved
}

func newDir(perm fs.FileMode) *node {
	return &node{dir: true, perm: perm, names: map[string]*node{}, kept: map[string]*node{}}
}

// change is a change of names that may not survive a power cut. It survives as a whole or not at
// all: a rename removes one name and adds another.
type change struct {
	dir   *node
	names []string
	nodes []*node // nil for a removed name
}

// disk models what programs and power cuts make of a directory.
type disk struct {
	root    *node
	pending []change // oldest first
}

// newDisk returns a disk on which the whole image certainly survives.
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

// parent returns the directory of a path and the last name of the path. It makes missing
// directories, which do not survive a power cut.
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

// run applies an event, with only the first part bytes of its data.
func (d *disk) run(e event, part int) {
	dir, name := d.parent(e.file)
	n := d.at(e.file)
	switch e.Op {
	case durable.OpWrite, durable.OpAppend, durable.OpHint:
		if n == nil {
			n = &node{perm: 0o600}
			if e.Op == durable.OpWrite {
				n.perm = e.Perm
			}
			d.rename(dir, change{dir, []string{name}, []*node{n}})
		}
		at := int(e.Off)
		if e.Op == durable.OpWrite {
			at = len(n.data)
		}
		data := append(bytes.Clone(n.data[:at]), e.Data[:part]...)
		if len(data) < len(n.data) {
			data = append(data, n.data[len(data):]...)
		}
		n.data, n.dirty, n.time = data, true, time.Time{}
	case durable.OpTruncate:
		n.data, n.dirty = n.data[:e.Off:e.Off], true
	case durable.OpSync:
		n.saved, n.dirty = n.data, false
	case durable.OpSyncDir:
		d.syncDir(d.at(e.path))
	case durable.OpRename, durable.OpHintRename:
		to, toName := d.parent(e.path)
		if to != dir {
			panic(fmt.Sprintf("a rename from one directory to another: %v", e))
		}
		d.rename(dir, change{dir, []string{name, toName}, []*node{nil, n}})
	case durable.OpRemove, durable.OpHintRemove:
		d.rename(dir, change{dir, []string{name}, []*node{nil}})
	case durable.OpMkdir:
		d.rename(dir, change{dir, []string{name}, []*node{newDir(0o700)}})
	case durable.OpChtimes:
		n.time = e.Time
	case durable.OpRun:
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

// now returns the image that programs see, which a crash of the program leaves.
func (d *disk) now() image {
	m := image{}
	collect(m, "", d.root, func(n *node) map[string]*node { return n.names },
		func(n *node) []byte { return n.data })
	return m
}

func collect(
	m image, prefix string, dir *node, names func(*node) map[string]*node, data func(*node) []byte,
) {
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

// sector is the smallest number of bytes that a disk writes atomically.
const sector = 512

// fate is the effect of a power cut on something that does not certainly survive.
type fate int

const (
	lost  fate = iota // the old state
	whole             // the new state survives
	half              // of bytes: the first half of the new ones
	zeros             // of bytes: room for the new ones, never filled
	begun             // of bytes: room for the new ones, filled up to some sector
	ended             // of bytes: room for the new ones, filled from some sector on
	fates
)

// cut returns what a power cut leaves. It calls names for each change of names, oldest first, to
// ask whether the change survives, and bytesOf for each file, to ask for the fate of its bytes.
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
	// Files are in the order of their names, so that a seed always gives the same result.
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

// remains returns what a power cut leaves of a file's bytes.
func (n *node) remains(f fate) []byte {
	grown := len(n.data) - len(n.saved)
	switch {
	case f == whole:
		return n.data
	case f == half && grown >= 0:
		// Either all the new bytes were written, or those at the end.
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

// unsafe reports whether a power cut can change anything.
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

// cutsOf returns images that a power cut can leave: one where nothing survives, one for each fate
// of bytes where all names survive, and some at random.
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
		list = append(list,
			d.cut(func() bool { return r.IntN(2) == 0 },
				func() fate { return fate(r.IntN(int(fates))) }))
	}
	return list
}
