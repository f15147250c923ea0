package fsck

import (
	"fmt"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/refs"
)

// checkMoves checks that each operation changes only refs of its session, in the way that its verb
// says, and that refs of a session name entries of that session. Digests do not prove this: whoever
// changes a record can compute them again.
func (f *checker) checkMoves() {
	if f.graph == nil || f.refs == nil {
		return
	}
	m := moves{
		checker: f,
		held:    map[string]map[format.ID]bool{},
		done:    map[aboutRef]format.RefUpdate{},
		lines:   map[[2]string]bool{},
	}
	for name := range f.base {
		m.line(name)
	}
	for _, at := range f.moves {
		m.line(at.ref.Name)
	}
	for _, name := range graph.SortedNames(f.base) {
		if why := m.foreignEntry(name, f.base[name]); why != "" {
			f.fault("ref", "refs/base: "+name, "", "%s", why)
		}
		m.hold(name, f.base[name].ID)
	}
	for _, at := range f.moves {
		if f.ctx.Err() != nil {
			return
		}
		if session, ok := sessionOfRef(at.ref.Name); ok {
			for _, why := range m.faultsOf(at.op, at.ref, session) {
				f.opFault(at.op, "%s", why)
			}
		}
		m.hold(at.ref.Name, at.ref.New.ID)
		m.done[aboutRef{at.op.Number, at.ref.Name}] = at.ref
	}
	if !f.logOK {
		for _, name := range graph.SortedNames(f.refs) {
			if why := m.foreignEntry(name, f.refs[name]); why != "" {
				f.fault("ref", name, "", "%s", why)
			}
		}
	}
}

// moves is the history of refs up to one operation of the log.
type moves struct {
	*checker
	held map[string]map[format.ID]bool // by ref of a session: the ids that it has named so far
	done map[aboutRef]format.RefUpdate // the update of each ref by each operation
	// lines has the first session of a line with each session of it, itself included.
	lines map[[2]string]bool
}

// line notes the line that a ref puts a session into.
func (m *moves) line(ref string) {
	if rest, ok := strings.CutPrefix(ref, history.OriginRefs); ok {
		first, session, _ := strings.Cut(rest, "/")
		m.lines[[2]string{first, session}], m.lines[[2]string{first, first}] = true, true
	}
}

// related reports whether two sessions are, or were, of one line.
func (m *moves) related(a, b string) bool {
	for of := range m.lines {
		if of[1] == a && m.lines[[2]string{of[0], b}] {
			return true
		}
	}
	return false
}

type aboutRef struct {
	operation uint64
	ref       string
}

func (m *moves) hold(ref string, id format.ID) {
	if _, ok := sessionOfRef(ref); !ok || id.IsZero() {
		return
	}
	if m.held[ref] == nil {
		m.held[ref] = map[format.ID]bool{}
	}
	m.held[ref][id] = true
}

// sessionOfRef returns the session whose branch, epoch, state, parent or origin a ref names.
func sessionOfRef(name string) (session string, ok bool) {
	for _, prefix := range []string{"state/session/", "state/parent/", "state/about/",
		history.RemovedRefs} {
		if session, ok = strings.CutPrefix(name, prefix); ok {
			return session, true
		}
	}
	if origin, ok := strings.CutPrefix(name, "state/origin/"); ok {
		_, session, ok = strings.Cut(origin, "/")
		return session, ok
	}
	top, rest, _ := strings.Cut(name, "/")
	if top+"/" != graph.SessionsPrefix && top+"/" != graph.EpochsPrefix {
		return "", false
	}
	session, _, ok = strings.Cut(rest, "/")
	return session, ok
}

// faultsOf returns the faults of an operation's update of a ref of a session.
func (m *moves) faultsOf(op *format.Operation, u format.RefUpdate, session string) []string {
	var faults []string
	add := func(why string) {
		if why != "" {
			faults = append(faults, why)
		}
	}
	effect := op.Effects
	history := effect.Extends || effect.Moves || effect.Makes || effect.Removes
	switch {
	case op.Session != "" && op.Session != session:
		add(fmt.Sprintf("is about session %q, and moves ref %q", op.Session, u.Name))
	case op.Session == "" && history && op.Verb != refs.VerbRepair && op.Verb != refs.VerbImport &&
		op.Verb != refs.VerbPull:
		add(fmt.Sprintf("is about no session, and moves ref %q", u.Name))
	}
	if u.New.Kind != format.SessionValue && u.Old.Kind != format.SessionValue {
		return faults
	}
	if op.Verb == refs.VerbPull {
		return faults // the session has another name in its own store, and may move in any way
	}
	add(m.foreignEntry(u.Name, u.New))
	if op.Verb != refs.VerbRepair {
		add(m.otherEffect(op, effect, u))
	}
	return faults
}

// foreignEntry returns a fault if a branch's ref names an entry of another session. That is allowed
// for a session that a repair recovered, for a ref that returns to an earlier value, and where both
// sessions are of one line.
func (m *moves) foreignEntry(name string, v format.Value) string {
	session, ok := sessionOfRef(name)
	if !ok || v.Kind != format.SessionValue || m.held[name][v.ID] {
		return ""
	}
	if strings.HasPrefix(session, history.RecoveredPrefix) {
		return ""
	}
	e, err := m.entryOf(v.ID)
	if err != nil || e.Session == session || m.shares(session, e.Session) ||
		m.related(session, e.Session) {
		return "" // checkPlaces reports damage
	}
	return fmt.Sprintf("moves ref %q to entry %v, which is of session %q", name, v.ID, e.Session)
}

