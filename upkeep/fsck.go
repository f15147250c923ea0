package upkeep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/repo"
	"github.com/gemini-ctx/ctx/session"
)

// FsckOptions are for Fsck.
type FsckOptions struct {
	Progress Progress
}

// Fault is something that is not as it must be.
type Fault struct {
	Kind    string // format, key, log, ref, object, pack, link, session, forest, absent: where to look
	Subject string // an id, a ref, an operation
	Path    string // the file, where one is to blame; else ""
	Why     string
}

func (f Fault) String() string {
	s := f.Kind + " " + f.Subject + ": " + f.Why
	if f.Path != "" {
		s += fmt.Sprintf(" (%q)", f.Path)
	}
	return s
}

// FsckReport is what Fsck found.
type FsckReport struct {
	Objects    int // an object in two places counts once
	Operations int
	Faults     []Fault
	// Notes are what a crash or use leaves and what is no fault, a line each: a torn tail, leftovers of writes, objects that nothing names.
	Notes []string

	newer error // that of something which a newer build wrote; nil where there is none
}

// Fsck reads all of a store and checks it: every object in every place against its id, its body's digest and the encoding of its kind;
// every pack and its index; the log from its beginning, and that the refs are what it says; that all that refs and log name is there,
// with all below it; the order of entries; the forests, by replaying the log; what is a member of them against what sessions hold. A fault
// ends nothing. It takes no lock and changes nothing; what is written meanwhile does no harm. An error is that of ctx.
func Fsck(ctx context.Context, s *session.Store, o FsckOptions) (FsckReport, error) {
	f := &checker{ctx: ctx, s: s, o: o, told: map[Fault]bool{}}
	for _, step := range []func(){f.checkFormat, f.checkLog, f.checkPlaces, f.checkGraph, f.checkKey, f.checkBodies, f.checkAbsent, f.checkMoves, f.checkSessions, f.checkEpochs, f.checkForests, f.checkLeftovers} {
		if err := ctx.Err(); err != nil {
			return f.report, err
		}
		step()
	}
	return f.report, ctx.Err()
}

// checker is one run of Fsck.
type checker struct {
	ctx    context.Context
	s      *session.Store
	o      FsckOptions
	report FsckReport
	told   map[Fault]bool

	roots  []root
	base   map[string]format.Value
	refs   map[string]format.Value // nil where they cannot be read
	logOK  bool
	number uint64 // of the newest operation that is looked at

	baseNumber uint64    // of the last operation before the kept log; 0 where the log is kept from its beginning
	moves      []refMove // what the operations of the kept log did to refs, in order
	forgetOps  []uint64  // the operations of the kept log that forgot something, in order

	inv   *inventory
	graph *graph
}

// The marks of fsck; reached is that of gc.
const (
	due      mark = 1 << (iota + 1) // a message up to a frontier of its branch
	inBranch                        // some session stands on it
	member                          // it is in a cluster
	twice                           // it is in more than one
)

func (f *checker) fault(kind, subject, path, why string) {
	x := Fault{Kind: kind, Subject: subject, Path: path, Why: why}
	if !f.told[x] {
		f.told[x] = true
		f.report.Faults = append(f.report.Faults, x)
	}
}

// unknown remembers that a newer build wrote something.
func (f *checker) unknown(err error) {
	var version *format.VersionError
	if errors.As(err, &version) {
		f.report.newer = version
	}
}

func (f *checker) note(text string, args ...any) {
	f.report.Notes = append(f.report.Notes, fmt.Sprintf(text, args...))
}

// checkLeftovers notes what is in the way of nothing.
func (f *checker) checkLeftovers() {
	left, err := leftovers(f.s, f.s.Now().Add(-leftover))
	if err != nil {
		f.note("cannot look for leftovers: %v", err)
	}
	if len(left) > 0 {
		f.note("%d leftovers of unfinished writes; gc removes them", len(left))
	}
	orphans, err := f.s.Objects.Orphans()
	if err == nil && len(orphans) > 0 {
		f.note("%d packs without an index; rebuild makes it again", len(orphans))
	}
	if f.graph == nil {
		return
	}
	dangling := 0
	for i := range f.graph.objects {
		if f.graph.marks[i]&reached == 0 {
			dangling++
		}
	}
	if dangling > 0 {
		f.note("%d objects that nothing names; gc removes them after %v", dangling, repo.DurationText(f.s.Config.GC.Grace))
	}
	f.noteDangling()
}

// mostDangling is how many lines of history that nothing names are told of.
const mostDangling = 16

// noteDangling names the newest entries that nothing names: all that is left of operations that were never recorded, or whose records are lost with the end of
// the log.
func (f *checker) noteDangling() {
	tips := danglingTips(f.graph)
	for n, t := range tips {
		if n == mostDangling {
			f.note("%d more such entries", len(tips)-n)
			return
		}
		f.note("entry %v of session %q, of %s, is named by nothing", t.id, t.entry.Session, t.entry.Time.UTC().Format(time.RFC3339))
	}
}

// danglingTip is an entry that nothing leads to, an entry of the same sort neither.
type danglingTip struct {
	id    format.ID
	entry *format.Entry
}

// danglingTips returns those of a graph whose objects are marked as reached from all that there is, the newest first.
func danglingTips(g *graph) []danglingTip {
	below := map[uint32]bool{}
	for i, o := range g.objects {
		if o.kind == entryKind && g.marks[i]&reached == 0 {
			for _, e := range g.parentsOf(uint32(i)) {
				below[e.to()] = true
			}
		}
	}
	var tips []danglingTip
	for i, o := range g.objects {
		if o.kind != entryKind || g.marks[i]&reached != 0 || below[uint32(i)] || g.bad[uint32(i)] != nil {
			continue
		}
		header, err := g.s.Objects.Header(o.id)
		if err != nil {
			continue // told with its file
		}
		if e, err := format.DecodeEntry(header); err == nil {
			tips = append(tips, danglingTip{o.id, e})
		}
	}
	slices.SortFunc(tips, func(a, b danglingTip) int {
		if c := b.entry.Time.Compare(a.entry.Time); c != 0 {
			return c
		}
		return a.id.Compare(b.id)
	})
	return tips
}
