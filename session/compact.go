package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// MaxGeneration is how many times a summary may be made of summaries before the cluster is read whole again: text that is summarised over and
// over drifts.
const MaxGeneration = 4

// wholeCluster is the number of members up to which a cluster is always read whole: the reading is cheap, and the result better than a summary
// of a summary.
const wholeCluster = 256

// Compaction is what Compact reports.
type Compaction struct {
	Settled int // summaries that cover a whole cluster
	Carried int // summaries over a cluster that has grown since: they cover its older part
	Lost    int // summaries that came too late: the cluster was retracted, evicted, or summarised otherwise
	Known   int // summaries that were there already
	Evicted int // clusters that became tombstones
	Dirty   int // clusters that still want a summary
	Roots   int // live clusters
	Forest  format.ID
}

// claim is a cluster to be summarised, as it was seen: its node proves which members.
type claim struct {
	cluster uint64
	node    format.ID
	arrival uint64
	members []format.ID
	covers  []format.Cover // real ones
	evict   bool           // it will be evicted, as things are
}

// answer is a claim with its summary, and a tombstone for when it is evicted.
type answer struct {
	claim
	summary format.ID
	stone   format.ID // zero where none was made
}

// BranchName names a branch of a session.
type BranchName struct{ Session, Branch string }

// claimBatch is how many clusters are claimed at a time: it bounds what is in memory, and how long the lock is held to record the answers.
const claimBatch = 1024

