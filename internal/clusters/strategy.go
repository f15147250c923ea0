// Package clusters has the rules of the forest in a store: into which cluster a message graduates
// (graduate.go, candidates.go; package window says which messages are due), the strategies
// (strategy.go), and the ways to find and list clusters and to name objects (list.go, members.go,
// revision.go).
package clusters

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/history/dag"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// The strategies: how clustered messages are put together.
const (
	UnionFind = "union-find" // by topic, in the main forest
	Flat      = "flat"       // in one cluster, in the flat forest
)

// ForestOfStrategy returns the name of the forest that a strategy renders. It returns ErrInput
// for an unknown strategy.
func ForestOfStrategy(strategy string) (string, error) {
	switch strategy {
	case UnionFind:
		return history.MainForest, nil
	case Flat:
		return history.FlatForest, nil
	}
	return "", fmt.Errorf("%w: unknown strategy %q: %s and %s are the strategies", history.ErrInput,
		history.Clip(strategy), UnionFind, Flat)
}

const strategyKey = "compact.strategy"

// Strategy returns the strategy that applies if a command names none.
func (s *Reader) Strategy() string { return s.strategy().Value }

// strategy returns the setting that applies: that of ctx, else that in the settings of the agent
// of the project, else the default.
func (s *Reader) strategy() repo.Setting {
	given, err := s.Config.Get(strategyKey)
	if err == nil && given.Origin != repo.OriginDefault {
		return given
	}
	strategy, path, err := s.AgentStrategy()
	if err != nil {
		s.Report(err)
	}
	if strategy == "" {
		return repo.Setting{Key: strategyKey, Value: UnionFind, Origin: repo.OriginDefault}
	}
	return repo.Setting{Key: strategyKey, Value: strategy, Origin: "file " + path}
}

// Settings returns all settings sorted by key, including a value that comes from the settings of
// an agent.
func (s *Reader) Settings() []repo.Setting {
	list := s.Config.List()
	for i := range list {
		if list[i].Key == strategyKey {
			list[i] = s.strategy()
		}
	}
	return list
}

// Setting is Settings for one key. An unknown key is a *repo.ConfigError.
func (s *Reader) Setting(key string) (repo.Setting, error) {
	if key == strategyKey {
		return s.strategy(), nil
	}
	return s.Config.Get(key)
}

// PinnedForest returns the name of the forest that a branch renders and adopts again: the forest
// of its pin, or without a pin the forest of the strategy.
func (t *Tx) PinnedForest(v format.Value) (string, error) {
	if !v.Pin.IsZero() {
		if !t.store.HasFlat() {
			return history.MainForest, nil
		}
		st, err := t.ReadForest(v.Pin)
		if err == nil {
			return st.Name, nil
		}
		if !errors.Is(err, objects.ErrNotFound) {
			return "", err
		}
	}
	return ForestOfStrategy(t.Strategy())
}

// Reader reads clusters. It has no way to write.
type Reader struct {
	*history.Reader
	noCluster atomic.Pointer[noCluster]
}

// noCluster is a prefix that no id of a cluster has, as of an operation.
type noCluster struct {
	number uint64
	prefix string
}

// Writer has the verbs of clusters. Each takes the lock of the store.
type Writer struct {
	*Reader
	*store.Room[*Tx]
}

// Tx is the part of a transaction that changes clusters. It exists only while the store is locked.
type Tx struct {
	*Reader
	store *store.Tx

	cands  *Candidates                        // nil until asked for
	amends map[string]map[format.ID]format.ID // see newAmends, by session
}

// New returns the verbs over the rooms below.
func New(s *store.Store) *Writer {
	r := &Reader{Reader: s.Reader}
	return &Writer{Reader: r,
		Room: store.NewRoom(s, func(t *store.Tx) *Tx { return &Tx{Reader: r, store: t} })}
}

// Prepare has the candidates at hand before an operation is recorded.
func (t *Tx) Prepare(op *format.Operation) error { return t.carryCandidates(op) }

// Committed drops the candidates if members were taken out or put back, because the candidates
// hold words of removed members. The stamp tells the next command that the cached ones do not
// fit.
func (t *Tx) Committed(decided []format.Decision) {
	t.amends = nil
	if someLeft(decided) {
		t.cands = nil
	}
	t.saveCandidates()
}

// DropCandidates drops the candidates: they are made of words.
func (t *Tx) DropCandidates() { t.cands, t.amends = nil, nil }

// Viewer is somebody who reads a session from one of its branches, or from an entry of it. Hidden
// from a viewer is what other branches that were not joined said in the same invocation.
type Viewer struct {
	session string
	order   []format.ID // the entries that the viewer may see, as they arrived
	seen    map[format.ID]bool
}

