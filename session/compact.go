package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
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
	// Strategy is UnionFind or Flat; "" is what Strategy says.
	Strategy string
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
	// Strategy is the one that was used. It is Flat in spite of what was asked for where the main forest cannot be read.
	Strategy string
	Reasons  []Reason // why some were lost or failed, by outcome and kind
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
	force  bool // the branches leave whatever that does to what they render
	owners owners
	seen   int // what was forgotten when the words for the answers were read: a ForgetMark
	done   Compaction
}

// Compact graduates what is due on the branches, summarises the clusters that want it, evicts the oldest above the limit, and has the branches
// leave. Summaries are made outside the lock and recorded as they come, each only as far as its cluster is still what it was. A summary that
// cannot be had leaves its cluster as it is: it is counted, and no error.
//
// From its first leave on, no branch renders more tokens after a compaction than before: it stays as it is where leaving would not make that less,
// unless its strategy changes. The first leave brings the frame and a heading for each cluster, which can be more than what a few short
// messages took.
//
// Where the main forest is damaged, the flat one is used, which is made of the sessions alone: what is rendered does not grow without end until
// somebody rebuilds the other.
func (s *Store) Compact(ctx context.Context, o CompactOptions) (Compaction, error) {
	if o.Strategy == "" {
		o.Strategy = s.Strategy()
	}
	name, err := ForestOfStrategy(o.Strategy)
	if err != nil {
		return Compaction{}, err
	}
	r := &compaction{Store: s, o: o, forest: name}
	err = r.run(ctx)
	if name == MainForest && err != nil && isDamage(err) {
		s.warn(fmt.Errorf("the clusters cannot be used, one flat cluster stands for them until `ctx rebuild`: %w", err))
		r = &compaction{Store: s, o: o, forest: FlatForest}
		err = r.run(ctx)
	}
	return r.done, err
}

func (r *compaction) run(ctx context.Context) error {
	if err := r.graduate(ctx); err != nil && (r.forest == MainForest || !isDamage(err)) {
		return err
	}
	if err := r.begin(ctx); err != nil {
		return err
	}
	if err := r.summariseAll(ctx); err != nil {
		return err
	}
	return r.finish(ctx)
}

// begin makes the flat forest, where it is wanted and not there.
func (r *compaction) begin(ctx context.Context) error {
	if r.forest != FlatForest {
		return nil
	}
	return r.locked(ctx, func(t *tx) error {
		if t.hasFlat() {
			return nil
		}
		if err := t.beginFlat(); err != nil {
			return err
		}
		return t.commit(&format.Operation{Verb: refs.VerbCompact})
	})
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
	return r.summarise(ctx, todo)
}

// summarise asks for the summaries of some clusters.
func (r *compaction) summarise(ctx context.Context, todo []uint64) error {
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
	var err error
	if r.seen, err = r.ForgetMark(); err != nil {
		return err
	}
	view, err := r.Refs.Read()
	if err != nil {
		return err
	}
	st, err := r.ForestOf(view, r.forest)
	if err != nil {
		return err
	}
	claims, err := r.extractClaims(view, st, &r.owners, numbers)
	if err != nil {
		return err
	}
	answers, err := r.extractAll(ctx, view, st, claims)
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
		answers, err := t.takeAnswers(r.seen, answers, &r.done)
		if err != nil {
			return err
		}
		if err := t.settle(r.forest, answers, &r.done); err != nil {
			return err
		}
		if err := t.evict(r.forest, &r.owners, answers, false, &r.done); err != nil {
			return err
		}
		if len(t.draftOf(r.forest).decided) == 0 {
			return nil
		}
		return t.commit(&format.Operation{Verb: refs.VerbCompact})
	})
}

// leaveBatch is how many branches leave under one lock: each is rendered twice for it.
const leaveBatch = 16

