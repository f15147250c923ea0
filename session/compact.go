package session

import (
	"cmp"
	"context"
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
	members []format.ID
	covers  []format.Cover // real ones
}

// answer is a claim with its summary.
type answer struct {
	claim
	summary format.ID
}

// Branch names a branch of a session.
type BranchName struct{ Session, Branch string }

// Compact graduates what is due on the branches, summarises the clusters that want it, evicts the oldest above the limit, and has the branches
// leave. Summaries are made outside the lock and recorded in one operation, each only as far as its cluster is still what it was.
func (s *Store) Compact(ctx context.Context, branches []BranchName) (Compaction, error) {
	var done Compaction
	for _, b := range branches {
		if _, err := s.Graduate(ctx, b.Session, b.Branch); err != nil {
			return done, err
		}
	}
	view, err := s.Refs.Read()
	if err != nil {
		return done, err
	}
	claims, err := s.claims(view)
	if err != nil {
		return done, err
	}
	answers, err := s.summarise(ctx, view, claims)
	if err != nil {
		return done, err
	}
	err = s.locked(ctx, func(t *tx) error {
		done, err = t.settle(answers, branches)
		return err
	})
	return done, err
}

// claims returns the live clusters that want a summary.
func (s *Store) claims(view *refs.View) ([]claim, error) {
	st, err := s.Forest(view)
	if err != nil {
		return nil, err
	}
	var list []claim
	for _, c := range st.Live() {
		if !c.Dirty() {
			continue
		}
		members, err := st.Members(c)
		if err != nil {
			return nil, err
		}
		node, err := st.Node(c)
		if err != nil {
			return nil, err
		}
		cl := claim{cluster: c.Number, node: node, members: slices.Clone(members)}
		for _, v := range c.Covers {
			if !v.Interim {
				cl.covers = append(cl.covers, v)
			}
		}
		list = append(list, cl)
	}
	return list, nil
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
		answers = append(answers, answer{claim: c, summary: object.ID()})
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

// settle records answers under the lock, each against the forest as it is now, and then evicts and leaves.
func (t *tx) settle(answers []answer, branches []BranchName) (Compaction, error) {
	var done Compaction
	st, err := t.forest()
	if err != nil {
		return done, err
	}
	for _, a := range answers {
		if err := t.settleOne(st, a, &done); err != nil {
			return done, err
		}
	}
	if err := t.evict(st, &done); err != nil {
		return done, err
	}
	op := &format.Operation{Verb: "compact"}
	if len(branches) == 1 {
		op.Session = branches[0].Session
	}
	for _, b := range branches {
		name := RefName(b.Session, b.Branch)
		old := t.view.Get(name)
		if !old.Exists() {
			continue // removed while its summaries were made
		}
		tip, err := t.entry(old.ID)
		if err != nil {
			return done, err
		}
		v := old
		if old.Frontier > 0 {
			if v, err = t.leave(old, tip.Seq); err != nil {
				return done, err
			}
		}
		if v != old {
			op.Refs = append(op.Refs, format.RefUpdate{Name: name, Old: old, New: v})
		}
	}
	if len(t.decided)+len(op.Refs) > 0 {
		if _, err := t.writeForest(); err != nil {
			return done, err
		}
		if err := t.commit(op); err != nil {
			return done, err
		}
		t.stampCandidates()
	}
	done.Forest = t.view.Get(forestRef).ID
	for _, c := range st.Live() {
		done.Roots++
		if c.Dirty() {
			done.Dirty++
		}
	}
	return done, nil
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

// evict makes tombstones of the clusters that arrived longest ago, above the limit. One that is not summarised stays.
func (t *tx) evict(st *forest.State, done *Compaction) error {
	live := st.Live()
	slices.SortFunc(live, func(a, b *forest.Cluster) int { return cmp.Compare(a.Arrival, b.Arrival) })
	over := len(live) - t.Config.Forest.MaxColdClusters
	for _, c := range live {
		if over <= 0 {
			return nil
		}
		if c.Dirty() {
			continue
		}
		object, err := t.tombstone(st, c)
		if err != nil {
			return err
		}
		if err := t.decide(format.Decision{Kind: format.DecideEvict, Cluster: c.Number, ID: t.add(object)}); err != nil {
			return err
		}
		done.Evicted++
		over--
	}
	return nil
}

// tombstone builds the object of an evicted cluster. Its line is made of the summary, which is at hand and small.
func (t *tx) tombstone(st *forest.State, c *forest.Cluster) (format.Raw, error) {
	node, err := st.Node(c)
	if err != nil {
		return format.Raw{}, err
	}
	members, err := st.Members(c)
	if err != nil {
		return format.Raw{}, err
	}
	list, _, err := t.ranked(c.Covers[0].Summary)
	if err != nil {
		return format.Raw{}, err
	}
	first, err := t.entry(members[0])
	if err != nil {
		return format.Raw{}, err
	}
	last, err := t.entry(members[len(members)-1])
	if err != nil {
		return format.Raw{}, err
	}
	line := summarize.Line(sourcesOf(list), len(members), first.Time, last.Time)
	stone := &format.Tombstone{Cluster: c.Number, Node: node, Count: c.Count(), Arrival: c.Arrival, Summary: c.Covers[0].Summary}
	raw, err := t.seal([]byte(line), format.MediaText, func(b format.Body) ([]byte, error) {
		stone.Body = b
		return stone.Encode()
	})
	if err != nil {
		return raw, fmt.Errorf("cluster %d: %w", c.Number, err)
	}
	// The node has to be in the store, whether or not the forest was written since the cluster grew.
	_, err = t.addNodes(members)
	return raw, err
}
