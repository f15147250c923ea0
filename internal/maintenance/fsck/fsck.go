// Package fsck reads a whole store and reports every fault in it. It takes no lock, changes
// nothing, and goes on after a fault.
//
// Begin with Run, which lists the checks in order. Each file holds one sort of check.
package fsck

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/refs"
)

// Options are for Run.
type Options struct {
	Progress graph.Progress
}

// Fault is something that is not as it must be.
type Fault struct {
	// Format, key, log, ref, object, pack, link, session, forest, absent: where to look
	Kind    string `json:"kind"`
	Subject string `json:"subject"`        // an id, a ref, an operation
	Path    string `json:"path,omitempty"` // the damaged file; "" if there is none
	Why     string `json:"why"`
}

func (f Fault) String() string {
	s := f.Kind + " " + strings.TrimPrefix(f.Subject, f.Kind+" ") + ": " + f.Why
	if f.Path != "" {
		s += fmt.Sprintf(" (%q)", f.Path)
	}
	return s
}

// Report is what Run found.
type Report struct {
	Objects    int // an object in two places counts once
	Operations int
	Faults     []Fault
	// Notes are harmless remains of crashes and of normal use, one a line: a torn tail, temporary
	// files, objects that nothing names.
	Notes []string

	Newer error // from an object or record that a newer build wrote; nil if there is none
}

// Run reads all of a store and checks it: every object in every place against its id, its digest
// and the encoding of its kind; every pack and its index; the log from its beginning, and the
// refs against it; that everything below refs and log is there; the order of entries; the
// forests, by replaying the log; and their members against the sessions. It goes on after a fault.
// Run takes no lock and changes nothing, so that writers can work meanwhile. The only error is that
// of ctx.
func Run(ctx context.Context, s *store.Opened, o Options) (Report, error) {
	defer graph.Frugal(graph.Upkeep)()
	defer s.Objects.KeepFew()()
	f := &checker{ctx: ctx, s: s, o: o, reported: map[Fault]bool{},
		takeBack: func() error { return nil }}
	defer func() { _ = f.takeBack() }() // it closes files that were read
	for _, step := range []func(){f.checkFormat, f.checkPlaces, f.readGraph, f.checkLog,
		f.checkGraph, f.checkKey, f.checkBodies, f.checkAbsent, f.checkMoves, f.checkSessions,
		f.checkEpochs, f.checkForests, f.checkLeftovers} {
		if err := ctx.Err(); err != nil {
			return f.report, err
		}
		step()
	}
	return f.report, ctx.Err()
}

// checker is one run of Run.
type checker struct {
	ctx      context.Context
	s        *store.Opened
	o        Options
	report   Report
	reported map[Fault]bool

	base   map[string]format.Value
	refs   map[string]format.Value // nil if they cannot be read
	logOK  bool
	number uint64 // of the newest operation that is checked
	read   uint64 // the last operation of the log that checkLog read

	// Of the last operation before the kept log; 0 where the log is kept from its beginning
	baseNumber uint64
	moves      []refMove // what the operations of the kept log did to refs, in order
	forgetOps  []uint64  // the operations of the kept log that forgot something, in order

	inv    *graph.Inventory
	graph  *graph.Graph
	stones []stone // by the numbers of the objects

	takeBack func() error // ends what the graph lends to the store
}

// The marks of fsck.
const (
	due      graph.Mark = graph.Reached << (iota + 1) // a message up to a frontier of its branch
	inBranch                                          // some session stands on it
	member                                            // it is in a cluster
	twice                                             // it is in more than one
	twisted                                           // its header has another encoding
	fitting                                           // its nonce follows from the key
	foreign                                           // its nonce does not
)

func (f *checker) fault(kind, subject, path, why string, args ...any) {
	x := Fault{Kind: kind, Subject: subject, Path: path, Why: fmt.Sprintf(why, args...)}
	if !f.reported[x] {
		f.reported[x] = true
		f.report.Faults = append(f.report.Faults, x)
	}
}

// opFault is fault for an operation of the log.
func (f *checker) opFault(op *format.Operation, why string, args ...any) {
	f.fault("log", fmt.Sprintf("operation %d", op.Number), "", why, args...)
}

// unknown records that a newer build wrote an object or a record.
func (f *checker) unknown(err error) {
	var version *format.VersionError
	if errors.As(err, &version) {
		f.report.Newer = version
	}
}

func (f *checker) note(text string, args ...any) {
	f.report.Notes = append(f.report.Notes, fmt.Sprintf(text, args...))
}

