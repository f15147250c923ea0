package eval

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/eval/corpus"
	"github.com/gemini-ctx/ctx/internal/view"
)

// bench is a conversation that was appended to a store and compacted, with what there is to look
// at.
type bench struct {
	*stand
	live      []corpus.Message // less what was taken back
	questions []asked
	in        view.Input
	flat      *stand // the same, compacted into one cluster; nil without questions
}

// gauge measures one thing over the conversations of a set, and writes it into the report.
type gauge interface {
	add(context.Context, *bench) error
	report(*SetReport)
}

// gauges are the parts that look at a compacted conversation, by name.
func (l *lab) gauges() []struct {
	part string
	make func() gauge
} {
	return []struct {
		part string
		make func() gauge
	}{
		{"facts", func() gauge { return &keeping{} }},
		{"query", func() gauge { return &asking{} }},
		{"reach", func() gauge { return &reach{} }},
		{"cases", func() gauge { return &cases{} }},
		{"recovery", func() gauge { return &recovery{} }},
		{"trail", func() gauge { return &trail{} }},
		{"words", func() gauge { return &userWords{} }},
		{"summaries", func() gauge { return &fidelity{} }},
		{"prefix", func() gauge { return &stability{lab: l} }},
	}
}

// look runs the wanted gauges over every conversation of a set.
func (l *lab) look(ctx context.Context, set Set, wanted []string, r *SetReport) error {
	var list []gauge
	for _, g := range l.gauges() {
		if slices.Contains(wanted, g.part) {
			list = append(list, g.make())
		}
	}
	if len(list) == 0 {
		return nil
	}
	for _, m := range corpus.Conversations(set.Messages) {
		if err := l.lookAt(ctx, set, m, list); err != nil {
			return fmt.Errorf("conversation %q: %w", m[0].Conversation, err)
		}
	}
	for _, g := range list {
		g.report(r)
	}
	return nil
}

func (l *lab) lookAt(ctx context.Context, set Set, m []corpus.Message, list []gauge) (err error) {
	s, err := l.compacted(ctx, m, clusters.UnionFind)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	b := &bench{stand: s, live: corpus.Live(m)}
	if b.questions = factsOf(set, b.live); len(b.questions) > 0 {
		if b.flat, err = l.compacted(ctx, m, clusters.Flat); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, b.flat.close()) }()
	}
	if b.in, err = s.input(view.Options{}); err != nil {
		return err
	}
	for _, g := range list {
		if err := g.add(ctx, b); err != nil {
			return err
		}
	}
	return nil
}
