package session

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/score"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/index"
	"github.com/gemini-ctx/ctx/refs"
)

// candidates are the clusters a unit may join, as of a forest and some decisions after it.
type candidates struct {
	*score.Candidates
	opened uint64 // clusters opened so far
	stamp  index.Stamp
}

// candidates returns the candidates as of the transaction: from the cache, brought up to date, or from the forest itself.
func (t *tx) candidates() (*candidates, error) {
	if t.cands != nil {
		return t.cands, nil
	}
	c, err := t.cachedCandidates()
	if err != nil {
		return nil, err
	}
	if c == nil {
		if c, err = t.freshCandidates(); err != nil {
			return nil, err
		}
	}
	t.cands = c
	return c, nil
}

// candidateStamp is the forest that its ref names, and how many decisions there are after it.
func candidateStamp(view *refs.View) index.Stamp {
	return index.Stamp{Number: uint64(len(view.Pending(MainForest))), Digest: view.Get(forestRef).ID}
}

// cachedCandidates returns nil where the cache cannot be brought up to date: it is of another forest, or members have left since.
func (t *tx) cachedCandidates() (*candidates, error) {
	payload, stamp, ok := t.Cache.Load(index.CandidatesName(MainForest))
	now := candidateStamp(t.view)
	if !ok || stamp.Digest != now.Digest || stamp.Number > now.Number || len(payload) < 9 || payload[0] != looksVersion {
		return nil, nil
	}
	opened := binary.BigEndian.Uint64(payload[1:])
	list, err := score.DecodeCandidates(payload[9:])
	if err != nil {
		return nil, nil
	}
	c := &candidates{Candidates: list, opened: opened, stamp: now}
	for _, d := range t.view.Pending(MainForest)[stamp.Number:] {
		switch d.Kind {
		case format.DecideJoin:
			if err := t.touch(c, d); err != nil {
				return nil, err
			}
		case format.DecideRetract, format.DecideRestore:
			return nil, nil
		}
	}
	return c, nil
}

func (t *tx) touch(c *candidates, d format.Decision) error {
	_, f, err := t.memberFeatures(d.ID)
	if err != nil {
		return err
	}
	c.Touch(d.Cluster, []score.Features{f})
	c.opened = max(c.opened, d.Cluster+1)
	return nil
}

// membersRead is how many of a cluster's newest members give it its terms when the cache is lost.
const membersRead = 32

// freshCandidates takes the clusters that arrived last, live ones first, from the forest.
func (t *tx) freshCandidates() (*candidates, error) {
	st, err := t.Forest(t.view)
	if err != nil {
		return nil, err
	}
	c := &candidates{Candidates: &score.Candidates{}, opened: st.Opened, stamp: candidateStamp(t.view)}
	live := st.Live()
	slices.SortFunc(live, func(a, b *forest.Cluster) int { return cmp.Compare(b.Arrival, a.Arrival) })
	live = live[:min(len(live), score.MaxClusters)]
	evicted, _, err := st.NewestEvicted(score.MaxClusters - len(live))
	if err != nil {
		return nil, err
	}
	var known []member
	for _, e := range evicted {
		stone, err := t.Loader().Tombstone(e.Tombstone)
		if err != nil {
			return nil, err
		}
		var members []format.ID
		err = forest.Walk(t.Loader(), stone.Node, func(_ format.ID, entries []format.ID) { members = append(members, entries...) })
		if err == nil {
			known, err = t.appendMembers(known, e.Cluster, members)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, l := range live {
		members, err := st.Members(l)
		if err == nil {
			known, err = t.appendMembers(known, l.Number, members)
		}
		if err != nil {
			return nil, err
		}
	}
	// The candidates learn from the order in which things were said. Between sessions it is that of the clock, which is good enough for a cache.
	slices.SortStableFunc(known, func(a, b member) int { return cmp.Or(a.time.Compare(b.time), cmp.Compare(a.seq, b.seq)) })
	for _, m := range known {
		c.Touch(m.cluster, []score.Features{m.features})
	}
	return c, nil
}

// member is a member of a cluster as the candidates learn of it.
type member struct {
	cluster  uint64
	seq      uint64
	time     time.Time
	features score.Features
}

// appendMembers reads the newest members of a cluster.
func (t *tx) appendMembers(list []member, cluster uint64, ids []format.ID) ([]member, error) {
	for _, id := range ids[max(0, len(ids)-membersRead):] {
		e, f, err := t.memberFeatures(id)
		if err != nil {
			return nil, err
		}
		list = append(list, member{cluster: cluster, seq: e.Seq, time: e.Time, features: f})
	}
	return list, nil
}

// memberFeatures reads what the score looks at in a member, by its newest text.
func (t *tx) memberFeatures(id format.ID) (*format.Entry, score.Features, error) {
	shown, err := t.latest(t.view, id)
	if err != nil {
		return nil, score.Features{}, err
	}
	e := shown.Entry
	return e, score.Of(messageOf(e.Session, e, shown.Text)), nil
}

// saveCandidates keeps the candidates for the next command, if they are those of the newest operation.
func (t *tx) saveCandidates() {
	if t.cands == nil {
		return
	}
	t.cands.stamp = candidateStamp(t.view)
	payload := t.cands.Append(binary.BigEndian.AppendUint64([]byte{looksVersion}, t.cands.opened))
	if err := t.Cache.Store(index.CandidatesName(MainForest), t.cands.stamp, payload); err != nil {
		t.warn(fmt.Errorf("cannot write the cache: %w", err))
	}
}

// carryCandidates has the candidates at hand, so that the commit saves them under a new stamp, where an operation writes the forest anew and no member
// leaves: they are as good after it as before.
func (t *tx) carryCandidates(op *format.Operation) error {
	if t.cands != nil || !slices.Contains(op.RefNames(), forestRef) {
		return nil
	}
	if someLeft(t.decided) {
		return nil
	}
	c, err := t.cachedCandidates()
	t.cands = c
	return err
}

// someLeft reports whether members leave by some decisions, or come back.
func someLeft(decided []format.Decision) bool {
	return slices.ContainsFunc(decided, func(d format.Decision) bool {
		return d.Kind == format.DecideRetract || d.Kind == format.DecideRestore
	})
}
