package eval

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/eval/corpus"
	"github.com/gemini-ctx/ctx/internal/eval/fixture"
	"github.com/gemini-ctx/ctx/internal/eval/report"
	"github.com/gemini-ctx/ctx/internal/eval/sets"
	"github.com/gemini-ctx/ctx/internal/view"
)

// evalCase is a conversation that was appended to a store and compacted, with what there is to look
// at.
type evalCase struct {
	*fixture.Store
	live      []corpus.Message // less what was taken back
	questions []question
	in        view.Input
	flat      *fixture.Store // the same, compacted into one cluster; nil without questions
}

// metric measures one thing over the conversations of a set, and writes it into the report.
type metric interface {
	add(context.Context, *evalCase) error
	report(*report.Set)
}

// metrics are the parts that look at a compacted conversation, by name.
func (u *runner) metrics() []struct {
	part string
	make func() metric
} {
	return []struct {
		part string
		make func() metric
	}{
		{"facts", func() metric { return &retention{} }},
		{"query", func() metric { return &asking{} }},
		{"reach", func() metric { return &reach{} }},
		{"cases", func() metric { return &cases{} }},
		{"recovery", func() metric { return &recovery{} }},
		{"trail", func() metric { return &trail{} }},
		{"words", func() metric { return &userWords{} }},
		{"summaries", func() metric { return &fidelity{} }},
		{"prefix", func() metric { return &stability{runner: u} }},
	}
}

// look runs the wanted gauges over every conversation of a set.
func (u *runner) look(ctx context.Context, set sets.Set, wanted []string, r *report.Set) error {
	var list []metric
	for _, g := range u.metrics() {
		if slices.Contains(wanted, g.part) {
			list = append(list, g.make())
		}
	}
	if len(list) == 0 {
		return nil
	}
	for _, m := range corpus.Conversations(set.Messages) {
		if err := u.lookAt(ctx, set, m, list); err != nil {
			return fmt.Errorf("conversation %q: %w", m[0].Conversation, err)
		}
	}
	for _, g := range list {
		g.report(r)
	}
	return nil
}

func (u *runner) lookAt(ctx context.Context, set sets.Set, m []corpus.Message, list []metric) (err error) {
	s, err := u.Compacted(ctx, m, clusters.UnionFind)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	b := &evalCase{Store: s, live: corpus.Live(m)}
	if b.questions = factsOf(set, b.live); len(b.questions) > 0 {
		if b.flat, err = u.Compacted(ctx, m, clusters.Flat); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, b.flat.Close()) }()
	}
	if b.in, err = s.Input(); err != nil {
		return err
	}
	for _, g := range list {
		if err := g.add(ctx, b); err != nil {
			return err
		}
	}
	return nil
}
