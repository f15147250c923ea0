package session

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// Rewound is what Rewind reports.
type Rewound struct {
	Entry     format.ID // the rewind entry, the branch's new tip
	Left      format.ID // the old tip
	Messages  int       // messages that left the branch
	Retracted int       // of these, how many left the forest
	Known     bool      // it was done before: nothing was changed
}

// RewindOptions are for Rewind.
type RewindOptions struct {
	Expect format.ID // where not zero: the tip the branch must still have, else ErrStale
	Source *Source   // of an imported rewind; one that is known is not done again
}

// Rewind takes an entry and everything after it out of a branch. The zero target takes out everything. A call is never left without the result it had:
// the branch then goes back to before the call. The words stay in the store, under the rewind entry, until somebody asks for them to be
// forgotten.
func (s *Store) Rewind(ctx context.Context, session, branch string, target format.ID, o RewindOptions) (Rewound, error) {
	var done Rewound
	err := s.locked(ctx, func(t *tx) error {
		var err error
		done, err = t.rewind(session, branch, target, o)
		return err
	})
	return done, err
}

func (t *tx) rewind(session, branch string, target format.ID, o RewindOptions) (Rewound, error) {
	old, err := tipAs(t.view, session, branch, o.Expect)
	if err != nil {
		return Rewound{}, err
	}
	e := &format.Entry{Session: session, Kind: format.KindRewind, Left: old.ID, Time: t.Now().UTC().Truncate(1e6)}
	if o.Source != nil {
		known, err := t.sourceRewind(e, o.Source, old.ID)
		if err != nil || known {
			return Rewound{Known: true}, err
		}
	}
	left, end, err := t.cut(old.ID, target)
	if err != nil {
		return Rewound{}, err
	}
	parent, err := t.endAt(session, end)
	if err != nil {
		return Rewound{}, err
	}
	if !parent.id.IsZero() {
		e.Parents, e.Seq = []format.ID{parent.id}, parent.e.Seq
	}
	header, err := e.Encode()
	if err != nil {
		return Rewound{}, err
	}
	done := Rewound{Left: old.ID, Messages: left.messages}
	done.Entry = t.add(format.Raw{Header: header})
	v := old
	v.ID = done.Entry
	if done.Retracted, err = t.retract(left.ids, session, format.RefUpdate{Name: RefName(session, branch), Old: old}); err != nil {
		return Rewound{}, err
	}
	if err := t.becomeAt(parent.id, left.amended); err != nil {
		return Rewound{}, err
	}
	if o.Source != nil {
		copies, err := t.amendsAgain(left.amends, done.Entry, e.Seq, o.Source.Agent, func(id format.ID) bool { return !left.ids[id] })
		if err != nil {
			return Rewound{}, err
		}
		for _, at := range copies {
			t.becomes(at.e.Amends, at.id)
			v.ID = at.id
		}
	}
	if err := t.refresh(left.amended); err != nil {
		return Rewound{}, err
	}
	var leaves bool
	if done.Retracted == 0 {
		left.ids = nil
	}
	if v, leaves, err = t.settleBack(v, e.Seq, left.ids); err != nil {
		return Rewound{}, err
	}
	op := &format.Operation{Verb: refs.VerbRewind, Session: session}
	told, moved := t.epochTo(session, branch, t.view.Get(EpochRef(session, branch)).ID)
	if left.epochs {
		if told, moved, err = t.epochRef(session, branch, done.Entry); err != nil {
			return Rewound{}, err
		}
	}
	if !leaves && left.epochs && told.New.Exists() {
		if leaves, err = t.hidesUpdates(done.Entry, v.Through); err != nil {
			return Rewound{}, err
		}
	}
	if leaves {
		var id format.ID
		if v, id, err = t.fold(session, v, e.Seq, told.New.ID); err != nil {
			return Rewound{}, err
		}
		told, moved = t.epochTo(session, branch, id)
	}
	op.Refs = append(op.Refs, format.RefUpdate{Name: RefName(session, branch), Old: old, New: v})
	if moved {
		op.Refs = append(op.Refs, told)
	}
	return done, t.commit(op)
}

