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
	"github.com/gemini-ctx/ctx/internal/session"
)

// Set is a corpus under its name.
type Set struct {
	Name     string
	Messages []corpus.Message // in order within a conversation, conversations one after the other
	Facts    []corpus.Fact
	Parts    []string // what is measured of the set; nil for all parts

	// Transcripts are the sessions of agents. A set has messages or transcripts.
	Transcripts []Transcript
}

// Options say what to measure.
type Options struct {
	Only     []string // parts; nil for all
	Seed     uint64   // of what is drawn
	Version  string   // of ctx, for the report
	Settings Settings
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
	for _, g := range (&lab{}).gauges() {
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

// Run measures sets one after the other. Errors of the settings are *repo.ConfigError. With the
// built-in summariser the same sets and options give the same report.
func Run(ctx context.Context, sets []Set, o Options) (r *Report, err error) {
	if err := CheckParts(o.Only); err != nil {
		return nil, err
	}
	l, err := newLab(o.Settings)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	r = &Report{V: 1, Version: o.Version, Seed: o.Seed}
	if r.Settings, err = l.begin(o); err != nil {
		return nil, err
	}
	for _, set := range sets {
		one, err := l.measure(ctx, set, o)
		if err != nil {
			return nil, fmt.Errorf("set %s: %w", set.Name, err)
		}
		r.Sets = append(r.Sets, one)
	}
	return r, nil
}

// begin makes a store of which nothing is measured, and returns the settings that hold. It lies
// there until the lab is closed: a chain of summarisers keeps in it who can be asked.
func (l *lab) begin(o Options) (list []string, err error) {
	s, err := l.open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if o.Summarizer != nil {
		if l.summarizer, err = o.Summarizer(s.Store); err != nil {
			return nil, err
		}
	}
	for _, setting := range s.Config.List() {
		list = append(list, setting.Key+"="+setting.Value)
	}
	return list, nil
}

// partsWanted are the parts that the options want of a set, in the order of Parts.
func partsWanted(set Set, o Options) []string {
	return slices.DeleteFunc(Parts(), func(part string) bool {
		return o.Only != nil && !slices.Contains(o.Only, part) || set.Parts != nil && !slices.Contains(set.Parts, part)
	})
}

// sizeOf says how much there is in a set.
func sizeOf(set Set) SetReport {
	r := SetReport{Set: set.Name, Conversations: len(corpus.Conversations(set.Messages)), Messages: len(set.Messages), Facts: len(set.Facts)}
	for i := range set.Messages {
		r.Tokens += summarize.Tokens(set.Messages[i].Text)
	}
	for _, t := range set.Transcripts {
		r.Conversations++
		for _, line := range t.records() {
			r.Messages++
			r.Tokens += summarize.Tokens(line.said + line.called + line.output)
		}
	}
	r.Unused = len(set.Facts)
	for _, m := range corpus.Conversations(set.Messages) {
		if m = corpus.Live(m); len(m) > 0 {
			r.Unused -= len(factsOf(set, m))
		}
	}
	for _, f := range set.Facts {
		r.Unused -= one(slices.ContainsFunc(set.Transcripts, func(t Transcript) bool { return t.Name == f.Conversation }))
	}
	return r
}

func (l *lab) measure(ctx context.Context, set Set, o Options) (SetReport, error) {
	r := sizeOf(set)
	wanted := partsWanted(set, o)
	var err error
	if set.Transcripts == nil {
		if err = l.messageParts(ctx, set, wanted, o.Seed, &r); err != nil {
			return r, err
		}
	}
	if err = l.sessionParts(ctx, set, wanted, o.Seed, &r); err != nil || o.Clock == nil {
		return r, err
	}
	r.Timing, err = l.timing(ctx, set, o.Clock)
	return r, err
}

// messageParts measures what looks at messages.
func (l *lab) messageParts(ctx context.Context, set Set, wanted []string, seed uint64, r *SetReport) (err error) {
	if slices.Contains(wanted, partClustering) {
		if r.Clustering, err = l.clustering(ctx, set, seed); err != nil {
			return err
		}
	}
	return l.look(ctx, set, wanted, r)
}

// sessionParts measures what looks at whole sessions.
func (l *lab) sessionParts(ctx context.Context, set Set, wanted []string, seed uint64, r *SetReport) (err error) {
	if slices.Contains(wanted, partContinuation) {
		if r.Continuation, err = l.continuations(ctx, set); err != nil {
			return err
		}
	}
	known, sessions := slices.Contains(wanted, partKnown), slices.Contains(wanted, partSessions)
	if !known && !sessions {
		return nil
	}
	b, err := l.shelve(ctx, set, seed)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
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