// NewViewer returns the viewer of a branch, of a joined branch as it was when it was joined, or
// of a revision. It returns ErrNotFound if the session has none of that name.
func (s *Reader) NewViewer(view *refs.View, session, name string) (*Viewer, error) {
	d, err := s.Dag(view, session)
	if err != nil {
		return nil, err
	}
	var from dag.Viewpoint
	if v := view.Get(history.RefName(session, name)); v.Exists() {
		from = dag.Viewpoint{Tip: v.ID, Point: view.Number}
	} else if from, err = s.pastViewpoint(view, session, name, d); err != nil {
		return nil, err
	}
	r := &Viewer{session: session}
	if r.order, err = d.All(from); err != nil {
		if errors.Is(err, dag.ErrNotFound) {
			err = fmt.Errorf("%w: reader %q: %w", history.ErrNotFound, history.Clip(name), err)
		}
		return nil, err
	}
	r.seen = lists.Set(r.order)
	return r, nil
}

// Sees reports whether the viewer may see an entry. Entries of other sessions are visible; entries
// of this session that are in none of its branches are not.
func (r *Viewer) Sees(id format.ID, e *format.Entry) bool {
	return e.Session != r.session || r.seen[id]
}

// Each calls each for the entries that a viewer may see, in the order of their arrival: messages
// and notes, or all kinds. A message has the latest version that the viewer may see.
func (s *Reader) Each(r *Viewer, all bool, each func(*history.Shown) error) error {
	version := map[format.ID]format.ID{}
	var list []format.ID
	for _, id := range r.order {
		e, err := s.Header(id)
		if err != nil {
			return err
		}
		if e.Kind == format.KindAmend {
			version[e.Amends] = id
		}
		if all || e.Kind == format.KindMessage || e.Kind == format.KindNote {
			list = append(list, id)
		}
	}
	for _, id := range list {
		shown, err := s.Version(id, version[id])
		if err != nil {
			return err
		}
		if err := each(shown); err != nil {
			return err
		}
	}
	return nil
}

// pastViewpoint returns the viewpoint of an entry, which sees nothing that came after it.
func (s *Reader) pastViewpoint(
	view *refs.View, session, name string, d *history.SessionDAG,
) (dag.Viewpoint, error) {
	v, by, err := s.Joined(view, session, name)
	if err != nil {
		return dag.Viewpoint{}, err
	}
	if v.Exists() {
		return dag.Viewpoint{Tip: v.ID, Point: by - 1}, nil
	}
	id, err := s.Resolve(view, name)
	if err != nil {
		return dag.Viewpoint{},
			fmt.Errorf("%w: no branch, and no revision, of session %q: %w", history.ErrNotFound,
				history.Clip(session), err)
	}
	point, _ := d.Arrival(id)
	return dag.Viewpoint{Tip: id, Point: point}, nil
}

// BeginFlat makes the flat forest of all clustered messages, by branch and then in order. It does
// not read the main forest, which may be damaged, but it applies the pending decisions of the
// transaction.
func (t *Tx) BeginFlat() error {
	cold := map[format.ID]bool{}
	var list []format.ID
	add := func(id format.ID) {
		if !cold[id] {
			cold[id] = true
			list = append(list, id)
		}
	}
	for _, name := range t.store.View.Names("sessions/") {
		ids, err := t.coldOf(t.store.View.Get(name))
		if err != nil {
			return err
		}
		for _, id := range ids {
			add(id)
		}
	}
	for _, d := range t.store.Decided(history.MainForest) {
		switch d.Kind {
		case format.DecideJoin, format.DecideRestore:
			add(d.ID)
		case format.DecideRetract:
			delete(cold, d.ID)
			list = slices.DeleteFunc(list, func(id format.ID) bool { return id == d.ID })
		}
	}
	joins := lists.Map(list, func(id format.ID) format.Decision {
		return format.Decision{Kind: format.DecideJoin, Cluster: store.FlatCluster, ID: id}
	})
	if err := t.store.DecideIn(history.FlatForest, joins...); err != nil {
		return err
	}
	_, err := t.store.WriteForestOf(history.FlatForest)
	return err
}

// coldOf returns the messages of a branch up to its frontier, oldest first.
func (s *Reader) coldOf(v format.Value) ([]format.ID, error) {
	var list []format.ID
	for e, err := range s.Walk(v.ID, history.WithJoined) {
		if err != nil {
			return nil, err
		}
		if e.Kind == format.KindMessage && e.Seq <= v.Frontier {
			list = append(list, e.ID)
		}
	}
	slices.Reverse(list)
	return list, nil
}

// RestoreFlat adds messages to the flat forest that were restored to the main forest, if the flat
// forest began after they were retracted and so does not have them.
func (t *Tx) RestoreFlat(back []format.Decision) error {
	if !t.store.HasFlat() || len(back) == 0 {
		return nil
	}
	ids := map[format.ID]bool{}
	for _, d := range back {
		ids[d.ID] = true
	}
	st, err := t.store.DraftOf(history.FlatForest)
	if err != nil {
		return err
	}
	there, err := st.Find(ids)
	if err != nil {
		return err
	}
	for _, d := range back {
		if _, ok := there[d.ID]; ok {
			continue
		}
		if err := t.store.DecideIn(history.FlatForest,
			format.Decision{Kind: format.DecideJoin, Cluster: store.FlatCluster,
				ID: d.ID}); err != nil {
			return err
		}
	}
	return nil
}
