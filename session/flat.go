package session

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/repo"
)

// The strategies: how what is cold is put together.
const (
	UnionFind = "union-find" // by topic, in the main forest
	Flat      = "flat"       // in one cluster, in the flat forest
)

// ForestOfStrategy returns the name of the forest that a strategy renders. ErrInput is for a strategy that there is not.
func ForestOfStrategy(strategy string) (string, error) {
	switch strategy {
	case UnionFind:
		return MainForest, nil
	case Flat:
		return FlatForest, nil
	}
	return "", fmt.Errorf("%w: unknown strategy %q: %s and %s are the strategies", ErrInput, clip(strategy), UnionFind, Flat)
}

const strategyKey = "compact.strategy"

// Strategy returns the strategy that holds where a command names none.
func (s *Store) Strategy() string { return s.strategy().Value }

// strategy is the setting that holds: that of ctx where one is given, else that of the project's settings of its agent, else the default.
func (s *Store) strategy() repo.Setting {
	given, err := s.Config.Get(strategyKey)
	if err == nil && given.Origin != repo.OriginDefault {
		return given
	}
	strategy, path, err := s.AgentStrategy()
	if err != nil {
		s.warn(err)
	}
	if strategy == "" {
		return repo.Setting{Key: strategyKey, Value: UnionFind, Origin: repo.OriginDefault}
	}
	return repo.Setting{Key: strategyKey, Value: strategy, Origin: "file " + path}
}

// Settings returns every setting as it holds, sorted by key, also where it is taken from an agent's settings.
func (s *Store) Settings() []repo.Setting {
	list := s.Config.List()
	for i := range list {
		if list[i].Key == strategyKey {
			list[i] = s.strategy()
		}
	}
	return list
}

// Setting is Settings for one key. An unknown key is a *repo.ConfigError.
func (s *Store) Setting(key string) (repo.Setting, error) {
	if key == strategyKey {
		return s.strategy(), nil
	}
	return s.Config.Get(key)
}

// flatCluster is the one cluster of the flat forest.
const flatCluster = 0

// forestNames are the forests that a store can have, in the order in which operations name them.
var forestNames = []string{FlatForest, MainForest}

// hasFlat reports whether the flat forest was begun. From then on it has every member that the main one has.
func (t *tx) hasFlat() bool {
	return t.view.Get(forestRefOf(FlatForest)).Exists() || !t.flat.written.IsZero()
}

// forests are the names of the forests that there are.
func (t *tx) forests() []string {
	if t.hasFlat() {
		return forestNames
	}
	return []string{MainForest}
}

// beginFlat makes the flat forest of everything that is cold, by branch and then in order. It needs nothing of the main forest, which may be what
// cannot be read. What has gone into that one or left it since the last commit is taken into account.
func (t *tx) beginFlat() error {
	cold := map[format.ID]bool{}
	var list []format.ID
	add := func(id format.ID) {
		if !cold[id] {
			cold[id] = true
			list = append(list, id)
		}
	}
	for _, name := range t.view.Names("sessions/") {
		ids, err := t.coldOf(t.view.Get(name))
		if err != nil {
			return err
		}
		for _, id := range ids {
			add(id)
		}
	}
	for _, d := range t.decided {
		switch d.Kind {
		case format.DecideJoin, format.DecideRestore:
			add(d.ID)
		case format.DecideRetract:
			delete(cold, d.ID)
			list = slices.DeleteFunc(list, func(id format.ID) bool { return id == d.ID })
		}
	}
	joins := make([]format.Decision, len(list))
	for i, id := range list {
		joins[i] = format.Decision{Kind: format.DecideJoin, Cluster: flatCluster, ID: id}
	}
	if err := t.decideIn(FlatForest, joins...); err != nil {
		return err
	}
	_, err := t.writeForestOf(FlatForest)
	return err
}

// coldOf returns the messages of a branch up to its frontier, oldest first.
func (s *Store) coldOf(v format.Value) ([]format.ID, error) {
	var list []format.ID
	err := s.back(v.ID, func(id format.ID, e *format.Entry) bool {
		if e.Kind == format.KindMessage && e.Seq <= v.Frontier {
			list = append(list, id)
		}
		return true
	})
	slices.Reverse(list)
	return list, err
}

// pinnedForest is the name of the forest that a branch renders, and adopts anew when it leaves: the one of its pin, or of the strategy that holds
// where there is none.
func (t *tx) pinnedForest(v format.Value) (string, error) {
	if !v.Pin.IsZero() {
		if !t.hasFlat() {
			return MainForest, nil
		}
		st, err := t.forestAt(v.Pin)
		if err == nil {
			return st.Name, nil
		}
		if !errors.Is(err, objects.ErrNotFound) {
			return "", err
		}
	}
	return ForestOfStrategy(t.Strategy())
}

// isDamage reports whether an error says that something of a store is missing or cannot be read as what it is.
func isDamage(err error) bool {
	var corrupt *objects.CorruptError
	return errors.As(err, &corrupt) || errors.Is(err, objects.ErrNotFound)
}

// returnFlat brings into the flat forest what came back to the main one and is not in it: it was begun after that had left.
func (t *tx) returnFlat(back []format.Decision) error {
	if !t.hasFlat() || len(back) == 0 {
		return nil
	}
	ids := map[format.ID]bool{}
	for _, d := range back {
		ids[d.ID] = true
	}
	st, err := t.forestOf(FlatForest)
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
		if err := t.decideIn(FlatForest, format.Decision{Kind: format.DecideJoin, Cluster: flatCluster, ID: d.ID}); err != nil {
			return err
		}
	}
	return nil
}
