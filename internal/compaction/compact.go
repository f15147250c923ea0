// Package compaction runs a compaction: it graduates due messages, asks for summaries and settles
// the answers of workers (summarize.go), lets branches adopt the forest, and makes a summary again
// or reverts it (adopt.go).
package compaction

import (
	"context"
	"fmt"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/refs"
)

// CompactOptions are for Compact.
type CompactOptions struct {
	Branches []history.BranchName // whose due messages graduate, and which adopt the forest
	// Strategy is UnionFind or Flat; "" means the strategy of the settings.
	Strategy string
	// Summarizer writes the summaries; nil means the built-in one, which picks sentences.
	Summarizer summarize.Summarizer
	// Focus is what the summaries of the sessions of Branches must keep before all else; "" for
	// nothing. Clusters of these sessions with nothing but extracts get new ones.
	Focus string
}

// Compaction is one run of Compact.
type Compaction struct {
	*Writer
	o      CompactOptions
	Forest string
	force  bool // the branches adopt the forest even if that makes renderings longer
	owners summaries.Owners
	told   told // of the summaries that were looked at
	seen   int  // the ForgetMark before the inputs of the answers were read
	done   summaries.Compaction
}

// Compact graduates the due messages of branches, summarizes the clusters that need it, evicts
// the oldest clusters above the limit, and lets the branches adopt the forest. Summaries are made
// without the lock. Each is recorded when it arrives, as far as its cluster has not changed. A
// cluster whose summary fails stays as it is: the failure is counted and is no error.
//
// After its first adoption no branch renders more tokens after a compaction than before: it
// adopts only a forest that makes the rendering shorter, unless the strategy changes. The first
// adoption adds a frame and a heading for each cluster, which can be longer than a few short
// messages.
//
// If the main forest is damaged, Compact uses the flat forest, which is made of the sessions
// alone. So renderings stay bounded until a user rebuilds the main forest.
func (s *Writer) Compact(ctx context.Context, o CompactOptions) (summaries.Compaction, error) {
	defer s.KeepWritten()() // a message is read to graduate, and again to be summarized
	if o.Strategy == "" {
		o.Strategy = s.clusters.Strategy()
	}
	name, err := clusters.ForestOfStrategy(o.Strategy)
	if err != nil {
		return summaries.Compaction{}, err
	}
	r := &Compaction{Writer: s, o: o, Forest: name, force: o.Focus != ""}
	r.owners.Focus = o.Focus
	if name == history.MainForest {
		r.owners.FocusOf = map[string]bool{}
		for _, b := range o.Branches {
			r.owners.FocusOf[b.Session] = true
		}
	}
	err = r.run(ctx)
	if name == history.MainForest && err != nil && history.IsDamage(err) {
		s.Report(fmt.Errorf(
			"the clusters cannot be used, one flat cluster stands for them until `ctx rebuild`: %w",
			err))
		r = &Compaction{Writer: s, o: o, Forest: history.FlatForest, force: o.Focus != ""}
		r.owners.Focus = o.Focus
		err = r.run(ctx)
	}
	return r.done, err
}

func (r *Compaction) run(ctx context.Context) error {
	if err := r.graduate(ctx); err != nil &&
		(r.Forest == history.MainForest || !history.IsDamage(err)) {
		return err
	}
	if err := r.begin(ctx); err != nil {
		return err
	}
	if err := r.revive(ctx); err != nil {
		return err
	}
	if err := r.summarizeAll(ctx, 0); err != nil {
		return err
	}
	return r.finish(ctx)
}

// begin makes the flat forest if it is needed and missing.
func (r *Compaction) begin(ctx context.Context) error {
	if r.Forest != history.FlatForest {
		return nil
	}
	return r.Locked(ctx, func(t *Tx) error {
		if t.store.HasFlat() {
			return nil
		}
		if err := t.clusters.BeginFlat(); err != nil {
			return err
		}
		return t.store.Commit(&format.Operation{Verb: refs.VerbCompact})
	})
}

// stretch is about how many messages graduate before their clusters are summarized and the oldest
// leave. So a compaction of any length has about as many clusters in memory, and does not slow
// down. Tests change it.
var stretch = 16 << 10

// stretchesLogged is how many stretches the log may have until a checkpoint writes the forest.
const stretchesLogged = 8

