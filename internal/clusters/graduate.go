package clusters

import (
	"context"
	"errors"
	"slices"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/score"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/refs"
)

// GraduateOnAppend is the largest number of due messages that an append graduates, so that an
// append after a large import stays fast. `ctx graduate` and `ctx compact` graduate the rest.
const GraduateOnAppend = 8

// graduateBatch is the largest number of messages that graduate in one operation. It bounds how
// long the lock is held.
const graduateBatch = 1024

// graduated counts what a graduation did.
type graduated struct {
	Entries int // messages that became members
	merged  int // of these, how many joined a cluster that was there
	passed  int // messages that the frontier went past
}

// GraduateDue is Graduate for every due unit of a branch.
func (t *Tx) GraduateDue(h *history.Head) error {
	for {
		done, err := t.Graduate(h, graduateBatch)
		if err != nil || done.passed == 0 {
			return err
		}
	}
}

// Graduate moves the oldest due units of a branch into the forest, about limit messages. The next
// commit records the decisions; h gets the new frontier.
func (t *Tx) Graduate(h *history.Head, limit int) (done graduated, err error) {
	units := history.Due(limit, h.Items, h.Model, t.Params())
	if len(units) == 0 || t.store.View.Lost() { // members may be lost as well: a repair comes first
		return done, nil
	}
	c, err := t.Candidates()
	if err != nil {
		return done, err
	}
	there, err := t.already(h, units)
	if err != nil {
		return done, err
	}
	t.lookAhead(h, units[len(units)-1].End)
	for _, u := range units {
		if done.passed > 0 && done.passed+u.End-u.Start > limit {
			break
		}
		fresh := slices.DeleteFunc(
			slices.Clone(h.Items[u.Start:u.End]), func(it history.Item) bool {
				place, is := there[it.ID]
				if is {
					h.Cluster, h.Joined = place.Cluster, true
				}
				return is
			})
		done.passed = u.End
		if len(fresh) == 0 {
			continue
		}
		cluster, opened, err := t.place(h, c, u)
		if err != nil {
			return done, err
		}
		for _, it := range fresh {
			if err := t.store.Decide(format.Decision{Kind: format.DecideJoin, Cluster: cluster,
				ID: it.ID}); err != nil {
				return done, err
			}
		}
		h.Cluster, h.Joined = cluster, true
		done.Entries += len(fresh)
		if !opened {
			done.merged += len(fresh)
		}
	}
	h.Value.Frontier += uint64(done.passed)
	clear(h.Items[:done.passed]) // frees the texts
	h.Items = h.Items[done.passed:]
	return done, nil
}

// already returns the due messages that are members already, because another line has graduated
// them, of this session or of one that goes on with it. Two lines share the messages before their
// fork and those that came to both by joins. No other line has messages after h.Alone, and an open
// child graduates nothing.
//
// To look costs a pass over all evicted clusters. So it looks only for messages that can be members
// by the refs of other lines (see mayBeMembers). One look is for all messages of the window, and if
// it finds none, h.Sought keeps that for the next commands. A backlog is looked through batch by
// batch.
func (t *Tx) already(h *history.Head, units []history.Unit) (map[format.ID]forest.Place, error) {
	end := units[len(units)-1].End
	all := !h.Lags && len(h.Items) <= history.MaxBacklog
	if all {
		end = len(h.Items)
	}
	ids := map[format.ID]bool{}
	for i, it := range h.Items[:end] {
		if h.Value.Frontier+uint64(i) < h.Alone {
			ids[it.ID] = true
		}
	}
	if len(ids) == 0 || t.stillNone(h.Sought, ids) {
		return nil, nil
	}
	if err := t.mayBeMembers(h, ids); err != nil {
		return nil, err
	}
	var there map[format.ID]forest.Place
	if len(ids) > 0 {
		st, err := t.store.Draft()
		if err != nil {
			return nil, err
		}
		if there, err = st.Find(ids); err != nil {
			return nil, err
		}
	}
	if len(there) == 0 && all {
		h.Sought = t.store.View.Number
	}
	return there, nil
}

