// Package fsck reads a whole store and reports every fault in it. It takes no lock, changes
// nothing, and goes on after a fault.
//
// Begin with Run, which lists the checks in order. Each file holds one sort of check.
package fsck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/internal/maintenance/storedir"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/store"
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

func (f *checker) fault(kind, subject, path, why string) {
	x := Fault{Kind: kind, Subject: subject, Path: path, Why: why}
	if !f.reported[x] {
		f.reported[x] = true
		f.report.Faults = append(f.report.Faults, x)
	}
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
	left, err := storedir.Leftovers(f.s, f.s.Now().Add(-storedir.Leftover))
	if err != nil {
		f.note("cannot look for leftovers: %v", err)
	}
	if len(left) > 0 {
		f.note("%d leftovers of unfinished writes; gc removes them", len(left))
	}
	aside, err := storedir.SetAsides(f.s.Dir)
	if err != nil {
		f.note("cannot look for files that other programs set aside: %v", err)
	}
	for _, one := range aside {
		f.note("%v", one)
	}
	if slices.ContainsFunc(aside, func(one storedir.SetAside) bool { return !one.Known }) {
		f.note("to bring that in, %s", storedir.SetAsideHint)
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