// finish ends a compaction: it evicts above the limit, the branches leave, and the forest is written.
func (r *compaction) finish(ctx context.Context) error {
	batches := slices.Collect(slices.Chunk(r.o.Branches, leaveBatch))
	for _, batch := range batches[:max(0, len(batches)-1)] {
		if err := r.locked(ctx, func(t *tx) error { return r.leaveAll(t, batch) }); err != nil {
			return err
		}
	}
	return r.locked(ctx, func(t *tx) error {
		var last []BranchName
		if len(batches) > 0 {
			last = batches[len(batches)-1]
		}
		if err := r.leaveAll(t, last); err != nil {
			return err
		}
		if err := t.shortenLog(); err != nil && !isDamage(err) {
			return err
		}
		return r.count(t)
	})
}

// leaveAll evicts what is above the limit, has some branches leave, and writes the forest, in one operation.
func (r *compaction) leaveAll(t *tx, branches []BranchName) error {
	if err := t.evict(r.forest, &r.owners, nil, true, &r.done); err != nil {
		return err
	}
	op := &format.Operation{Verb: refs.VerbCompact}
	if len(r.o.Branches) == 1 {
		op.Session = r.o.Branches[0].Session
	}
	var folded []*head
	for _, b := range branches {
		list, h, err := r.leaveFor(t, b)
		if err != nil {
			return err
		}
		op.Refs = append(op.Refs, list...)
		if h != nil {
			folded = append(folded, h)
		}
	}
	if len(t.draftOf(r.forest).decided)+len(op.Refs)+len(t.view.Pending(r.forest)) == 0 {
		return nil
	}
	if _, err := t.writeForestOf(r.forest); err != nil {
		return err
	}
	if err := t.commit(op); err != nil {
		return err
	}
	for _, h := range folded {
		t.saveHead(h)
	}
	return nil
}

// leaveFor has a branch leave, and returns how its refs move, and what the cache is to know of it where its tip does. A branch with nothing in the
// forest has nothing to adopt; one that was removed meanwhile is passed over.
func (r *compaction) leaveFor(t *tx, b BranchName) (moves []format.RefUpdate, folded *head, err error) {
	name := RefName(b.Session, b.Branch)
	old := t.view.Get(name)
	if !old.Exists() || old.Frontier == 0 {
		return nil, nil, nil
	}
	if fork, err := t.openFork(b.Session, b.Branch, old); err != nil || !fork.IsZero() {
		return nil, nil, err // its frontier waits for the join, and so does its pin
	}
	from, err := t.pinnedForest(old)
	if err != nil {
		return nil, nil, err
	}
	force := r.force || from != r.forest || old.Pin.IsZero()
	tip, err := t.entry(old.ID)
	if err != nil {
		return nil, nil, err
	}
	v, err := t.leaveTo(old, tip.Seq, r.forest)
	if err != nil || v == old {
		return nil, nil, err
	}
	if !force {
		if smaller, err := t.shrinks(b, old, v); err != nil || !smaller {
			return nil, nil, err
		}
	}
	if t.view.Get(EpochRef(b.Session, b.Branch)).Exists() {
		h, err := t.head(b.Session, b.Branch, old)
		if err != nil {
			return nil, nil, err
		}
		if v, moves, err = t.foldAt(b.Session, b.Branch, v, h.Seq); err != nil {
			return nil, nil, err
		}
		if h.value = v; v.ID != old.ID {
			folded = h
		}
	}
	return append(moves, format.RefUpdate{Name: name, Old: old, New: v}), folded, nil
}

// count says how the forest is left.
func (r *compaction) count(t *tx) error {
	st, err := t.forestOf(r.forest)
	if err != nil {
		return err
	}
	r.done.Forest = t.view.Get(forestRefOf(r.forest)).ID
	r.done.Strategy = UnionFind
	if r.forest == FlatForest {
		r.done.Strategy = Flat
	}
	for _, c := range st.Live() {
		r.done.Roots++
		if c.Dirty() {
			r.done.Dirty++
		}
	}
	return nil
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