// settleBack brings frontier and pin of a branch back to a tip of seq messages. A pin that stands for more than is left, or for so much of it that few
// messages are word for word, or that has messages that were left (retracted), is replaced by the newest forest, from which what was left is gone: the
// branch leaves.
func (t *tx) settleBack(v format.Value, seq uint64, retracted map[format.ID]bool) (to format.Value, leaves bool, err error) {
	v.Frontier = min(v.Frontier, seq)
	stays := v.Pin.IsZero() || v.Through <= seq && !t.params().Cold(seq, v.Through)
	if stays && !v.Pin.IsZero() && len(retracted) > 0 {
		// A pin has members of the tail where the branch has left after another rewind.
		has, err := t.pinHas(v.Pin, retracted)
		if err != nil && !isDamage(err) {
			return v, false, err
		}
		stays = !has && err == nil
	}
	if stays {
		if len(retracted) > 0 {
			return v, false, t.writeForests()
		}
		return v, false, nil
	}
	v.Through = min(v.Through, v.Frontier)
	to, err = t.leave(v, seq)
	return to, true, err
}

// pinHas reports whether one of some entries is a member of a pinned forest.
func (s *Store) pinHas(pin format.ID, ids map[format.ID]bool) (bool, error) {
	st, err := s.forestAt(pin)
	if err != nil {
		return false, err
	}
	found, err := st.Find(maps.Clone(ids))
	return len(found) > 0, err
}

// sourceRewind gives the rewind entry its source, and reports whether the session has an entry of that source already.
func (t *tx) sourceRewind(e *format.Entry, src *Source, tip format.ID) (known bool, err error) {
	digest, err := t.Digest16(src.Record)
	if err != nil {
		return false, err
	}
	e.Source = &format.Source{Agent: src.Agent, Session: src.Session, Message: src.Message, Digest: digest}
	w := &writer{tx: t, h: &head{}, line: t.lineage(tip), past: t.history(tip)}
	list, err := w.known(e)
	return len(list) > 0, err
}

type entryAt struct {
	id format.ID
	e  *format.Entry
}

// leaving is what a rewind takes out of a branch.
type leaving struct {
	ids      map[format.ID]bool
	messages int
	results  []string    // calls that are answered in it
	amended  []format.ID // messages of which a newer version leaves
	amends   []entryAt   // these versions, newest first
	epochs   bool        // something that was told leaves
}

// ending is where a history is cut: its last entry, and the lines that lead up to it.
type ending struct {
	last entryAt // the zero entryAt for before everything
	side bool    // last came to the branch by a join
	todo []*line // what is still to be gone through before last; the line of last is at the end
}

// maxPairDistance is how far above the cut a call is looked for whose result leaves. Results follow their calls at once; a call that waits
// longer than this has been given up by its agent.
const maxPairDistance = 256

// cut finds what leaves a branch that ends at tip when target and what follows leave, and where it ends then. What makes a call leaves with its result.
func (s *Store) cut(tip, target format.ID) (left leaving, end ending, err error) {
	left.ids = map[format.ID]bool{}
	found := false
	var stays []entryAt // before the target, as long as no call is found there whose result leaves
	for b, n := s.backward(tip), 0; ; {
		id, e, side, err := b.next()
		if err != nil {
			return left, end, err
		}
		if e == nil {
			break
		}
		if !found || target.IsZero() {
			left.add(id, e)
			found = found || id == target
			continue
		}
		n++
		if left.answers(e) {
			for _, at := range append(stays, entryAt{id, e}) {
				left.add(at.id, at.e)
			}
			stays, end = nil, ending{}
			continue
		}
		if end.last.id.IsZero() {
			end = b.endingAt(entryAt{id, e}, side)
		}
		stays = append(stays, entryAt{id, e})
		if n >= maxPairDistance || len(left.results) == 0 {
			break
		}
	}
	if !found && !target.IsZero() {
		return left, end, fmt.Errorf("%w: entry %v is not in the branch", ErrNotFound, target)
	}
	return left, end, nil
}

// endingAt is the ending at what next has just returned.
func (b *backward) endingAt(last entryAt, side bool) ending {
	end := ending{last: last, side: side}
	as := map[*line]*line{} // the walk goes on
	for _, l := range b.todo {
		now := *l
		now.outer = as[l.outer]
		as[l] = &now
		end.todo = append(end.todo, &now)
	}
	return end
}

