package fsck

import (
	"bytes"
	"cmp"
	"errors"
	"path/filepath"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// checkPlaces reads every pack whole, and what the log carries.
func (f *checker) checkPlaces() {
	var faults []func() // of packs, which are told last
	list := func(ids []format.ID, pack format.ID) (objects.PackContents, error) {
		c, err := f.s.Objects.CheckContents(ids, pack)
		if err != nil && f.ctx.Err() == nil {
			if !f.replacedPack(pack) {
				faults = append(faults, func() { f.placeFault("pack "+pack.String(), err) })
			}
			return f.s.Objects.PackContentsBehind(ids, pack)
		}
		return c, f.ctx.Err()
	}
	inv, err := graph.TakeInventoryBy(f.s, list, f.o.Progress, func(path string, err error) error {
		if filepath.Ext(path) == objects.IndexExt { // checkLog tells of the log
			f.fault("pack", "index", path, "%v", err)
		}
		return nil
	})
	if err != nil {
		f.fault("object", "objects", "", "%v", err)
		return
	}
	f.inv = inv
	f.report.Objects = len(inv.IDs)
	// A damaged record is a fault of the log, which checkLog tells; these are its objects.
	for _, id := range inv.Logged {
		f.placeFault(id.String(), f.s.Objects.CheckLogged(id))
	}
	for _, tell := range faults {
		tell()
	}
}

// replacedPack reports whether gc has replaced a pack since fsck listed it.
func (f *checker) replacedPack(id format.ID) bool {
	names, err := f.s.Objects.PackNames(objects.IndexExt)
	return err == nil && !slices.Contains(names, id)
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
		f.fault(kind, subject, corrupt.Path, "%s", corrupt.Why)
		return
	}
	f.fault(kind, subject, "", "%v", err)
}

// readGraph reads every header.
func (f *checker) readGraph() {
	if f.inv == nil {
		return
	}
	g, err := graph.Read(f.ctx, f.s, f.inv, graph.Eye{Judge: f.judge, Tell: f.keepStone},
		f.o.Progress)
	if err != nil {
		if f.ctx.Err() == nil {
			f.fault("object", "objects", "", "%v", err)
		}
		return
	}
	f.inv.LetGo()
	f.graph, f.takeBack = g, g.Lend()
	slices.SortFunc(f.stones, func(a, b stone) int { return cmp.Compare(a.at, b.at) })
	for i := range uint32(g.Len()) {
		if err := g.Bad[i]; err != nil && !errors.Is(err, objects.ErrNotFound) {
			f.placeFault(g.ID(i).String(), err)
		}
	}
}

// checkGraph follows the links from the objects that refs and the log name.
func (f *checker) checkGraph() {
	if f.graph == nil {
		return
	}
	g := f.graph
	f.followAll()
	for i, marks := range g.Marks {
		if marks&twisted != 0 {
			f.fault("object", g.ID(uint32(i)).String(), "",
				"header is not the one encoding of what it says")
		}
		if marks&graph.Reached != 0 {
			f.checkLinks(uint32(i))
		}
	}
}

// stone is what a tombstone says besides what it names.
type stone struct {
	at                      uint32
	cluster, arrival, count uint64
}

func (f *checker) keepStone(i uint32, _ format.ID, read format.Object) {
	if t, ok := read.(*format.Tombstone); ok {
		f.stones = append(f.stones, stone{i, t.Cluster, t.Arrival, t.Count})
	}
}

// judge looks at an object while it is at hand: at the encoding of its header, and at the nonce of
// its body, which follows from the key.
func (f *checker) judge(raw format.Raw, read format.Object) (marks graph.Mark) {
	again, err := read.Encode()
	if err != nil || !bytes.Equal(again, raw.Header) {
		marks |= twisted
	}
	fits, known, err := f.s.Store.FitsKey(raw)
	switch {
	case err != nil || !known: // checkKey tells of a key that cannot be read
	case fits:
		marks |= fitting
	default:
		marks |= foreign
	}
	return marks
}