// stillNone reports whether none of some messages is a member of the main forest, if none was after
// an operation: members come by decisions alone, and those since the checkpoint are at hand. It is
// false if that operation is before the checkpoint.
func (t *Tx) stillNone(operation uint64, ids map[format.ID]bool) bool {
	view := t.store.View
	if operation == 0 || operation < view.Checkpoint() || operation > view.Number {
		return false
	}
	joins := func(d format.Decision) bool {
		return (d.Kind == format.DecideJoin || d.Kind == format.DecideRestore) && ids[d.ID]
	}
	for _, r := range view.Since {
		if r.Op.Number <= operation {
			continue
		}
		for _, f := range r.Op.Forests {
			if f.Name == history.MainForest && slices.ContainsFunc(f.Decisions, joins) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(t.store.Decided(history.MainForest), joins)
}

// place chooses the cluster of a unit. It is the cluster of the call that the unit answers, the
// cluster of the exchange that it continues, the cluster with the best score, or a new one.
func (t *Tx) place(
	h *history.Head, c *Candidates, u history.Unit,
) (cluster uint64, opened bool, err error) {
	unit, err := t.allFeatures(h, u.Start, u.End)
	if err != nil {
		return 0, false, err
	}
	cluster, opened = c.opened, true
	if late, ok, err := t.lateResult(h, u); err != nil {
		return 0, false, err
	} else if ok {
		cluster, opened = late, false
	} else if u.Continues && h.Joined && c.Has(h.Cluster) {
		cluster, opened = h.Cluster, false
	} else {
		ahead, err := t.allFeatures(h, u.End, min(u.End+lookahead, len(h.Items)))
		if err != nil {
			return 0, false, err
		}
		if best, joined := c.Place(unit, ahead, t.Config.Forest.MergeThreshold); joined {
			cluster, opened = best, false
		}
	}
	if opened {
		c.opened++
	}
	c.Touch(cluster, unit)
	return cluster, opened, nil
}

// lookahead is the number of later messages that place may look at: as many as the window holds
// by default when a message graduates.
const lookahead = 26

// lookAhead has the features of the first messages of a head at hand, and of those that place looks
// at after them, if there are many: it makes them on all processors. What cannot be read is an
// error where it is needed.
func (t *Tx) lookAhead(h *history.Head, n int) {
	n = min(n+lookahead, len(h.Items))
	if n >= minShared {
		lists.OnAll(n, func(i int) { _, _ = t.Features(h, &h.Items[i]) })
	}
}

// minShared is how many messages are worth sharing among processors.
const minShared = 128

func (t *Tx) allFeatures(h *history.Head, start, end int) ([]score.Features, error) {
	list := make([]score.Features, 0, end-start)
	for i := start; i < end; i++ {
		f, err := t.Features(h, &h.Items[i])
		if err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return list, nil
}

// lateResult returns the cluster of the call that a unit answers if the call graduated alone,
// because its result came late.
func (t *Tx) lateResult(h *history.Head, u history.Unit) (cluster uint64, ok bool, err error) {
	results := h.Items[u.Start].Results
	if len(results) == 0 {
		return 0, false, nil
	}
	// It may be of the batch that is being appended.
	if err := t.store.Flush(); err != nil {
		return 0, false, err
	}
	var call format.ID
	n := 0
	for e, err := range t.Walk(h.Items[u.Start].ID, history.WithJoined) {
		if err != nil {
			return 0, false, err
		}
		if n++; slices.Contains(history.CallIDs(e.Entry), results[0]) {
			call = e.ID
			if e.Kind == format.KindAmend {
				call = e.Amends
			}
		}
		if !call.IsZero() || n == history.MaxPairDistance {
			break
		}
	}
	if call.IsZero() {
		return 0, false, nil
	}
	st, err := t.store.Draft()
	if err != nil {
		return 0, false, err
	}
	found, err := st.Find(map[format.ID]bool{call: true})
	place, ok := found[call]
	return place.Cluster, ok, err
}

// Graduation is what Graduate reports.
type Graduation struct {
	Graduated int       `json:"graduated"` // messages that became members
	Merged    int       `json:"merged"`    // of these, how many joined a cluster that was there
	Roots     int       `json:"roots"`     // live clusters now
	Forest    format.ID `json:"forest"`
}

// InterimBatch is the largest number of clusters that get an interim summary under one lock, where
// their extracts were made before: the lock is held for 40 ms so. Each batch reads the log and goes
// through all clusters, so of a long backlog many small ones would take most of the time.
// SmallBatch is the number where the extracts are made under the lock.
const (
	InterimBatch = 1024
	SmallBatch   = 128
)

// GraduateAll moves every due unit of a branch into the forest, in batches of an operation each.
// between, unless it is nil, is called after each batch with the number of its messages, outside of
// the lock; its error ends the work. Errors: history.ErrNotFound where there is no such branch.
func (s *Writer) GraduateAll(
	ctx context.Context, session, branch string, between func(messages int) error,
) (Graduation, error) {
	return s.graduateAll(ctx, []history.BranchName{{Session: session, Branch: branch}}, between,
		func(error) bool { return false })
}

// GraduateBranches is GraduateAll for several branches, one after the other. It passes over those
// that are not there any more.
func (s *Writer) GraduateBranches(
	ctx context.Context, branches []history.BranchName, between func(messages int) error,
) (Graduation, error) {
	return s.graduateAll(ctx, branches, between,
		func(err error) bool { return errors.Is(err, history.ErrNotFound) })
}

// branchesAtOnce is how many branches without anything due are looked at under one lock. To take
// the lock is to read the log and the checkpoint, which takes longer than to look at a branch.
const branchesAtOnce = 64

// graduateAll is GraduateBranches, which passes over a branch with an error that passOver knows.
func (s *Writer) graduateAll(
	ctx context.Context, branches []history.BranchName, between func(messages int) error,
	passOver func(error) bool,
) (Graduation, error) {
	var g Graduation
	var kept keptBacklog
	for len(branches) > 0 {
		if err := ctx.Err(); err != nil {
			return g, err
		}
		n := 0
		err := s.Locked(ctx, func(t *Tx) error {
			for looked := 0; n == 0 && looked < branchesAtOnce && len(branches) > 0; looked++ {
				done, err := t.graduateBranch(branches[0].Session, branches[0].Branch, &kept)
				if err != nil && !passOver(err) {
					return err
				}
				g.Graduated += done.Entries
				g.Merged += done.merged
				if n = done.Entries; done.passed == 0 {
					branches, kept = branches[1:], keptBacklog{}
				}
			}
			return nil
		})
		if err == nil && n > 0 && between != nil {
			err = between(n)
		}
		if err != nil {
			return g, err
		}
	}
	return g, nil
}

// keptBacklog is a backlog that is kept between batches: to read it again takes a pass over all due
// messages.
type keptBacklog struct {
	*history.Head
	number uint64 // of the operation that left the backlog as it is
}

// backlog returns what is kept of a branch, or reads it.
func (t *Tx) backlog(session, branch string, v format.Value, kept *keptBacklog) error {
	if kept.Head != nil && kept.Value == v {
		return nil
	}
	h, err := t.Backlog(session, branch, v)
	if err == nil {
		*kept = keptBacklog{h, t.store.View.Number}
	}
	return err
}

// lineBegan reports whether an operation after one has begun a branch, which may have messages of
// another one.
func (t *Tx) lineBegan(number uint64) (begun bool, err error) {
	if number == t.store.View.Number {
		return false, nil
	}
	err = t.Refs.Backward(t.store.View, func(r refs.Record) bool {
		if r.Op.Number <= number {
			return false
		}
		begun = slices.ContainsFunc(r.Op.Refs, func(u format.RefUpdate) bool {
			_, _, branch := history.BranchOfRef(u.Name)
			return branch && !u.Old.Exists()
		})
		return !begun
	})
	return begun, err
}

// graduateBranch graduates one batch in an operation of its own.
func (t *Tx) graduateBranch(session, branch string, kept *keptBacklog) (graduated, error) {
	name := history.RefName(session, branch)
	old := t.store.View.Get(name)
	if !old.Exists() {
		return graduated{}, history.UnknownSession(session, branch)
	}
	if err := t.backlog(session, branch, old, kept); err != nil {
		return graduated{}, err
	}
	h := kept.Head
	begun, err := t.lineBegan(kept.number)
	if err != nil {
		return graduated{}, err
	}
	if begun {
		h.ShareUpTo(h.Seq)
	}
	if h.Fork != "" {
		return graduated{}, nil // no summary may say what a child says before it is joined
	}
	t.store.ResumeForest(history.MainForest)
	t.store.BeforeOthers()
	done, err := t.Graduate(h, graduateBatch)
	if err != nil {
		return done, err
	}
	if done.passed == 0 {
		if t.store.View.Long() {
			err := t.store.ShortenLog()
			if err != nil && !history.IsDamage(err) {
				return done, err
			}
			if err != nil {
				return done, nil // the forest in memory may be written in part
			}
		}
		t.store.KeepForest(history.MainForest)
		return done, nil
	}
	op := &format.Operation{Verb: refs.VerbGraduate, Session: session,
		Refs: []format.RefUpdate{{Name: name, Old: old, New: h.Value}}}
	if err := t.store.Commit(op); err != nil {
		*kept = keptBacklog{}
		return done, err
	}
	kept.number = t.store.View.Number
	t.store.KeepForest(history.MainForest)
	if len(h.Items) <= history.MaxBacklog {
		t.SaveHead(h)
	}
	return done, nil
}