// endAt returns the tip of a branch that has such an end: its last entry, or, where that came by a join, a new join that brings no more than up to it.
func (t *tx) endAt(session string, end ending) (entryAt, error) {
	if !end.side {
		return end.last, nil
	}
	tip := end.last.id
	for in := end.todo[len(end.todo)-1]; in.outer != nil; in = in.outer {
		e := &format.Entry{Session: session, Kind: format.KindJoin, Time: t.Now().UTC().Truncate(1e6), Parents: []format.ID{in.outer.at}}
		for _, l := range end.todo {
			if l.outer == in.outer && l.owner < in.owner {
				e.Parents, e.Children = append(e.Parents, l.at), append(e.Children, l.name)
			}
		}
		e.Parents, e.Children = append(e.Parents, tip), append(e.Children, in.name)
		var err error
		if tip, err = t.addJoin(e); err != nil {
			return entryAt{}, err
		}
	}
	e, err := t.entry(tip)
	return entryAt{tip, e}, err
}

// addJoin has a join put that is complete but for its seq.
func (t *tx) addJoin(e *format.Entry) (format.ID, error) {
	own, err := t.entry(e.Parents[0])
	if err != nil {
		return format.ID{}, err
	}
	_, n, err := t.brought(e)
	if err != nil {
		return format.ID{}, err
	}
	e.Seq = own.Seq + n
	header, err := e.Encode()
	if err != nil {
		return format.ID{}, err
	}
	id := t.add(format.Raw{Header: header})
	return id, t.flush()
}

func (l *leaving) add(id format.ID, e *format.Entry) {
	l.ids[id] = true
	l.epochs = l.epochs || e.Kind == format.KindEpoch
	if e.Kind == format.KindMessage {
		l.messages++
	}
	l.results = append(l.results, e.Results...)
	if e.Kind == format.KindAmend {
		// The message that it amends may make the same calls, and is further up.
		l.amended, l.amends = append(l.amended, e.Amends), append(l.amends, entryAt{id, e})
		return
	}
	l.results = slices.DeleteFunc(l.results, func(r string) bool {
		return slices.ContainsFunc(e.Calls, func(c format.Call) bool { return c.ID == r })
	})
}

// answers reports whether e makes a call whose result leaves.
func (l *leaving) answers(e *format.Entry) bool {
	return slices.ContainsFunc(e.Calls, func(c format.Call) bool { return slices.Contains(l.results, c.ID) })
}

// retract takes entries that a session leaves out of the forest, but for those that a branch of it has graduated and still stands on afterwards. moving
// are the refs that move with the operation. Sessions share no entries with each other.
func (t *tx) retract(ids map[format.ID]bool, session string, moving ...format.RefUpdate) (int, error) {
	if len(ids) == 0 {
		return 0, nil
	}
	after := map[string]format.Value{}
	for _, name := range t.view.Names("sessions/" + session + "/") {
		after[name] = t.view.Get(name)
	}
	several := len(after) > 1 || len(moving) > 1
	for _, u := range moving {
		delete(after, u.Name)
		// What a branch leaves and comes back to in one go is not among ids; what another one comes to may be.
		if several && strings.HasPrefix(u.Name, "sessions/"+session+"/") {
			v := u.New
			v.Frontier = max(v.Frontier, u.Old.Frontier) // what it is cut down to, is for later
			after[u.Name] = v
		}
	}
	for _, v := range after {
		err := t.back(v.ID, func(id format.ID, e *format.Entry) bool {
			if e.Seq <= v.Frontier {
				delete(ids, id)
			}
			return len(ids) > 0
		})
		if err != nil {
			return 0, err
		}
	}
	if err := t.onlyGraduated(ids, session); err != nil || len(ids) == 0 {
		return 0, err
	}
	n := 0
	for _, name := range t.forests() {
		st, err := t.forestOf(name)
		if err != nil {
			return 0, err
		}
		list, err := st.Retract(ids)
		if err != nil {
			return 0, err
		}
		if err := t.decideIn(name, list...); err != nil {
			return 0, err
		}
		n = len(list) // the same of each
	}
	if n > 0 {
		t.cands = nil // their terms are in the candidates
	}
	return n, nil
}

