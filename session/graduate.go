package session

import (
	"context"
	"slices"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/score"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session/window"
)

// GraduateOnAppend is how many due messages an append graduates at most; the rest is for graduate and compact. It bounds what an
// append after a large import costs.
const GraduateOnAppend = 8

// graduateBatch is how many messages graduate in one operation elsewhere: the lock is held for as long as one batch takes.
const graduateBatch = 1024

// graduated counts what a graduation did.
type graduated struct {
	entries int // messages that became members
	merged  int // of these, how many joined a cluster that was there
	passed  int // messages that the frontier went past
}

// graduate moves units of the branch that are due into the forest, oldest first, until limit messages have: their decisions are for
// the next commit, and h has the new frontier.
func (t *tx) graduate(h *head, limit int) (graduated, error) {
	var done graduated
	units := window.Due(h.windowItems(), h.Model, t.params())
	if len(units) == 0 {
		return done, nil
	}
	c, err := t.candidates()
	if err != nil {
		return done, err
	}
	there, err := t.already(h, units)
	if err != nil {
		return done, err
	}
	for _, u := range units {
		if done.passed > 0 && done.passed+u.End-u.Start > limit {
			break
		}
		fresh := slices.DeleteFunc(slices.Clone(h.Items[u.Start:u.End]), func(it item) bool {
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
			if err := t.decide(format.Decision{Kind: format.DecideJoin, Cluster: cluster, ID: it.ID}); err != nil {
				return done, err
			}
		}
		h.Cluster, h.Joined = cluster, true
		done.entries += len(fresh)
		if !opened {
			done.merged += len(fresh)
		}
	}
	h.value.Frontier += uint64(done.passed)
	clear(h.Items[:done.passed]) // what they said is not needed any more
	h.Items = h.Items[done.passed:]
	return done, nil
}

// already returns which of the messages that are due are members, since another line of the session has graduated them: what a line from the past has in common
// with where it came from, and what came to both by joins. Nobody else can have what was said after Alone, and open children graduate nothing.
func (t *tx) already(h *head, units []window.Unit) (map[format.ID]forest.Place, error) {
	ids := map[format.ID]bool{}
	for i, it := range h.Items[:units[len(units)-1].End] {
		if h.value.Frontier+uint64(i) < h.Alone {
			ids[it.ID] = true
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	lines := 0
	for _, branch := range branchesIn(t.view, h.session) {
		if branch == h.branch {
			continue
		}
		fork, err := t.openFork(h.session, branch, t.view.Get(RefName(h.session, branch)))
		if err != nil {
			return nil, err
		}
		if fork.IsZero() {
			lines++
		}
	}
	if lines == 0 {
		return nil, nil
	}
	st, err := t.forest()
	if err != nil {
		return nil, err
	}
	return st.Find(ids)
}

// place chooses the cluster of a unit: that of the call it answers or of the exchange it goes on with, else the one that the score prefers, else a
// new one.
func (t *tx) place(h *head, c *candidates, u window.Unit) (cluster uint64, opened bool, err error) {
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

// lookahead is how many later messages the choice of a cluster may look at: what the window holds by default when a message leaves it.
const lookahead = 26

func (t *tx) allFeatures(h *head, start, end int) ([]score.Features, error) {
	list := make([]score.Features, 0, end-start)
	for i := start; i < end; i++ {
		f, err := t.features(h, &h.Items[i])
		if err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return list, nil
}

// lateResult returns the cluster of the call that a unit answers, where the call graduated alone because its result was long in coming.
func (t *tx) lateResult(h *head, u window.Unit) (cluster uint64, ok bool, err error) {
	results := h.Items[u.Start].Results
	if len(results) == 0 {
		return 0, false, nil
	}
	// It may be of the batch that is being appended.
	if err := t.flush(); err != nil {
		return 0, false, err
	}
	var call format.ID
	n := 0
	err = t.back(h.Items[u.Start].ID, func(id format.ID, e *format.Entry) bool {
		n++
		if slices.Contains(callIDs(e), results[0]) {
			call = id
			if e.Kind == format.KindAmend {
				call = e.Amends
			}
		}
		return call.IsZero() && n < maxPairDistance
	})
	if err != nil || call.IsZero() {
		return 0, false, err
	}
	st, err := t.forest()
	if err != nil {
		return 0, false, err
	}
	found, err := st.Find(map[format.ID]bool{call: true})
	place, ok := found[call]
	return place.Cluster, ok, err
}

// Graduation is what Graduate reports.
type Graduation struct {
	Graduated int // messages that became members
	Merged    int // of these, how many joined a cluster that was there
	Roots     int // live clusters now
	Forest    format.ID
}

// Graduate moves every due unit of a branch into the forest, in batches of an operation each, makes interim summaries where clusters have none, so that
// the next leave has little to do, and writes the forest.
func (s *Store) Graduate(ctx context.Context, session, branch string) (Graduation, error) {
	g, err := s.graduateAll(ctx, session, branch)
	for more := true; more && err == nil; {
		if err = ctx.Err(); err != nil {
			return g, err
		}
		err = s.locked(ctx, func(t *tx) error {
			if more, err = t.freezeSome(session); err != nil || more {
				return err
			}
			st, err := t.forest()
			if err != nil {
				return err
			}
			g.Roots, g.Forest = len(st.Live()), t.view.Get(forestRef).ID
			if len(t.view.Pending(MainForest)) > 0 {
				if g.Forest, err = t.writeForest(); err != nil {
					return err
				}
				if err := t.commit(&format.Operation{Verb: refs.VerbGraduate, Session: session}); err != nil {
					return err
				}
			}
			return t.shortenLog()
		})
	}
	return g, err
}

// freezeBatch is how many clusters get an interim summary under one lock.
const freezeBatch = 128

// freezeSome makes interim summaries for some clusters that cannot be rendered whole, in an operation of their own. more says that there are others.
func (t *tx) freezeSome(session string) (more bool, err error) {
	st, err := t.forest()
	if err != nil {
		return false, err
	}
	frozen := 0
	for _, c := range st.Live() {
		if c.Frozen() {
			continue
		}
		if frozen == freezeBatch {
			more = true
			break
		}
		if err := t.freeze(st, c); err != nil {
			return false, err
		}
		frozen++
	}
	if frozen == 0 {
		return false, nil
	}
	return more, t.commit(&format.Operation{Verb: refs.VerbGraduate, Session: session})
}

// graduateAll moves every due unit of a branch into the forest, in batches of an operation each.
func (s *Store) graduateAll(ctx context.Context, session, branch string) (Graduation, error) {
	var g Graduation
	var h *head // from batch to batch: reading it anew costs a pass over everything that is due
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return g, err
		}
		err := s.locked(ctx, func(t *tx) error {
			done, err := t.graduateBranch(session, branch, &h)
			g.Graduated += done.entries
			g.Merged += done.merged
			more = done.passed > 0
			return err
		})
		if err != nil {
			return g, err
		}
	}
	return g, nil
}

// graduateBranch graduates one batch in an operation of its own.
func (t *tx) graduateBranch(session, branch string, kept **head) (graduated, error) {
	name := RefName(session, branch)
	old := t.view.Get(name)
	if !old.Exists() {
		return graduated{}, unknownSession(session, branch)
	}
	h := *kept
	if h == nil || h.value != old {
		var err error
		if h, err = t.wholeHead(session, branch, old); err != nil {
			return graduated{}, err
		}
		*kept = h
	}
	if h.Fork != "" {
		return graduated{}, nil // others would read in a summary what a child says before it is joined
	}
	done, err := t.graduate(h, graduateBatch)
	if err != nil || done.passed == 0 {
		return done, err
	}
	op := &format.Operation{Verb: refs.VerbGraduate, Session: session, Refs: []format.RefUpdate{{Name: name, Old: old, New: h.value}}}
	if err := t.commit(op); err != nil {
		*kept = nil
		return done, err
	}
	t.saveHead(h)
	return done, nil
}
