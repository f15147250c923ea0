package fsck

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/refs"
)

// checkMended reports a record in which a byte is damaged.
func (f *checker) checkMended(r refs.Record) {
	if r.Mended {
		f.fault("log", fmt.Sprintf("operation %d", r.Op.Number), f.s.Objects.Path(r.File()),
			"a byte of its record is damaged; it is read as it was, and a repair puts it right")
	}
}

// checkLog reads the log from its beginning, collects the objects that it names, and compares the
// resulting refs with those that readers see.
func (f *checker) checkLog() {
	if err := f.s.Refs.CheckDense(f.logFault); err != nil {
		f.logFault(err)
	}
	view, viewErr := f.s.Refs.Read()
	if viewErr != nil {
		f.logFault(viewErr)
	} else {
		f.refs, f.number = view.All(), view.Number
		if view.Torn > 0 {
			f.note("a torn tail of %d bytes; the next writer puts it aside", view.Torn)
		}
		if err := f.s.Refs.CheckCarried(view); err != nil {
			f.logFault(err)
		}
		for _, r := range view.Since {
			if r.Damaged {
				f.fault("log", fmt.Sprintf("operation %d", r.Op.Number), f.s.Objects.Path(r.File()),
					"objects that its record carries are damaged")
			}
			f.checkMended(r)
		}
	}
	base, err := f.s.Refs.Base()
	if err != nil {
		f.logFault(err)
		return
	}
	if viewErr == nil && base.Number > view.Checkpoint() {
		f.fault("log", "refs/base", filepath.Join(f.s.Dir, "refs", "base"),
			"is of operation %d, and the checkpoint of operation %d before it",
			base.Number, view.Checkpoint())
	}
	f.base, f.baseNumber = graph.RefsOf(base), base.Number
	running := graph.RefsOf(base)
	reachedNumber := base.Number
	err = f.s.Refs.Forward(func(r refs.Record) bool {
		if viewErr == nil && r.Op.Number > f.number {
			return false
		}
		if viewErr != nil || r.Op.Number <= view.Checkpoint() {
			f.checkMended(r)
		}
		for _, u := range r.Op.Refs {
			if running[u.Name] != u.Old {
				f.opFault(r.Op, "moves ref %q from a value that it did not have", u.Name)
			}
		}
		graph.ApplyRefs(running, r.Op)
		f.checkEffects(r.Op)
		if r.Op.Effects.Forgets {
			f.forgetOps = append(f.forgetOps, r.Op.Number)
		}
		f.noteMoves(r.Op)
		f.report.Operations++
		reachedNumber, f.read = r.Op.Number, r.Op.Number
		return f.ctx.Err() == nil
	})
	if err != nil {
		f.logFault(err)
		return
	}
	if err := f.s.Refs.CheckHeads(); err != nil {
		f.logFault(err)
	}
	f.logOK = true
	if viewErr != nil {
		f.refs, f.number = running, reachedNumber // the log alone has them
		return
	}
	f.compareRefs(reachedNumber, running)
}

// checkEffects compares what an operation states that it does with what its verb does. The effects
// of a verb never change, and those of an unknown verb are not judged.
func (f *checker) checkEffects(op *format.Operation) {
	want, known := refs.EffectsOfVerb(op.Verb)
	if known && op.Effects != want {
		f.opFault(op, "states effects that a verb %q does not have", op.Verb)
	}
}

// refMove is the update of one ref by one operation.
type refMove struct {
	op  *format.Operation // without its refs and decisions
	ref format.RefUpdate
}

// noteMoves records an operation's updates of refs that name objects.
func (f *checker) noteMoves(op *format.Operation) {
	short := *op
	short.Refs, short.Forests = nil, nil
	for _, u := range op.Refs {
		f.moves = append(f.moves, refMove{&short, u})
	}
}

// compareRefs compares the checkpoint with the log.
func (f *checker) compareRefs(number uint64, running map[string]format.Value) {
	if number != f.number {
		f.fault("log", fmt.Sprintf("operation %d", f.number), "",
			"the checkpoint covers it, the log ends with operation %d", number)
		f.logOK = false
		return
	}
	for _, name := range graph.SortedNames(f.refs) {
		if f.refs[name] != running[name] {
			f.fault("ref", name, "", "the checkpoint has another value than the log")
		}
	}
	for _, name := range graph.SortedNames(running) {
		if _, ok := f.refs[name]; !ok {
			f.fault("ref", name, "", "the checkpoint does not have it, the log does")
		}
	}
}

func (f *checker) logFault(err error) {
	f.unknown(err)
	var corrupt *refs.CorruptError
	if errors.As(err, &corrupt) {
		f.fault("log", "refs", corrupt.Path, "%v", err)
		return
	}
	f.fault("log", "refs", "", "%v", err)
}

// checkSessions compares each branch's value with its entries, and marks the entries for the
// comparison with the forest.
func (f *checker) checkSessions() {
	if f.refs == nil || f.graph == nil {
		return
	}
	for _, name := range graph.SortedNames(f.refs) {
		v := f.refs[name]
		if v.Kind != format.SessionValue || !strings.HasPrefix(name, graph.SessionsPrefix) {
			continue
		}
		tip, err := f.graph.Meet(v.ID)
		if err != nil || f.graph.Kind(tip) != format.EntryKind {
			continue // checkGraph reports that it is missing, or of another kind
		}
		if seq := f.graph.Seq(tip); v.Through > v.Frontier || v.Frontier > seq {
			f.fault("session", name, "",
				"through %d, frontier %d and tip %d are not in order", v.Through, v.Frontier, seq)
		}
		f.markBranch(tip, v.Frontier)
	}
}

// markBranch marks the entries of a branch, and the messages up to its frontier.
func (f *checker) markBranch(tip uint32, frontier uint64) {
	g := f.graph
	for i := tip; ; {
		if g.Message(i) && g.Seq(i) <= frontier {
			g.Marks[i] |= due
		}
		up := g.ParentsOf(i)
		if len(up) == 0 {
			break
		}
		if len(up) > 1 {
			f.markJoin(tip, i, frontier)
		}
		i = up[0].To()
	}
	for stack := []uint32{tip}; len(stack) > 0; {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if g.Marks[i]&inBranch != 0 {
			continue
		}
		g.Marks[i] |= inBranch
		for _, e := range g.ParentsOf(i) {
			stack = append(stack, e.To())
		}
	}
}

// markJoin marks the messages up to the frontier that a join on a branch's line brought.
func (f *checker) markJoin(tip, join uint32, frontier uint64) {
	g := f.graph
	came := g.Brought(join)
	if g.Seq(join) <= frontier {
		for _, i := range came {
			g.Marks[i] |= due
		}
		return
	}
	before := uint64(0)
	if up := g.ParentsOf(join); len(up) > 0 {
		before = g.Seq(up[0].To())
	}
	if before >= frontier || len(came) == 0 {
		return
	}
	// The frontier is among the messages that the join brought: their order decides.
	upTo := map[format.ID]bool{}
	for e, err := range f.s.History.Walk(g.ID(tip), history.WithJoined) {
		if err != nil {
			break // fsck reports the entry elsewhere
		}
		upTo[e.ID] = e.Seq <= frontier
		if e.Seq <= before {
			break
		}
	}
	for _, i := range came {
		if upTo[g.ID(i)] {
			g.Marks[i] |= due
		}
	}
}
