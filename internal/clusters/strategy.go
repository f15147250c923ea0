package clusters

import (
	"errors"
	"fmt"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/objects"
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
