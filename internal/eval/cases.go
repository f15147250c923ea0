package eval

import (
	"context"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/eval/stats"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/lists"
)

// cases counts Cases, by kind of fact.
type cases struct {
	rows map[string]*Cases
}

func (c *cases) report(s *measured) {
	for _, kind := range []string{"contradiction", "superseded", "wrong", "rewound", "secret"} {
		if row := c.rows[kind]; row != nil {
			s.Cases = append(s.Cases, *row)
		}
	}
}

func (c *cases) add(_ context.Context, b *evalCase) error {
	var blind [2]string
	for i, ratio := range []int{4, 10} {
		text, err := b.Text(b.Budget(ratio))
		if err != nil {
			return err
		}
		blind[i] = squeeze(text)
	}
	for _, q := range b.questions {
		if q.Other == "" && q.Stale == "" && q.Never == "" {
			continue
		}
		v, err := b.verdict(q)
		if err != nil {
			return err
		}
		row := rowOf(c.rows, q.Kind)
		row.Kind = q.Kind
		row.N++
		row.Found += stats.One(v.found)
		row.First += stats.One(v.first)
		row.Asked += stats.One(v.asked)
		row.Stale4 += stats.One(stands(blind[0], q.Stale, q.Answer))
		row.Stale10 += stats.One(stands(blind[1], q.Stale, q.Answer))
		row.Leaked += stats.One(v.leaked ||
			q.Never != "" && (holds(blind[0], q.Never) || holds(blind[1], q.Never)))
	}
	return nil
}

// verdict says how one question is answered. Its fields are those of Cases.
type verdict struct{ found, first, asked, leaked bool }

func (b *evalCase) verdict(q question) (verdict, error) {
	var v verdict
	hits, err := b.Hits(q.Query, deepest, false)
	if err != nil {
		return v, err
	}
	texts := lists.Map(hits, func(h find.Hit) string { return squeeze(h.Text) })
	right := slices.IndexFunc(texts, func(text string) bool { return holds(text, q.Answer) })
	v.found = right >= 0 && right < 5
	v.first = v.found
	for _, old := range []string{q.Other, q.Stale} {
		if at := slices.IndexFunc(texts,
			func(text string) bool { return old != "" && holds(text, old) }); at >= 0 &&
			at < right {
			v.first = false
		}
	}
	printed, err := b.TextFor(q.Query, b.Budget(4))
	if err != nil {
		return v, err
	}
	text := squeeze(printed)
	v.asked = holds(text, q.Answer) && !stands(text, q.Stale, q.Answer)
	leaks := func(s string) bool { return holds(s, q.Never) }
	v.leaked = q.Never != "" && slices.ContainsFunc(append(texts, text), leaks)
	return v, nil
}

// stands reports whether a squeezed text gives old as the present state: it has old, and now is
// nowhere after it.
func stands(text, old, now string) bool {
	if old == "" {
		return false
	}
	at := strings.LastIndex(text, squeeze(old))
	return at >= 0 && strings.LastIndex(text, squeeze(now)) < at
}
