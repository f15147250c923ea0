package clusters

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/score"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// Candidates are the clusters a unit may join, as of a forest and some decisions after it.
type Candidates struct {
	*score.Candidates
	opened uint64 // clusters opened so far
	stamp  cache.Stamp
}

// Candidates returns the candidates as of the transaction. It reads them from the cache and
// applies later decisions, or computes them from the forest.
func (t *Tx) Candidates() (*Candidates, error) {
	if t.cands != nil {
		return t.cands, nil
	}
	c, err := t.CachedCandidates()
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
func candidateStamp(view *refs.View) cache.Stamp {
	return cache.Stamp{Number: uint64(view.PendingCount(history.MainForest)),
		Digest: view.Get(history.ForestRef).ID}
}

// CachedCandidates returns nil if the cache cannot be brought up to date: it belongs to another
// forest, or members were taken out or put back since.
func (t *Tx) CachedCandidates() (*Candidates, error) {
	payload, stamp, ok := t.Cache.Load(cache.CandidatesName(history.MainForest))
	now := candidateStamp(t.store.View)
	if !ok || stamp.Digest != now.Digest || stamp.Number > now.Number || len(payload) < 9 ||
		payload[0] != history.LooksVersion {
		return nil, nil
	}
	opened := binary.BigEndian.Uint64(payload[1:])
	list, err := score.DecodeCandidates(payload[9:])
	if err != nil {
		return nil, nil
	}
	c := &Candidates{Candidates: list, opened: opened, stamp: now}
	if stamp.Number == now.Number {
		return c, nil
	}
	for _, d := range t.store.View.Pending(history.MainForest, int(stamp.Number)) {
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

func (t *Tx) touch(c *Candidates, d format.Decision) error {
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
func (t *Tx) freshCandidates() (*Candidates, error) {
	st, err := t.Forest(t.store.View)
	if err != nil {
		return nil, err
	}
	c := &Candidates{Candidates: &score.Candidates{}, opened: st.Opened,
		stamp: candidateStamp(t.store.View)}
	live := st.Live()
	slices.SortFunc(live,
		func(a, b *forest.Cluster) int { return cmp.Compare(b.Arrival, a.Arrival) })
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
		err = forest.Walk(t.Loader(), stone.Node,
			func(_ format.ID, entries []format.ID) { members = append(members, entries...) })
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
	// The candidates learn from messages in their order. Across sessions that is the order of
	// their times, which is exact enough for a cache.
	slices.SortStableFunc(known,
		func(a, b member) int { return cmp.Or(a.time.Compare(b.time), cmp.Compare(a.seq, b.seq)) })
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
func (t *Tx) appendMembers(list []member, cluster uint64, ids []format.ID) ([]member, error) {
	for _, id := range ids[max(0, len(ids)-membersRead):] {
		e, f, err := t.memberFeatures(id)
		if err != nil {
			return nil, err
		}
		list = append(list, member{cluster: cluster, seq: e.Seq, time: e.Time, features: f})
	}
	return list, nil
}

// memberFeatures returns a member and the features that its score depends on, of its latest
// version.
func (t *Tx) memberFeatures(id format.ID) (*format.Entry, score.Features, error) {
	shown, err := t.latest(id)
	if err != nil {
		return nil, score.Features{}, err
	}
	e := shown.Entry
	return e, score.Of(history.ScoreMessage(e.Session, e, shown.Text)), nil
}

// latest reads the latest version of a member. Without the links, which a walk over all sessions
// makes, it looks for versions among the newest entries of the session alone: that of an old
// message may be missed, and its cluster is then found by what was said at first.
func (t *Tx) latest(id format.ID) (*history.Shown, error) {
	at, err := t.HasLinks(t.store.View)
	if err != nil {
		return nil, err
	}
	if at {
		return t.Latest(t.store.View, id)
	}
	e, err := t.Header(id)
	if err != nil {
		return nil, err
	}
	newer, err := t.newAmends(e.Session)
	if err != nil {
		return nil, err
	}
	if newest, ok := newer[id]; ok {
		id = newest
	}
	return t.Entry(id)
}

// newAmends returns the latest versions of messages by the newest entries of the branches of a
// session.
func (t *Tx) newAmends(session string) (map[format.ID]format.ID, error) {
	if newer, ok := t.amends[session]; ok {
		return newer, nil
	}
	newer, left := map[format.ID]format.ID{}, amendsWithin
	for _, branch := range history.BranchesIn(t.store.View, session) {
		for e, err := range t.Walk(t.store.View.Get(history.RefName(session, branch)).ID,
			history.WithJoined) {
			if err != nil {
				return nil, err
			}
			if left--; left < 0 {
				break
			}
			if _, known := newer[e.Amends]; e.Kind == format.KindAmend && !known {
				newer[e.Amends] = e.ID
			}
		}
	}
	if t.amends == nil {
		t.amends = map[string]map[format.ID]format.ID{}
	}
	t.amends[session] = newer
	return newer, nil
}

// amendsWithin is how many of the newest entries of a session may be later versions: more than a
// window has.
const amendsWithin = 4 * history.MaxBacklog

// saveCandidates stores the candidates in the cache for the next command.
func (t *Tx) saveCandidates() {
	if t.cands == nil {
		return
	}
	t.cands.stamp = candidateStamp(t.store.View)
	payload := t.cands.Append(binary.BigEndian.AppendUint64([]byte{history.LooksVersion},
		t.cands.opened))
	if err := t.Cache.Store(cache.CandidatesName(history.MainForest), t.cands.stamp,
		payload); err != nil {
		t.Report(fmt.Errorf("cannot write the cache: %w", err))
	}
}

// carryCandidates loads the candidates when an operation writes the forest and takes out no
// member. They stay valid, so the commit can save them under the stamp of the new forest.
func (t *Tx) carryCandidates(op *format.Operation) error {
	if t.cands != nil || !slices.Contains(op.RefNames(), history.ForestRef) {
		return nil
	}
	if someLeft(t.store.Decided(history.MainForest)) {
		return nil
	}
	c, err := t.CachedCandidates()
	t.cands = c
	return err
}

// someLeft reports whether decisions take members out or put them back.
func someLeft(decided []format.Decision) bool {
	return slices.ContainsFunc(decided, func(d format.Decision) bool {
		return d.Kind == format.DecideRetract || d.Kind == format.DecideRestore
	})
}
