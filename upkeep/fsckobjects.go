package upkeep

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
)

// checkPlaces reads every loose file and every pack whole.
func (f *checker) checkPlaces() {
	inv, err := takeInventory(f.s, func(path string, err error) error {
		f.fault("pack", "index", path, err.Error())
		return nil
	})
	if err != nil {
		f.fault("object", "objects", "", err.Error())
		return
	}
	f.inv = inv
	f.report.Objects = len(inv.ids)
	for n, l := range inv.loose {
		f.placeFault(l.id.String(), f.s.Objects.CheckLoose(l.id))
		if n%1024 == 0 {
			f.o.Progress.tell(n, len(inv.loose), "checking loose objects")
			if f.ctx.Err() != nil {
				return
			}
		}
	}
	names, err := packNames(f.s, ".idx")
	if err != nil {
		f.fault("pack", "packs", "", err.Error())
	}
	for n, id := range names {
		f.o.Progress.tell(n, len(names), "checking packs")
		if err := f.s.Objects.CheckPack(id); err != nil && !f.replacedPack(id) {
			f.placeFault("pack "+id.String(), err)
		}
		if f.ctx.Err() != nil {
			return
		}
	}
}

// replacedPack reports whether a pack has gone since it was listed, as gc would have it go.
func (f *checker) replacedPack(id format.ID) bool {
	_, err := readPack(f.s, id)
	names, listErr := packNames(f.s, ".idx")
	if err == nil || listErr != nil {
		return false
	}
	for _, n := range names {
		if n == id {
			return false
		}
	}
	return true
}

func (f *checker) placeFault(subject string, err error) {
	if err == nil {
		return
	}
	f.unknown(err)
	kind := "object"
	if len(subject) > format.IDLen {
		kind = "pack"
	}
	var corrupt *objects.CorruptError
	if errors.As(err, &corrupt) {
		f.fault(kind, subject, corrupt.Path, corrupt.Why)
		return
	}
	f.fault(kind, subject, "", err.Error())
}

// checkGraph reads every header, and follows links from all that refs and the log name.
func (f *checker) checkGraph() {
	if f.inv == nil {
		return
	}
	g, err := readGraph(f.ctx, f.s, f.inv, f.checkHeader, f.o.Progress)
	if err != nil {
		if f.ctx.Err() == nil {
			f.fault("object", "objects", "", err.Error())
		}
		return
	}
	f.graph = g
	for i := range g.objects {
		if err := g.bad[uint32(i)]; err != nil && !errors.Is(err, objects.ErrNotFound) {
			f.placeFault(g.objects[i].id.String(), err)
		}
	}
	roots := append(f.roots, rootsOfBase(f.base)...)
	if f.refs != nil {
		roots = append(rootsOfRefs(f.refs), roots...)
	}
	f.follow(roots)
	for i := range g.objects {
		if g.marks[i]&reached != 0 {
			f.checkLinks(uint32(i))
		}
	}
}

func (f *checker) checkHeader(id format.ID, header []byte, p parsed) {
	again, err := p.encode()
	if err != nil || !bytes.Equal(again, header) {
		f.fault("object", id.String(), "", "header is not the one encoding of what it says")
	}
}

func (f *checker) follow(roots []root) {
	w := walk{graph: f.graph, mark: reached, lack: func(from uint32, l link, why error) error {
		if !l.id.IsZero() {
			f.fault("link", l.id.String(), "", fmt.Sprintf("named by %s as %s, and cannot be had: %v", f.subject(from), l.want, why))
		}
		return f.ctx.Err()
	}}
	for _, r := range roots {
		i, err := f.graph.meet(r.id)
		if err != nil {
			f.fault("link", r.id.String(), "", fmt.Sprintf("named by %s as %s, and cannot be had: %v", r.from, r.want, err))
			continue
		}
		if k := f.graph.objects[i].kind; k != r.want && k != anyKind && r.want != anyKind {
			f.fault("ref", r.from, "", fmt.Sprintf("names %v as %s, which is of kind %s", r.id, r.want, k))
		}
		if w.from(i) != nil {
			return
		}
	}
}

func (f *checker) subject(i uint32) string {
	o := f.graph.objects[i]
	return o.kind.String() + " " + o.id.String()
}

// checkLinks holds the kinds of what an object names, and of an entry its place in the order.
func (f *checker) checkLinks(i uint32) {
	g := f.graph
	for _, e := range g.below(i) {
		if k := g.objects[e.to()].kind; k != e.want() && k != anyKind {
			f.fault("link", g.objects[e.to()].id.String(), "", fmt.Sprintf("named by %s as %s, and is of kind %s", f.subject(i), e.want(), k))
		}
	}
	o := g.objects[i]
	if o.kind != entryKind || len(g.lost[i]) > 0 {
		return
	}
	want := uint64(0)
	up := g.parentsOf(i)
	for _, e := range up {
		if g.objects[e.to()].kind != entryKind {
			return
		}
	}
	if len(up) > 0 {
		want = g.objects[up[0].to()].seq
	}
	if o.message {
		want++
	}
	if len(up) > 1 {
		want += uint64(len(g.brought(i)))
	}
	if o.seq != want {
		f.fault("object", o.id.String(), "", fmt.Sprintf("entry has seq %d, its parents make it %d", o.seq, want))
	}
}

// checkBodies holds that what is in a pack without its body was forgotten, or is whole elsewhere. Bodies that are there have been
// checked with their files.
func (f *checker) checkBodies() {
	if f.inv == nil || f.graph == nil {
		return
	}
	for _, p := range f.inv.packs {
		for _, id := range p.bodyless {
			i, ok := f.graph.find(id)
			if !ok || f.graph.bad[i] != nil {
				continue
			}
			if k := f.graph.objects[i].kind; k == nodeKind || k == forestKind || k == pageKind {
				continue // these have none
			}
			_, err := f.s.Objects.Get(id)
			var gone *objects.GoneError
			if err != nil && !errors.As(err, &gone) && !errors.Is(err, objects.ErrNotFound) {
				f.placeFault(id.String(), err)
			}
		}
	}
}