// Compact graduates what is due on the branches, summarises the clusters that want it, evicts the oldest above the limit, and has the branches
// leave. Summaries are made outside the lock and recorded a batch at a time, each only as far as its cluster is still what it was.
func (s *Store) Compact(ctx context.Context, branches []BranchName) (Compaction, error) {
	var done Compaction
	for _, b := range branches {
		_, err := s.graduateAll(ctx, b.Session, b.Branch)
		if errors.Is(err, ErrNotFound) && len(branches) > 1 {
			continue // removed since the branches were listed
		}
		if err != nil {
			return done, err
		}
	}
	for last := false; !last; {
		view, err := s.Refs.Read()
		if err != nil {
			return done, err
		}
		claims, err := s.claims(view, claimBatch)
		if err != nil {
			return done, err
		}
		answers, err := s.summarise(ctx, view, claims)
		if err != nil {
			return done, err
		}
		before := done.Settled + done.Carried
		err = s.locked(ctx, func(t *tx) error {
			if err := t.settle(answers, &done); err != nil {
				return err
			}
			// Answers that were all lost are no reason to go on for ever.
			last = len(claims) < claimBatch || done.Settled+done.Carried == before
			if !last {
				return t.evictAndCommit(answers, false, &done)
			}
			return t.finishCompaction(answers, branches, &done)
		})
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// claims returns up to limit live clusters that want a summary, those first that arrived longest ago.
func (s *Store) claims(view *refs.View, limit int) ([]claim, error) {
	st, err := s.Forest(view)
	if err != nil {
		return nil, err
	}
	over := len(st.Live()) - s.Config.Forest.MaxColdClusters
	var list []claim
	for i, c := range byArrival(st) {
		if !c.Dirty() {
			continue
		}
		if len(list) == limit {
			break
		}
		members, err := st.Members(c)
		if err != nil {
			return nil, err
		}
		node, err := st.Node(c)
		if err != nil {
			return nil, err
		}
		cl := claim{cluster: c.Number, node: node, arrival: c.Arrival, members: slices.Clone(members), evict: i < over}
		for _, v := range c.Covers {
			if !v.Interim {
				cl.covers = append(cl.covers, v)
			}
		}
		list = append(list, cl)
	}
	return list, nil
}

// byArrival returns the live clusters, the one first whose newest member arrived longest ago.
func byArrival(st *forest.State) []*forest.Cluster {
	live := st.Live()
	slices.SortFunc(live, func(a, b *forest.Cluster) int { return cmp.Compare(a.Arrival, b.Arrival) })
	return live
}

// summarise answers claims with the built-in summariser and puts the answers, without the lock.
func (s *Store) summarise(ctx context.Context, view *refs.View, claims []claim) ([]answer, error) {
	var answers []answer
	var raws []format.Raw
	for _, c := range claims {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sum, list, inputs, err := s.extract(view, c)
		if err != nil {
			return nil, err
		}
		nodes, node, err := nodeObjects(c.members)
		if err != nil {
			return nil, err
		}
		sum.Node = node
		object, err := s.sealSummary(sum, list)
		if err != nil {
			return nil, err
		}
		raws = append(append(append(raws, nodes...), inputs...), object)
		a := answer{claim: c, summary: object.ID()}
		if c.evict {
			stone, err := s.tombstone(a, list)
			if err != nil {
				return nil, err
			}
			raws, a.stone = append(raws, stone), stone.ID()
		}
		answers = append(answers, a)
	}
	if len(raws) == 0 {
		return nil, nil
	}
	return answers, s.Objects.Put(dedupe(raws)...)
}

func dedupe(raws []format.Raw) []format.Raw {
	seen := map[format.ID]bool{}
	return slices.DeleteFunc(raws, func(r format.Raw) bool {
		id := r.ID()
		if seen[id] {
			return true
		}
		seen[id] = true
		return false
	})
}

// extract makes the summary of a claim: of every member, or of the summaries there are and the members they do not cover. inputs are the nodes
// it names.
func (s *Store) extract(view *refs.View, c claim) (sum *format.Summary, list []summarize.Sentence, inputs []format.Raw, err error) {
	sum = &format.Summary{Generation: 1, Summarizer: extractive, Version: extractiveVersion}
	raw, at := []format.ID(nil), uint64(0)
	if len(c.members) > wholeCluster {
		for _, v := range c.covers {
			sentences, generation, err := s.ranked(v.Summary)
			if err != nil {
				return nil, nil, nil, err
			}
			if generation >= MaxGeneration || sentences == nil {
				list, sum.Inputs, sum.Generation, raw, at = nil, nil, 1, nil, 0
				break
			}
			raw = append(raw, c.members[at:v.Offset]...)
			at = v.Offset + v.Count
			list = append(list, sentences...)
			sum.Inputs = append(sum.Inputs, format.Input{Summary: true, ID: v.Summary})
			sum.Generation = max(sum.Generation, generation+1)
		}
	}
	raw = append(raw, c.members[at:]...)
	if len(raw) > 0 {
		sources, err := s.sources(view, raw)
		if err != nil {
			return nil, nil, nil, err
		}
		list = merge(list, summarize.Extract(sources, half(sources)))
		nodes, node, err := nodeObjects(raw)
		if err != nil {
			return nil, nil, nil, err
		}
		inputs = nodes
		sum.Inputs = append(sum.Inputs, format.Input{ID: node})
	}
	return sum, list, inputs, nil
}

// settle takes answers under the lock, each against the forest as it is now.
func (t *tx) settle(answers []answer, done *Compaction) error {
	st, err := t.forest()
	if err != nil {
		return err
	}
	for _, a := range answers {
		if err := t.settleOne(st, a, done); err != nil {
			return err
		}
	}
	return nil
}

// evictAndCommit records what was settled, and evicts above the limit. Before the last batch it goes no further than the first cluster that
// still wants a summary, so that the oldest go first.
func (t *tx) evictAndCommit(answers []answer, last bool, done *Compaction) error {
	if err := t.evict(answers, last, done); err != nil {
		return err
	}
	if len(t.decided) == 0 {
		return nil
	}
	return t.commit(&format.Operation{Verb: "compact"})
}

// finishCompaction is evictAndCommit for the last batch: the branches leave, and the forest is written.
func (t *tx) finishCompaction(answers []answer, branches []BranchName, done *Compaction) error {
	if err := t.evict(answers, true, done); err != nil {
		return err
	}
	op := &format.Operation{Verb: "compact"}
	if len(branches) == 1 {
		op.Session = branches[0].Session
	}
	for _, b := range branches {
		u, moved, err := t.leaveFor(b)
		if err != nil {
			return err
		}
		if moved {
			op.Refs = append(op.Refs, u)
		}
	}
	st, err := t.forest()
	if err != nil {
		return err
	}
	if len(t.decided)+len(op.Refs)+len(t.view.Pending(MainForest)) > 0 {
		if _, err := t.writeForest(); err != nil {
			return err
		}
		if err := t.commit(op); err != nil {
			return err
		}
	}
	if err := t.shortenLog(); err != nil {
		return err
	}
	done.Forest = t.view.Get(forestRef).ID
	for _, c := range st.Live() {
		done.Roots++
		if c.Dirty() {
			done.Dirty++
		}
	}
	return nil
}

// leaveFor has a branch leave. A branch with nothing in the forest has nothing to adopt; one that was removed meanwhile is passed over.
func (t *tx) leaveFor(b BranchName) (u format.RefUpdate, moved bool, err error) {
	name := RefName(b.Session, b.Branch)
	old := t.view.Get(name)
	if !old.Exists() || old.Frontier == 0 {
		return u, false, nil
	}
	v, err := t.leave(old)
	return format.RefUpdate{Name: name, Old: old, New: v}, v != old, err
}

func (t *tx) settleOne(st *forest.State, a answer, done *Compaction) error {
	c := st.Cluster(a.cluster)
	count := uint64(len(a.members))
	if c == nil || c.Count() < count {
		done.Lost++
		return nil
	}
	members, err := st.Members(c)
	if err != nil {
		return err
	}
	if !slices.Equal(members[:count], a.members) {
		done.Lost++
		return nil
	}
	for _, v := range c.Covers {
		switch {
		case v.Interim || v.Offset >= count:
		case v.Summary == a.summary:
			done.Known++
			return nil
		case v.Offset == 0 && v.Count >= count || v.Offset+v.Count > count || !slices.Contains(a.covers, v):
			done.Lost++ // somebody else answered in the meantime
			return nil
		}
	}
	if c.Count() == count {
		done.Settled++
	} else {
		done.Carried++
	}
	return t.decide(format.Decision{Kind: format.DecideSettle, Cluster: a.cluster, ID: a.summary, Count: count})
}

// evict makes tombstones of the clusters that arrived longest ago, above the limit. One that is not summarised stays; before the last batch
// it also ends the eviction.
func (t *tx) evict(answers []answer, last bool, done *Compaction) error {
	st, err := t.forest()
	if err != nil {
		return err
	}
	made := map[uint64]answer{}
	for _, a := range answers {
		made[a.cluster] = a
	}
	live := byArrival(st)
	over := len(live) - t.Config.Forest.MaxColdClusters
	for _, c := range live {
		if over <= 0 || c.Dirty() && !last {
			return nil
		}
		if c.Dirty() {
			continue
		}
		stone, err := t.stoneOf(st, c, made[c.Number])
		if err != nil {
			return err
		}
		if err := t.decide(format.Decision{Kind: format.DecideEvict, Cluster: c.Number, ID: stone}); err != nil {
			return err
		}
		done.Evicted++
		over--
	}
	return nil
}

// stoneOf returns the tombstone that was made with the cluster's summary, if it still fits, else makes one.
func (t *tx) stoneOf(st *forest.State, c *forest.Cluster, a answer) (format.ID, error) {
	if !a.stone.IsZero() && c.Covers[0].Summary == a.summary && c.Arrival == a.arrival {
		return a.stone, nil
	}
	members, err := st.Members(c)
	if err != nil {
		return format.ID{}, err
	}
	list, _, err := t.ranked(c.Covers[0].Summary)
	if err != nil {
		return format.ID{}, err
	}
	// The node has to be in the store, whether or not the forest was written since the cluster grew.
	node, err := t.addNodes(members)
	if err != nil {
		return format.ID{}, err
	}
	raw, err := t.tombstone(answer{
		claim:   claim{cluster: c.Number, node: node, arrival: c.Arrival, members: members},
		summary: c.Covers[0].Summary,
	}, list)
	if err != nil {
		return format.ID{}, err
	}
	return t.add(raw), nil
}

// tombstone builds the object of an evicted cluster. Its line is made of the summary, which is at hand and small.
func (s *Store) tombstone(a answer, list []summarize.Sentence) (format.Raw, error) {
	first, last, err := s.ends(a.members[0], a.members[len(a.members)-1])
	if err != nil {
		return format.Raw{}, err
	}
	line := summarize.Line(sourcesOf(list), len(a.members), first.Time, last.Time)
	stone := &format.Tombstone{Cluster: a.cluster, Node: a.node, Count: uint64(len(a.members)), Arrival: a.arrival, Summary: a.summary}
	raw, err := s.seal([]byte(line), format.MediaText, func(b format.Body) ([]byte, error) {
		stone.Body = b
		return stone.Encode()
	})
	if err != nil {
		return raw, fmt.Errorf("cluster %d: %w", a.cluster, err)
	}
	return raw, nil
}
