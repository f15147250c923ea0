// Package eval measures what ctx does with conversations: how well messages are put into clusters,
// which facts are left at so many tokens, whether what answers a question is found, and that
// everything can be had back. It works on stores of its own, through the verbs that the commands
// use, beside rules and renderings that are simpler. Nothing in it asks a model, reads a clock for
// a result, or depends on the platform.
package eval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/eval/corpus"
	"github.com/gemini-ctx/ctx/internal/eval/fixture"
	"github.com/gemini-ctx/ctx/internal/eval/report"
	"github.com/gemini-ctx/ctx/internal/eval/sets"
	"github.com/gemini-ctx/ctx/internal/eval/stats"
	"github.com/gemini-ctx/ctx/internal/session"
)

// Options say what to measure.
type Options struct {
	Only     []string // parts; nil for all
	Seed     uint64   // of what is drawn
	Version  string   // of ctx, for the report
	Settings fixture.Settings
	// Summarizer returns who words the summaries of the stores that are measured; it is asked once, of
	// a store with the settings. nil, and a nil answer, is the built-in one. The seed, the one extract
	// and all other ways keep to that one.
	Summarizer func(*session.Store) (summarize.Summarizer, error)
	// Clock is read for how long the verbs take; nil: that is not measured.
	Clock func() time.Time
}

// Parts are the names that Options.Only takes, in the order of the report.
func Parts() []string {
	list := []string{partClustering}
	for _, g := range (&runner{}).metrics() {
		list = append(list, g.part)
	}
	return append(list, partContinuation, partKnown, partSessions)
}

// The parts that are no gauges of one conversation.
const (
	partClustering   = "clustering"
	partContinuation = "continuation"
	partKnown        = "known"
	partSessions     = "sessions"
)

// CheckParts refuses a name that is none of Parts.
func CheckParts(only []string) error {
	for _, name := range only {
		if !slices.Contains(Parts(), name) {
			return fmt.Errorf("unknown part: %.40q", name)
		}
	}
	return nil
}

// Run measures the sets of a list one after the other. Errors of the settings are *repo.ConfigError. With the
// built-in summariser the same sets and options give the same report.
func Run(ctx context.Context, list []sets.Set, o Options) (r *report.Report, err error) {
	if err := CheckParts(o.Only); err != nil {
		return nil, err
	}
	stores, err := fixture.NewMaker(o.Settings)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stores.Close()) }()
	u := &runner{stores}
	r = &report.Report{V: 1, Version: o.Version, Seed: o.Seed}
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
type runner struct{ *fixture.Maker }

// begin makes a store of which nothing is measured, and returns the settings that hold. It lies
// there until the lab is closed: a chain of summarisers keeps in it who can be asked.
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

// partsWanted are the parts that the options want of a set, in the order of Parts.
func partsWanted(set sets.Set, o Options) []string {
	return slices.DeleteFunc(Parts(), func(part string) bool {
		return o.Only != nil && !slices.Contains(o.Only, part) || set.Parts != nil && !slices.Contains(set.Parts, part)
	})
}

// sizeOf says how much there is in a set.
func sizeOf(set sets.Set) report.Set {
	r := report.Set{Set: set.Name, Conversations: len(corpus.Conversations(set.Messages)), Messages: len(set.Messages), Facts: len(set.Facts)}
	for i := range set.Messages {
		r.Tokens += summarize.Tokens(set.Messages[i].Text)
	}
	for _, t := range set.Transcripts {
		r.Conversations++
		for _, line := range t.Records() {
			r.Messages++
			r.Tokens += summarize.Tokens(line.Said + line.Called + line.Output)
		}
	}
	r.Unused = len(set.Facts)
	for _, m := range corpus.Conversations(set.Messages) {
		if m = corpus.Live(m); len(m) > 0 {
			r.Unused -= len(factsOf(set, m))
		}
	}
	for _, f := range set.Facts {
		r.Unused -= stats.One(slices.ContainsFunc(set.Transcripts, func(t sets.Transcript) bool { return t.Name == f.Conversation }))
	}
	return r
}

func (u *runner) measure(ctx context.Context, set sets.Set, o Options) (report.Set, error) {
	r := sizeOf(set)
	wanted := partsWanted(set, o)
	var err error
	if set.Transcripts == nil {
		if err = u.messageParts(ctx, set, wanted, o.Seed, &r); err != nil {
			return r, err
		}
	}
	if err = u.sessionParts(ctx, set, wanted, o.Seed, &r); err != nil || o.Clock == nil {
		return r, err
	}
	r.Timing, err = u.timing(ctx, set, o.Clock)
	return r, err
}

// messageParts measures what looks at messages.
func (u *runner) messageParts(ctx context.Context, set sets.Set, wanted []string, seed uint64, r *report.Set) (err error) {
	if slices.Contains(wanted, partClustering) {
		if r.Clustering, err = u.clustering(ctx, set, seed); err != nil {
			return err
		}
	}
	return u.look(ctx, set, wanted, r)
}

// sessionParts measures what looks at whole sessions.
func (u *runner) sessionParts(ctx context.Context, set sets.Set, wanted []string, seed uint64, r *report.Set) (err error) {
	if slices.Contains(wanted, partContinuation) {
		if r.Continuation, err = u.continuations(ctx, set); err != nil {
			return err
		}
	}
	known, sessions := slices.Contains(wanted, partKnown), slices.Contains(wanted, partSessions)
	if !known && !sessions {
		return nil
	}
	b, err := u.shelve(ctx, set, seed)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if known {
		if r.Known, err = b.known(); err != nil {
			return err
		}
	}
	if sessions {
		r.Sessions, err = b.sessionSearch(set.Facts)
	}
	return err
}
