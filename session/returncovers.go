package session

import (
	"errors"
	"slices"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// returnCovers gives the clusters that an undo or a redo changes the summaries that they had before what it takes back: the members that left took them
// along. about is the operation that is undone or redone, ops are the operations of its session, newest first.
//
// A summary comes back only over the members that it was made of, if none of them has changed since, and if no summary stands there that is newer and of
// a model while it is not. Where the log does not reach back so far, the clusters wait for the next compaction.
func (t *tx) returnCovers(about uint64, ops []refs.Record) error {
	i := slices.IndexFunc(ops, func(r refs.Record) bool { return r.Op.Number == about || r.Op.About == about })
	if i < 0 || ops[i].Op.Number < 2 {
		return nil
	}
	taken := ops[i].Op.Number
	for _, name := range t.forests() {
		if len(t.draftOf(name).decided) == 0 {
			continue
		}
		past, err := t.forestOfAt(t.view, name, taken-1)
		if errors.Is(err, ErrGone) || isDamage(err) {
			continue
		}
		if err != nil {
			return err
		}
		changed, err := t.changedSince(name, taken)
		if err != nil {
			return err
		}
		if err := t.returnCoversIn(name, past, changed); err != nil {
			return err
		}
	}
	return nil
}

// changedSince returns the members of a forest that operations after one took out, as they do with a message that says something else.
func (t *tx) changedSince(name string, number uint64) (map[format.ID]bool, error) {
	changed := map[format.ID]bool{}
	err := t.Refs.Backward(t.view, func(r refs.Record) bool {
		if r.Op.Number <= number {
			return false
		}
		if effect, _ := refs.EffectOf(r.Op.Verb); effect.Summarises {
			return true
		}
		for _, f := range r.Op.Forests {
			for _, d := range f.Decisions {
				if f.Name == name && d.Kind == format.DecideRetract {
					changed[d.ID] = true
				}
			}
		}
		return true
	})
	return changed, err
}

// returnCoversIn is returnCovers for one forest; past is what it was.
func (t *tx) returnCoversIn(name string, past *forest.State, changed map[format.ID]bool) error {
	st, err := t.forestOf(name)
	if err != nil {
		return err
	}
	seen := map[uint64]bool{}
	for _, d := range slices.Clone(t.draftOf(name).decided) {
		now := st.Cluster(d.Cluster)
		if seen[d.Cluster] || now == nil {
			continue
		}
		seen[d.Cluster] = true
		members, covers, err := t.coversIn(past, d.Cluster)
		if err != nil {
			return err
		}
		for _, v := range covers {
			back, ok, err := t.coverAgain(st, now, members, v, changed)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			if err := t.decideIn(name, back); err != nil {
				return err
			}
		}
	}
	return nil
}

// coversIn returns the members and the covers that a cluster had, live or evicted; none where there was no such cluster.
func (t *tx) coversIn(past *forest.State, number uint64) (members []format.ID, covers []format.Cover, err error) {
	at := clusterAt{number: number, live: past.Cluster(number)}
	r := t.clusters()
	if err := r.fillCluster(past, &at); err != nil || at.live == nil && at.stone.IsZero() {
		return nil, nil, err
	}
	members, err = r.membersOf(past, &at)
	return members, at.covers, err
}

// coverAgain returns the decision that has a cluster covered as it was by v, which was over some of members; ok is false where that does not fit.
func (t *tx) coverAgain(st *forest.State, now *forest.Cluster, members []format.ID, v format.Cover, changed map[format.ID]bool) (d format.Decision, ok bool, err error) {
	run := members[v.Offset : v.Offset+v.Count]
	have, err := st.Members(now)
	if err != nil {
		return d, false, err
	}
	at := slices.Index(have, run[0])
	if at < 0 || at+len(run) > len(have) || !slices.Equal(have[at:at+len(run)], run) {
		return d, false, nil
	}
	if slices.ContainsFunc(run, func(id format.ID) bool { return changed[id] }) {
		return d, false, nil
	}
	was := format.Cover{Summary: v.Summary, Offset: uint64(at), Count: v.Count, Interim: v.Interim}
	if fits, err := t.mayReplace(now.Covers, was); err != nil || !fits {
		return d, false, err
	}
	if gone, err := t.Objects.Gone([]format.ID{v.Summary}); err != nil || len(gone) > 0 {
		return d, false, err
	}
	return format.Decision{
		Kind: format.DecideSettle, Cluster: now.Number, ID: was.Summary, Offset: was.Offset, Count: was.Count, Interim: was.Interim,
	}, true, nil
}

// mayReplace reports whether a cover may come back where there are others: each that it touches must be inside it, and none may be worth more.
func (t *tx) mayReplace(covers []format.Cover, was format.Cover) (bool, error) {
	var inside []format.Cover
	for _, v := range covers {
		if v.Offset+v.Count <= was.Offset || v.Offset >= was.Offset+was.Count {
			continue
		}
		if v == was || v.Offset < was.Offset || v.Offset+v.Count > was.Offset+was.Count || was.Interim {
			return false, nil
		}
		if !v.Interim {
			inside = append(inside, v)
		}
	}
	stand, err := t.standing(inside)
	if err != nil || len(stand) == 0 {
		return err == nil, err
	}
	stood, err := t.standing([]format.Cover{was})
	return len(stood) > 0, err
}