// shares reports whether a session is what another store shares under a name of its own.
func (m *moves) shares(session, own string) bool {
	label, ok := strings.CutPrefix(session, own+"@")
	ref := history.LabelRefs + label
	return ok && (m.base[ref].Exists() || m.refs[ref].Exists())
}

func (m *moves) entryOf(id format.ID) (*format.Entry, error) {
	return history.Decoded(m.s.Objects, id, format.DecodeEntry)
}

// otherEffect returns a fault if an operation changed a branch in another way than its verb does.
func (m *moves) otherEffect(
	op *format.Operation, effect format.Effects, u format.RefUpdate,
) string {
	not := func(what string) string {
		return fmt.Sprintf("%s ref %q, which an operation %q does not", what, u.Name, op.Verb)
	}
	switch {
	case effect.Restores:
		return m.otherRestore(op, u)
	case !u.New.Exists():
		if !effect.Removes {
			return not("ends")
		}
	case !u.Old.Exists():
		if !effect.Extends && !effect.Makes {
			return not("begins")
		}
	case u.Old.ID == u.New.ID, effect.Leaves:
	case effect.Extends:
		if !m.stands(u.New.ID, u.Old.ID, false) {
			return fmt.Sprintf("does not extend ref %q, as an operation %q does", u.Name, op.Verb)
		}
	case effect.Moves:
		if !m.rewinds(u.New.ID, u.Old.ID) {
			return fmt.Sprintf("moves ref %q without a rewind, which %q does not", u.Name, op.Verb)
		}
	default:
		if !m.stands(u.New.ID, u.Old.ID, true) {
			return not("changes the history of")
		}
	}
	return ""
}

// otherRestore returns a fault if an undo or a redo sets a ref to another value than it had before,
// or after, the operation that it names. A fold may add an epoch entry on top.
func (m *moves) otherRestore(op *format.Operation, u format.RefUpdate) string {
	if op.About <= m.baseNumber && m.baseNumber != 0 {
		return "" // the operation is no longer in the log
	}
	about, ok := m.done[aboutRef{op.About, u.Name}]
	want := about.Old
	if op.Verb == refs.VerbRedo {
		want = about.New
	}
	if ok && (u.New.ID == want.ID || !want.ID.IsZero() && m.stands(u.New.ID, want.ID, true)) {
		return ""
	}
	return fmt.Sprintf("gives ref %q a value that operation %d does not tell", u.Name, op.About)
}

// stands reports whether one entry has another as an ancestor on its own line, and with quiet also
// that there is no message between them. It returns true if an entry cannot be read: checkPlaces
// reports damage.
func (m *moves) stands(top, below format.ID, quiet bool) bool {
	i, err := m.graph.Meet(top)
	end, endErr := m.graph.Meet(below)
	if err != nil || endErr != nil || m.graph.Bad[i] != nil || m.graph.Bad[end] != nil {
		return true
	}
	for i != end {
		if m.graph.Stands(i) {
			return true
		}
		if quiet && m.graph.Message(i) || m.graph.Seq(i) < m.graph.Seq(end) {
			return false
		}
		if len(m.graph.Lost[i]) > 0 {
			return true
		}
		up := m.graph.ParentsOf(i)
		if len(up) == 0 {
			return false
		}
		i = up[0].To()
	}
	return true
}

// rewinds reports whether an entry, or the entry below its epoch entries and amends, is the rewind
// that left another one.
func (m *moves) rewinds(id, left format.ID) bool {
	for {
		e, err := m.entryOf(id)
		switch {
		case err != nil || m.s.Objects.StandsFor(id):
			return true
		case (e.Kind == format.KindEpoch || e.Kind == format.KindAmend) && len(e.Parents) > 0:
			id = e.Parents[0] // a fold, or an amend that a transcript has after the rewind
		default:
			return e.Kind == format.KindRewind && e.Left == left
		}
	}
}

// checkEpochs compares the ref of each branch's epoch with the branch: the ref must name the epoch
// of the nearest epoch entry on the line of first parents, and must exist if there is such an
// entry.
func (f *checker) checkEpochs() {
	if f.refs == nil || f.graph == nil {
		return
	}
	for _, name := range graph.SortedNames(f.refs) {
		rest, ok := strings.CutPrefix(name, graph.EpochsPrefix)
		if _, branch := f.refs[graph.SessionsPrefix+rest]; ok && !branch {
			f.fault("ref", name, "", "is the epoch of a branch that is not there")
		}
		if rest, ok = strings.CutPrefix(name, graph.SessionsPrefix); !ok {
			continue
		}
		tip, err := f.graph.Meet(f.refs[name].ID)
		if err != nil {
			continue // checkGraph reports it
		}
		got, want := f.refs[graph.EpochsPrefix+rest].ID, f.graph.EpochAt(tip)
		if got != want && !f.holed(tip) {
			f.fault("ref", graph.EpochsPrefix+rest, "",
				"names %s, and the branch was told %s", history.OrNothing(got),
				history.OrNothing(want))
		}
	}
}

// holed reports whether an entry on the line of first parents is lost.
func (f *checker) holed(i uint32) bool {
	for up := f.graph.ParentsOf(i); len(up) > 0 && !f.graph.Stands(i); up = f.graph.ParentsOf(i) {
		i = up[0].To()
	}
	return f.graph.Stands(i)
}