// onlyGraduated drops from ids what cannot be a member: the forest need not be searched for it.
func (t *tx) onlyGraduated(ids map[format.ID]bool, session string) error {
	frontier := uint64(0)
	for _, name := range t.view.Names("sessions/" + session + "/") {
		frontier = max(frontier, t.view.Get(name).Frontier)
	}
	for id := range ids {
		e, err := t.entry(id)
		if err != nil {
			return err
		}
		if e.Kind != format.KindMessage || e.Seq > frontier {
			delete(ids, id)
		}
	}
	return nil
}

// refresh has the summaries over messages dropped whose newest version is another one now, so that the next compaction reads it: each member leaves and
// comes back to its place.
func (t *tx) refresh(messages []format.ID) error {
	if len(messages) == 0 {
		return nil
	}
	ids := map[format.ID]bool{}
	for _, id := range messages {
		ids[id] = true
	}
	for _, name := range t.forests() {
		st, err := t.forestOf(name)
		if err != nil {
			return err
		}
		out, err := st.Retract(ids)
		if err != nil {
			return err
		}
		for _, d := range out {
			back := d
			back.Kind = format.DecideRestore
			if err := t.decideIn(name, d, back); err != nil {
				return err
			}
		}
		if len(out) > 0 {
			t.cands = nil // what they say has changed
		}
	}
	return nil
}

// RemoveSession takes a session's refs away, with its own state, and its entries out of the forest. The words stay until gc finds that nothing names
// them; what the session shares with an app and a user stays.
func (s *Store) RemoveSession(ctx context.Context, session string) (messages int, err error) {
	err = s.locked(ctx, func(t *tx) error {
		op := &format.Operation{Verb: refs.VerbSessionRm, Session: session}
		seen := map[format.ID]bool{}
		for _, name := range t.view.Names("sessions/" + session + "/") {
			v := t.view.Get(name)
			if err := t.reach(seen, v.ID); err != nil {
				return err
			}
			op.Refs = append(op.Refs, format.RefUpdate{Name: name, Old: v})
		}
		for _, name := range t.view.Names("epochs/" + session + "/") {
			op.Refs = append(op.Refs, format.RefUpdate{Name: name, Old: t.view.Get(name)})
		}
		if len(op.Refs) == 0 {
			return unknownSession(session, MainBranch)
		}
		if messages, err = t.countMessages(seen); err != nil {
			return err
		}
		if _, err := t.retract(seen, session, op.Refs...); err != nil {
			return err
		}
		for _, name := range stateOf(t.view, session) {
			op.Refs = append(op.Refs, format.RefUpdate{Name: name, Old: t.view.Get(name)})
		}
		if HEAD := t.view.Get("HEAD"); HEAD.Name == session {
			op.Refs = append(op.Refs, format.RefUpdate{Name: "HEAD", Old: HEAD, New: t.nextHEAD(session)})
		}
		return t.commit(op)
	})
	return messages, err
}

func (t *tx) countMessages(ids map[format.ID]bool) (n int, err error) {
	for id := range ids {
		e, err := t.entry(id)
		if err != nil {
			return 0, err
		}
		if e.Kind == format.KindMessage {
			n++
		}
	}
	return n, nil
}

// nextHEAD is the first session but this one; no value where it is the last.
func (t *tx) nextHEAD(gone string) format.Value {
	for _, name := range t.view.Names("sessions/") {
		session, _, _ := strings.Cut(strings.TrimPrefix(name, "sessions/"), "/")
		if session != gone {
			return format.Value{Kind: format.NameValue, Name: session}
		}
	}
	return format.Value{}
}

// Use makes HEAD name a session.
func (s *Store) Use(ctx context.Context, session string) error {
	return s.locked(ctx, func(t *tx) error {
		if len(t.view.Names("sessions/"+session+"/")) == 0 {
			return unknownSession(session, MainBranch)
		}
		old, want := t.view.Get("HEAD"), format.Value{Kind: format.NameValue, Name: session}
		if old == want {
			return nil
		}
		op := &format.Operation{Verb: refs.VerbSessionUse, Session: session}
		op.Refs = append(op.Refs, format.RefUpdate{Name: "HEAD", Old: old, New: want})
		return t.commit(op)
	})
}
