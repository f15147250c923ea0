package session

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
)

// MaxGeneration is how many times a summary may be made of summaries before the cluster is read whole again: text that is summarised over and
// over drifts.
const MaxGeneration = 4

// wholeCluster is the number of members up to which the built-in summariser always reads a cluster whole: the reading is cheap, and the result
// better than a summary of a summary.
const wholeCluster = 256

// CompactOptions are for Compact.
type CompactOptions struct {
	Branches []BranchName // that graduate what is due, and leave
	// Summarizer words the summaries; nil for the built-in one, which picks sentences.
	Summarizer summarize.Summarizer
}

// Compaction is what Compact reports.
type Compaction struct {
	Settled int // summaries that cover a whole cluster
	Carried int // summaries over a part of one: it has grown since it was claimed, or is summarised in pieces
	Lost    int // summaries that came too late: the cluster was retracted, evicted, or summarised otherwise
	Known   int // summaries that were there already
	Failed  int // claims without a summary that could be used; their clusters are as they were
	Evicted int // clusters that became tombstones
	Dirty   int // clusters that still want a summary
	Roots   int // live clusters
	Forest  format.ID
	Reasons []Reason // why some were lost or failed, by outcome and kind
}

// Reason is why answers were not used.
type Reason struct {
	Outcome string // lost or failed
	Kind    string // what is counted together
	Why     string // of the first of them, a line
	Count   int
}

func (d *Compaction) lose(why string) {
	d.Lost++
	d.because("lost", why, why)
}

// fail counts an error of a summariser. Errors that can say their kind are counted by it.
func (d *Compaction) fail(err error) {
	d.Failed++
	kind := err.Error()
	var r interface{ Reason() string }
	if errors.As(err, &r) {
		kind = r.Reason()
	}
	d.because("failed", kind, err.Error())
}

func (d *Compaction) because(outcome, kind, why string) {
	at, ok := slices.BinarySearchFunc(d.Reasons, Reason{Outcome: outcome, Kind: kind}, func(a, b Reason) int {
		return cmp.Or(strings.Compare(a.Outcome, b.Outcome), strings.Compare(a.Kind, b.Kind))
	})
	if !ok {
		d.Reasons = slices.Insert(d.Reasons, at, Reason{Outcome: outcome, Kind: kind, Why: why})
	}
	d.Reasons[at].Count++
}

// BranchName names a branch of a session.
type BranchName struct{ Session, Branch string }

// claimBatch is how many clusters the built-in summariser is asked about at a time: it bounds what is in memory, and how long the lock is held to
// record the answers. Another one is asked about one cluster, so that no answer is lost with the ones after it.
const claimBatch = 1024

// compaction is one run of Compact.
type compaction struct {
	*Store
	o      CompactOptions
	forest string
	done   Compaction
}

// Compact graduates what is due on the branches, summarises the clusters that want it, evicts the oldest above the limit, and has the branches
// leave, as far as that makes what they render smaller. Summaries are made outside the lock and recorded as they come, each only as far as its
// cluster is still what it was. A summary that cannot be had leaves its cluster as it is: it is counted, and no error.
func (s *Store) Compact(ctx context.Context, o CompactOptions) (Compaction, error) {
	r := &compaction{Store: s, o: o, forest: MainForest}
	if err := r.graduate(ctx); err != nil {
		return r.done, err
	}
	err := r.summariseAll(ctx)
	if err == nil {
		err = r.finish(ctx)
	}
	return r.done, err
}

func (r *compaction) graduate(ctx context.Context) error {
	for _, b := range r.o.Branches {
		_, err := r.graduateAll(ctx, b.Session, b.Branch)
		if errors.Is(err, ErrNotFound) && len(r.o.Branches) > 1 {
			continue // removed since the branches were listed
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// summariseAll asks for a summary of every cluster that wants one now, those first that arrived longest ago. What grows meanwhile is for the next
// compaction.
func (r *compaction) summariseAll(ctx context.Context) error {
	view, err := r.Refs.Read()
	if err != nil {
		return err
	}
	st, err := r.ForestOf(view, r.forest)
	if err != nil {
		return err
	}
	var todo []uint64
	for _, c := range byArrival(st) {
		if c.Dirty() {
			todo = append(todo, c.Number)
		}
	}
	if r.o.Summarizer == nil {
		for batch := range slices.Chunk(todo, claimBatch) {
			if err := r.extractBatch(ctx, batch); err != nil {
				return err
			}
		}
		return nil
	}
	for _, number := range todo {
		if err := r.ask(ctx, number); err != nil {
			return err
		}
	}
	return nil
}

// extractBatch has the built-in summariser summarise some clusters, and records that.
func (r *compaction) extractBatch(ctx context.Context, numbers []uint64) error {
	view, err := r.Refs.Read()
	if err != nil {
		return err
	}
	st, err := r.ForestOf(view, r.forest)
	if err != nil {
		return err
	}
	claims, err := r.extractClaims(view, st, numbers)
	if err != nil {
		return err
	}
	answers, err := r.extractAll(ctx, view, claims)
	if err != nil {
		return err
	}
	return r.record(ctx, answers)
}

// record takes answers under the lock, in an operation of their own, and evicts what can be.
func (r *compaction) record(ctx context.Context, answers []answer) error {
	if len(answers) == 0 {
		return nil
	}
	return r.locked(ctx, func(t *tx) error {
		if err := t.settle(r.forest, answers, &r.done); err != nil {
			return err
		}
		if err := t.evict(r.forest, answers, false, &r.done); err != nil {
			return err
		}
		if len(t.draftOf(r.forest).decided) == 0 {
			return nil
		}
		return t.commit(&format.Operation{Verb: "compact"})
	})
}

// finish ends a compaction: it evicts above the limit, the branches leave, and the forest is written.
func (r *compaction) finish(ctx context.Context) error {
	return r.locked(ctx, func(t *tx) error {
		return t.finishCompaction(r.forest, r.o.Branches, &r.done)
	})
}

func (t *tx) finishCompaction(name string, branches []BranchName, done *Compaction) error {
	if err := t.evict(name, nil, true, done); err != nil {
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
	st, err := t.forestOf(name)
	if err != nil {
		return err
	}
	if len(t.draftOf(name).decided)+len(op.Refs)+len(t.view.Pending(name)) > 0 {
		if _, err := t.writeForestOf(name); err != nil {
			return err
		}
		if err := t.commit(op); err != nil {
			return err
		}
	}
	if err := t.shortenLog(); err != nil {
		return err
	}
	done.Forest = t.view.Get(forestRefOf(name)).ID
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