// followAll marks what refs and the log lead to. It reads the log once more: what a long log names
// takes much memory.
func (f *checker) followAll() {
	if f.refs != nil && !f.follow(graph.RootsOfRefs(f.refs)) {
		return
	}
	goes := true
	if f.read > f.baseNumber {
		_ = f.s.Refs.Forward(func(r refs.Record) bool { // checkLog tells what cannot be read
			goes = r.Op.Number > f.read || f.follow(graph.RootsOfRecord(r.Op))
			return goes && r.Op.Number < f.read
		})
	}
	if goes {
		f.follow(graph.RootsOfBase(f.base))
	}
}

// follow marks some objects and what they lead to. It returns false if the run is to end.
func (f *checker) follow(roots []graph.Root) bool {
	w := graph.Walk{Graph: f.graph, Mark: graph.Reached,
		Missing: func(from uint32, l format.Link, why error) error {
			if !l.ID.IsZero() {
				f.fault("link", l.ID.String(), "", "named by %s as %s, and cannot be had: %v",
					f.subject(from), l.Want, why)
			}
			return f.ctx.Err()
		}}
	for _, r := range roots {
		i, err := f.graph.Meet(r.ID)
		if err != nil {
			f.fault("link", r.ID.String(), "",
				"named by %s as %s, and cannot be had: %v", r.From, r.Want, err)
			continue
		}
		if k := f.graph.Kind(i); k != r.Want && k != format.AnyKind && r.Want != format.AnyKind {
			f.fault("ref", r.From, "", "names %v as %s, which is of kind %s", r.ID, r.Want, k)
		}
		if w.From(i) != nil {
			return false
		}
	}
	return true
}

func (f *checker) subject(i uint32) string {
	return f.graph.Kind(i).String() + " " + f.graph.ID(i).String()
}

// checkLinks checks the kinds of the objects that an object names, and the place of an entry in the
// order.
func (f *checker) checkLinks(i uint32) {
	g := f.graph
	for _, e := range g.Below(i) {
		if k := g.Kind(e.To()); k != e.Want() && k != format.AnyKind {
			f.fault("link", g.ID(e.To()).String(), "",
				"named by %s as %s, and is of kind %s", f.subject(i), e.Want(), k)
		}
	}
	if g.Kind(i) != format.EntryKind || len(g.Lost[i]) > 0 || g.Stands(i) {
		return
	}
	want := uint64(0)
	up := g.ParentsOf(i)
	for _, e := range up {
		if g.Kind(e.To()) != format.EntryKind || g.Stands(e.To()) {
			return
		}
	}
	if len(up) > 0 {
		want = g.Seq(up[0].To())
	}
	if g.Message(i) {
		want++
	}
	if len(up) > 1 && g.Holed() {
		return // some of what the join brought may be out of reach
	}
	if len(up) > 1 {
		want += uint64(len(g.Brought(i)))
	}
	if seq := g.Seq(i); seq != want {
		f.fault("object", g.ID(i).String(), "",
			"entry has seq %d, its parents make it %d", seq, want)
	}
}

// checkBodies checks that the body of an object that a pack has without its body was forgotten, or
// is stored elsewhere. checkPlaces has checked the bodies that exist.
func (f *checker) checkBodies() {
	if f.inv == nil || f.graph == nil {
		return
	}
	for _, p := range f.inv.Packs {
		for i := range p.Bodyless() {
			if f.graph.Bad[i] != nil || !f.graph.Kind(i).HasBody() {
				continue
			}
			id := f.graph.ID(i)
			_, err := f.s.Objects.Get(id)
			if err != nil && !objects.IsGone(err) && !errors.Is(err, objects.ErrNotFound) {
				f.placeFault(id.String(), err)
			}
		}
	}
	f.inv = nil // what follows takes much memory, and asks the graph alone
}
