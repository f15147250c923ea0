package eval

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/eval/corpus"
)

// evalCase is one conversation to measure: a store in which it was appended and compacted.
type evalCase struct {
	*Store
	live      []corpus.Message // without what was rewound
	questions []question
	flat      *Store // the same conversation in one cluster; nil without questions
}

// rowOf returns the row of a key, and makes it if there is none.
func rowOf[T any](rows map[string]*T, key string) *T {
	if rows[key] == nil {
		rows[key] = new(T)
	}
	return rows[key]
}

// metric is one part of a report. It adds up figures over the conversations of a set.
type metric interface {
	add(context.Context, *evalCase) error
	report(*measured)
}

// part is a metric with the name of its part.
type part struct {
	part string
	make func() metric
}

// metrics returns the parts that are measured on one compacted conversation at a time.
func metrics() []part {
	return []part{
		{"facts", func() metric { return &retention{} }},
		{"query", func() metric { return &asking{} }},
		{"reach", func() metric { return &reach{map[string]*ranks{}} }},
		{"cases", func() metric { return &cases{map[string]*Cases{}} }},
		{"recovery", func() metric { return &recovery{} }},
	}
}

// look measures the wanted parts on every conversation of a set.
func (u *runner) look(ctx context.Context, set Set, wanted []string, r *measured) error {
	var list []metric
	for _, g := range metrics() {
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

// lookAt adds one conversation to metrics.
func (u *runner) lookAt(ctx context.Context, set Set, m []corpus.Message,
	list []metric) (err error) {
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
	for _, g := range list {
		if err := g.add(ctx, b); err != nil {
			return err
		}
	}
	return nil
}
