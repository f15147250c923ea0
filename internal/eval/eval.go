// Package eval measures what ctx makes of conversations: how well it puts messages into clusters,
// which facts a rendering of a given size keeps, whether a search finds what answers a question,
// and whether every message can be expanded again. It works on stores of its own, through the verbs
// that the commands use, and measures simpler rules and renderings beside those of ctx. No result
// depends on a model, a clock or the platform.
package eval

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/eval/corpus"
	"github.com/gemini-ctx/ctx/internal/session"
)

// Options says what to measure, and how.
type Options struct {
	Only     []string // parts; nil for all
	Seed     uint64   // of all random choices
	Version  string   // of ctx, for the report
	Settings Settings
	// Summarizer returns the summarizer of the stores that are measured. Run calls it once, with an
	// empty store that has the settings. If Summarizer or its result is nil, the built-in one is used.
	Summarizer func(*session.Store) (summarize.Summarizer, error)
}

// Parts returns the names that Options.Only takes, in the order of the report.
func Parts() []string {
	list := []string{partClustering}
	for _, g := range metrics() {
		list = append(list, g.part)
	}
	return list
}

// partClustering is the one part that is not measured on one compacted conversation at a time.
const partClustering = "clustering"

// CheckParts returns an error for a name that is none of Parts.
func CheckParts(only []string) error {
	for _, name := range only {
		if !slices.Contains(Parts(), name) {
			return fmt.Errorf("unknown part: %.40q", name)
		}
	}
	return nil
}

// Run measures the sets of a list. An error in the settings is a *repo.ConfigError. With the
// built-in summarizer the same sets and options give the same report.
func Run(ctx context.Context, list []Set, o Options) (r *Report, err error) {
	if err := CheckParts(o.Only); err != nil {
		return nil, err
	}
	stores, err := NewMaker(o.Settings)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stores.Close()) }()
	u := &runner{stores}
	r = &Report{V: 1, Version: o.Version, Seed: o.Seed}
	if r.Settings, err = u.begin(o); err != nil {
		return nil, err
	}
	for _, set := range list {
		one, err := u.measure(ctx, set, o)
		if err != nil {
			return nil, fmt.Errorf("set %s: %w", set.Name, err)
		}
		r.Sets = append(r.Sets, one)
	}
	return r, nil
}

// runner measures conversations in the stores that it makes.
type runner struct{ *Maker }

// begin sets the summarizer and returns the settings as "key=value". It makes a store for that, in
// which nothing is measured. The store stays until the end, because a chain of summarizers keeps
// its health there.
func (u *runner) begin(o Options) (list []string, err error) {
	s, err := u.Open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if o.Summarizer != nil {
		if u.Summarizer, err = o.Summarizer(s.Store); err != nil {
			return nil, err
		}
	}
	for _, setting := range s.Config.List() {
		list = append(list, setting.Key+"="+setting.Value)
	}
	return list, nil
}

// partsWanted returns the parts to measure on a set, in the order of Parts.
func partsWanted(set Set, o Options) []string {
	return slices.DeleteFunc(Parts(), func(part string) bool {
		return o.Only != nil && !slices.Contains(o.Only, part) ||
			set.Parts != nil && !slices.Contains(set.Parts, part)
	})
}

// sizeOf returns a report with the counts of a set, and no measures yet.
func sizeOf(set Set) measured {
	r := measured{Set: set.Name, Conversations: len(corpus.Conversations(set.Messages)),
		Messages: len(set.Messages), Facts: len(set.Facts)}
	for i := range set.Messages {
		r.Tokens += summarize.Tokens(set.Messages[i].Text)
	}
	r.Unused = len(set.Facts)
	for _, m := range corpus.Conversations(set.Messages) {
		if m = corpus.Live(m); len(m) > 0 {
			r.Unused -= len(factsOf(set, m))
		}
	}
	return r
}

func (u *runner) measure(ctx context.Context, set Set, o Options) (r measured, err error) {
	r = sizeOf(set)
	wanted := partsWanted(set, o)
	if slices.Contains(wanted, partClustering) {
		if r.Clustering, err = u.clustering(ctx, set, o.Seed); err != nil {
			return r, err
		}
	}
	return r, u.look(ctx, set, wanted, &r)
}
