package fsck

import (
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/objects"
)

// checkAbsent compares the records of absent bodies with the files of forgets.
func (f *checker) checkAbsent() {
	known, ok := f.checkForgets()
	forgotten, unfinished, lost, holes := []format.ID{}, 0, 0, 0
	err := f.s.Objects.EachAbsent(func(id format.ID, path string) error {
		a, err := ReadAbsent(id, path)
		if err != nil {
			f.unknown(err)
			f.fault("absent", id.String(), path, "%v", err)
			return f.ctx.Err()
		}
		switch {
		case a.Header == nil:
		case f.s.Objects.StandsFor(id):
			holes++
		default: // the object came back in another way than by a write
			return f.ctx.Err()
		}
		if a.Reason != format.ReasonForgotten {
			if a.Header == nil {
				lost++
			}
			return f.ctx.Err()
		}
		forgotten = append(forgotten, id)
		if raw, err := f.s.Objects.Get(id); err == nil && raw.Body != nil {
			unfinished++
		}
		return f.ctx.Err()
	})
	if err != nil && f.ctx.Err() == nil {
		f.fault("absent", "absent", "", "%v", err)
	}
	switch {
	case known.Half != nil:
		f.note(
			"a forget was cut short; the next writer finishes it, or takes it back if it " +
				"was not recorded")
	case unfinished > 0:
		f.note("%d bodies that were forgotten are stored again; forget them again", unfinished)
	}
	if lost > 0 {
		f.note("%d bodies are lost, by the word of a repair", lost)
	}
	if holes > 0 {
		f.note("%d objects are lost, and another header stands for each, by the word of a repair",
			holes)
	}
	if ok {
		f.checkForgotten(known, forgotten)
	}
}

// ReadAbsent reads the record of the absent body of an object.
func ReadAbsent(id format.ID, path string) (*format.Absent, error) {
	b, err := durable.ReadAtMost(path, objects.MaxAbsentFile)
	if err != nil {
		return nil, err
	}
	a, err := format.DecodeAbsent(b)
	if err == nil && a.Object != id {
		err = fmt.Errorf("record is for object %v", a.Object)
	}
	return a, err
}

// checkForgets reads the files of forgets. ok is false if a file is missing or cannot be read.
func (f *checker) checkForgets() (known Forgets, ok bool) {
	known, faults := ReadForgets(f.s)
	for _, x := range faults {
		f.fault(x.Kind, x.Subject, x.Path, "%s", x.Why)
	}
	ok = len(faults) == 0
	for _, at := range known.list {
		gone, err := f.s.Objects.Gone(at.Objects)
		path := f.s.Objects.Path(objects.ForgottenName(at.Operation))
		if err != nil {
			f.fault("absent", objects.ForgottenName(at.Operation), path, "%v", err)
		} else if lack := len(at.Objects) - len(gone); lack > 0 {
			f.fault("absent", objects.ForgottenName(at.Operation), path,
				"%d objects that it names have no record of their own", lack)
		}
	}
	for _, n := range f.forgetOps {
		name := objects.ForgottenName(n)
		if known.Half != nil && known.Half.Operation == n || slices.Contains(known.Files, n) {
			continue
		}
		ok = false
		f.fault("absent", name, f.s.Objects.Path(name),
			"is missing, and operation %d forgot something: what it forgot is not known "+
				"by its words", n)
	}
	return known, ok
}

// Forgets is the content of a store's files of forgets.
type Forgets struct {
	list  []*format.Forgotten // those that can be read, in the order of their operations
	Files []uint64            // the operations that have a file, in order
	Half  *format.Forgotten   // of a forget that a crash cut short; nil if there is none
}