// checkLeftovers notes unfinished writes and unreachable objects, which do no harm.
func (f *checker) checkLeftovers() {
	left, err := store.Leftovers(f.s, f.s.Now().Add(-store.Leftover))
	if err != nil {
		f.note("cannot look for leftovers: %v", err)
	}
	if len(left) > 0 {
		f.note("%d leftovers of unfinished writes; gc removes them", len(left))
	}
	aside, err := store.SetAsides(f.s.Dir)
	if err != nil {
		f.note("cannot look for files that other programs set aside: %v", err)
	}
	for _, one := range aside {
		f.note("%v", one)
	}
	if slices.ContainsFunc(aside, func(one store.SetAside) bool { return !one.Known }) {
		f.note("to bring that in, %s", store.SetAsideHint)
	}
	orphans, err := f.s.Objects.Orphans()
	if err == nil && len(orphans) > 0 {
		f.note("%d packs without an index; rebuild makes it again", len(orphans))
	}
	if f.graph == nil {
		return
	}
	dangling := 0
	for i, marks := range f.graph.Marks {
		if marks&graph.Reached == 0 && !f.graph.Stands(uint32(i)) {
			dangling++
		}
	}
	if dangling > 0 {
		f.note("%d objects that nothing names; gc removes them after %v", dangling,
			repo.DurationText(f.s.Config.GC.Grace))
	}
	f.noteDangling()
}

// maxDanglingNotes is how many unreachable entries are noted one by one.
const maxDanglingNotes = 16

// noteDangling notes the newest unreachable entries: the rest of operations that were never
// recorded, or whose records are lost with the end of the log.
func (f *checker) noteDangling() {
	tips := graph.DanglingTips(f.graph)
	for n, t := range tips {
		if n == maxDanglingNotes {
			f.note("%d more such entries", len(tips)-n)
			return
		}
		f.note("entry %v of session %q, of %s, is named by nothing", t.ID, t.Entry.Session,
			t.Entry.Time.UTC().Format(time.RFC3339))
	}
}

// checkFormat compares the store's id with the ids in the log and the checkpoints. If all of these
// agree on another id, the format file is damaged.
func (f *checker) checkFormat() {
	other := OtherStore(f.s.Dir, f.s.ID)
	if other != "" {
		f.fault("format", "format", filepath.Join(f.s.Dir, "format"),
			"says that this is store %s, and all that is in refs says that it is store %s",
			f.s.ID, other)
	}
}

// MaxSegment bounds a segment of the log: the last record of one may be as long as a record can be.
const MaxSegment = refs.SegmentSize + format.MaxPayload + 1<<20

// OtherStore returns the store id that all readable checkpoints and segments have in common, if it
// differs from the given one.
func OtherStore(dir, id string) string {
	files, err := os.ReadDir(filepath.Join(dir, "refs"))
	if err != nil {
		return ""
	}
	var said []string
	for _, file := range files {
		if b, err := durable.ReadAtMost(filepath.Join(dir, "refs", file.Name()),
			MaxSegment); err == nil {
			if other, ok := storeOf(b); ok {
				said = append(said, other)
			}
		}
	}
	slices.Sort(said)
	if said = slices.Compact(said); len(said) == 1 && said[0] != id {
		return said[0]
	}
	return ""
}

// storeOf returns the store that a sound checkpoint, or the first line of a segment, names.
func storeOf(b []byte) (id string, ok bool) {
	if c, err := format.DecodeCheckpoint(b); err == nil {
		return c.Store, true
	}
	line, _, _ := bytes.Cut(b[:min(len(b), 200)], []byte{'\n'})
	var first uint64
	n, err := fmt.Sscanf(string(line), "ctx-log 1 %s %d", &id, &first)
	return id, err == nil && n == 2 && len(id) == 32 && strings.Trim(id, "0123456789abcdef") == ""
}

// checkKey checks the key against every body in use with a nonce, as judge saw it. It accepts
// the note of a repair that replaced a lost key, if the present key signed that note.
func (f *checker) checkKey() {
	path := filepath.Join(f.s.Dir, "key")
	if _, err := f.s.Key(); err != nil {
		f.fault("key", "key", path, "%v", err)
		return
	}
	if f.graph == nil {
		return
	}
	fit, others, some := 0, 0, ""
	for i, marks := range f.graph.Marks {
		switch {
		case marks&graph.Reached == 0:
		case marks&fitting != 0:
			fit++
		case marks&foreign != 0:
			others, some = others+1, f.subject(uint32(i))
		}
	}
	isNew, err := f.s.Store.KeyIsNew()
	if marked, known, bad := f.s.Store.KeyMarked(f.refs[history.KeyRef]); known &&
		marked && bad == nil {
		return // the nonces of what was pulled follow from the keys of others
	}
	switch {
	case err != nil:
		f.fault("key", "key", path, "%v", err)
	case isNew && fit == 0:
		f.note("the key is a new one, and nothing was written with it yet")
	case isNew && others > 0:
		f.note("the key is a new one; %d objects were written with the one that was lost", others)
	case others == 0 || isNew:
	case fit == 0:
		f.fault("key", "key", path, "is not the one that anything in the store was written with")
	default:
		f.fault("key", "key", path,
			"is not the one that %d objects were written with, %s among them, and %d objects "+
				"were written with it", others, some, fit)
	}
}