// graduate moves the due messages of the branches into the main forest. Of a long backlog it
// summarizes the clusters stretch by stretch, but for the newest ones, which are likely to grow.
func (r *Compaction) graduate(ctx context.Context) error {
	waiting, stretches := 0, 0
	between := func(messages int) error {
		if waiting += messages; waiting < stretch || r.Forest != history.MainForest {
			return nil
		}
		waiting = 0
		if err := r.summarizeAll(ctx, r.Config.Forest.MaxColdClusters); err != nil {
			return err
		}
		if stretches++; stretches%stretchesLogged != 0 {
			return nil
		}
		err := r.Locked(ctx, func(t *Tx) error { return t.store.ShortenLog() })
		if history.IsDamage(err) {
			err = nil // it is no reason to graduate no more
		}
		return err
	}
	if len(r.o.Branches) == 1 {
		_, err := r.clusters.GraduateAll(ctx, r.o.Branches[0].Session,
			r.o.Branches[0].Branch, between)
		return err
	}
	_, err := r.clusters.GraduateBranches(ctx, r.o.Branches, between)
	return err
}

// count counts the clusters of the forest after the compaction.
func (r *Compaction) count(t *Tx) error {
	st, err := t.store.DraftOf(r.Forest)
	if err != nil {
		return err
	}
	r.done.Forest = t.store.View.Get(history.ForestRefOf(r.Forest)).ID
	r.done.Strategy = clusters.UnionFind
	if r.Forest == history.FlatForest {
		r.done.Strategy = clusters.Flat
	}
	for _, c := range st.Live() {
		r.done.Roots++
		if c.Dirty() {
			r.done.Dirty++
		}
	}
	return nil
}

// Reader reads compactions. It has no way to write.
type Reader struct {
	*history.Reader
	tokens    Tokens
	summaries *summaries.Reader
}

// Writer has the verbs of compactions. Each takes the lock of the store.
type Writer struct {
	*Reader
	*store.Room[*Tx]
	clusters *clusters.Writer
}

// Tx is the part of a transaction that compacts. It exists only while the store is locked.
type Tx struct {
	*Reader
	store        *store.Tx
	clusters     *clusters.Tx
	conversation *conversation.Tx
	epochs       *epochs.Tx
	summaries    *summaries.Tx
}

// Tokens returns how many tokens a branch renders to at each of some values of it, and what went
// wrong with each.
type Tokens func(v *refs.View, session, branch string, values ...format.Value) ([]int, []error)

// New returns the verbs over the rooms below.
func New(
	s *store.Store, clusters *clusters.Writer, epochs *epochs.Writer, summaries *summaries.Writer,
	conversation *conversation.Writer, tokens Tokens,
) *Writer {
	r := &Reader{Reader: s.Reader, tokens: tokens, summaries: summaries.Reader}
	return &Writer{Reader: r, clusters: clusters, Room: store.NewRoom(s, func(t *store.Tx) *Tx {
		return &Tx{
			Reader: r, store: t,
			clusters: clusters.Begin(t), conversation: conversation.Begin(t),
			epochs: epochs.Begin(t), summaries: summaries.Begin(t),
		}
	})}
}

// maxRevived is how many evicted clusters, the newest, a focus looks at: a rendering chooses among
// as many.
const maxRevived = 256

// revive makes those evicted clusters of the sessions live again whose extracts have a term of the
// focus, so that they get another one. They leave again when the compaction ends.
func (r *Compaction) revive(ctx context.Context) error {
	if r.o.Focus == "" || r.o.Summarizer != nil || r.Forest != history.MainForest {
		return nil
	}
	nodes, err := r.evictedOnFocus()
	if err != nil || len(nodes) == 0 {
		return err
	}
	return r.Locked(ctx, func(t *Tx) error {
		for _, node := range nodes {
			at, err := t.clusters.Lookup().AnyCluster(node)
			if err != nil || at.Live != nil {
				continue // it has changed since
			}
			if err := t.bare(&at); err != nil {
				return err
			}
		}
		if len(t.store.Decided(r.Forest)) == 0 {
			return nil
		}
		return t.store.Commit(&format.Operation{Verb: refs.VerbCompact})
	})
}

// evictedOnFocus returns the nodes of the clusters to revive.
func (r *Compaction) evictedOnFocus() (nodes []format.ID, err error) {
	view, err := r.Refs.Read()
	if err != nil {
		return nil, err
	}
	st, err := r.TakeForest(view, r.Forest)
	if err != nil {
		return nil, err
	}
	defer r.GiveForest(view, r.Forest, st)
	newest, _, err := st.NewestEvicted(maxRevived)
	if err != nil {
		return nil, err
	}
	for _, e := range newest {
		stone, _, err := r.clusters.Tombstone(e.Tombstone)
		if err != nil {
			return nil, err
		}
		list, _, err := r.summaries.ReadExtract(stone.Summary)
		if err != nil {
			if err = history.ButGone(err); err != nil {
				return nil, err
			}
			continue
		}
		if !summarize.Touches(list, r.o.Focus) {
			continue
		}
		header, err := r.Header(list[0].Entry)
		if err != nil {
			return nil, err
		}
		if r.owners.FocusOf[header.Session] {
			nodes = append(nodes, stone.Node)
		}
	}
	return nodes, nil
}