// ReadForgets reads all files of forgets. A fault names a file that cannot be read.
func ReadForgets(s *store.Opened) (known Forgets, faults []Fault) {
	fault := func(name string, why error) {
		path := s.Objects.Path(name)
		faults = append(faults, Fault{Kind: "absent", Subject: name, Path: path, Why: why.Error()})
	}
	// The unfinished file comes first: it is renamed to one of the others when its forget ends.
	var err error
	if known.Half, err = s.History.Unfinished(); err != nil {
		fault(objects.UnfinishedName(), err)
	}
	if known.Files, err = s.History.Forgets(); err != nil {
		fault("absent", err)
	}
	for _, n := range known.Files {
		f, err := s.History.Forgotten(n)
		if err == nil && f.Operation != n {
			err = fmt.Errorf("is of operation %d", f.Operation)
		}
		if err != nil {
			fault(objects.ForgottenName(n), err)
			continue
		}
		known.list = append(known.list, f)
	}
	return known, faults
}

// Lists reports whether some operation forgot the body of an object.
func (k *Forgets) Lists(id format.ID) bool {
	has := func(f *format.Forgotten) bool { return f.Has(id) }
	return k.Half != nil && has(k.Half) || slices.ContainsFunc(k.list, has)
}

// WithheldBy returns the first operation that can be the reason why an entry was stored without its
// body: it forgot the source of the entry, or words that are short enough for the body. Whether the
// body held these words is not known. It returns 0 if there is no such operation.
func (k *Forgets) WithheldBy(s *store.Opened, header []byte) (uint64, error) {
	body, named, err := format.HeaderBody(header)
	if err != nil || !named {
		return 0, err
	}
	var source format.ID
	if key, ok := format.SourceKey(header); ok {
		if source, err = s.History.SourceDigest(key); err != nil {
			return 0, err
		}
	}
	room := func(t format.Trace) bool { return int64(t.Size) <= body.Size-format.NonceLen }
	// The size of parts says nothing about the size of their words.
	words := func(t format.Trace) bool { return body.Media != format.MediaText || room(t) }
	for _, f := range k.list {
		said := slices.ContainsFunc(f.Texts, words) || slices.ContainsFunc(f.Phrases, room)
		if said || slices.Contains(f.Sources, source) {
			return f.Operation, nil
		}
	}
	return 0, nil
}

// checkForgotten checks every record of a forgotten body: an operation must list the object, or the
// object is a later entry that could hold words which an operation forgot.
func (f *checker) checkForgotten(known Forgets, ids []format.ID) {
	if f.graph == nil || !f.logOK {
		return
	}
	type late struct {
		i  uint32
		by uint64
	}
	var withheld []late
	for _, id := range ids {
		i, ok := f.graph.Find(id)
		if !ok || f.graph.Marks[i]&graph.Reached == 0 || known.Lists(id) {
			continue
		}
		var by uint64
		if f.graph.Kind(i) == format.EntryKind {
			header, err := f.s.Objects.Header(id)
			if err == nil {
				by, err = known.WithheldBy(f.s, header)
			}
			if err != nil {
				continue // checkPlaces reports it
			}
		}
		if by == 0 {
			f.madeUp(i)
		} else {
			withheld = append(withheld, late{i, by})
		}
	}
	if len(withheld) == 0 {
		return
	}
	said := f.saidBy()
	for _, w := range withheld {
		if n := said[w.i]; n != 0 && n <= w.by {
			f.madeUp(w.i)
		}
	}
}

func (f *checker) madeUp(i uint32) {
	id := f.graph.ID(i)
	f.fault("absent", id.String(), f.s.Objects.AbsentPath(id),
		"says that the body of %s was forgotten, and no operation forgot it", f.subject(i))
}

// saidBy returns, by number of the object, the operation that brought each entry into the history.
// For entries from before the kept log it returns the last operation before the log.
func (f *checker) saidBy() []uint64 {
	g := f.graph
	said := make([]uint64, g.Len())
	bring := func(id format.ID, by uint64) {
		i, ok := g.Find(id)
		if !ok {
			return
		}
		for stack := []uint32{i}; len(stack) > 0; {
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if said[top] != 0 || g.Kind(top) != format.EntryKind {
				continue
			}
			said[top] = by
			for _, e := range g.Below(top) {
				stack = append(stack, e.To())
			}
		}
	}
	for _, name := range graph.SortedNames(f.base) {
		bring(f.base[name].ID, f.baseNumber)
	}
	for _, m := range f.moves {
		bring(m.ref.New.ID, m.op.Number)
	}
	return said
}
