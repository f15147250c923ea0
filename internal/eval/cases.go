package eval

import (
	"context"
	"slices"
	"strings"
)

// Cases says what becomes of facts that a compaction could do harm to, of one kind: where two close
// topics say different things, where something was said before and holds no more, and where there
// was a secret.
type Cases struct {
	Kind string `json:"kind"`
	N    int    `json:"n"`
	// Found: a search for the question has the answer among its first five hits; First: and no hit
	// before it has what the other topic says, or what was said before, alone.
	Found int `json:"found"`
	First int `json:"first"`
	// Asked: a rendering for the question at a quarter of the size has the answer, and nothing that
	// holds no more stands without what replaced it.
	Asked int `json:"asked"`
	// Stale: renderings without the question, at a quarter and at a tenth, in which something stands
	// that holds no more.
	Stale4  int `json:"stale_4x"`
	Stale10 int `json:"stale_10x"`
	// Leaked: secrets that come back in any of these. There may be none.
	Leaked int `json:"leaked"`
}

// cases is the gauge of them.
type cases struct {
	rows map[string]*Cases
}

func (c *cases) report(s *SetReport) {
	for _, kind := range []string{"contradiction", "superseded", "wrong", "rewound", "secret"} {
		if row := c.rows[kind]; row != nil {
			s.Cases = append(s.Cases, *row)
		}
	}
}

func (c *cases) add(_ context.Context, b *bench) error {
	var blind [2]string
	for i, ratio := range []int{4, 10} {
		text, err := b.text(b.budget(ratio))
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
		if c.rows == nil {
			c.rows = map[string]*Cases{}
		}
		row := c.rows[q.Kind]
		if row == nil {
			row = &Cases{Kind: q.Kind}
			c.rows[q.Kind] = row
		}
		row.N++
		row.Found += one(v.found)
		row.First += one(v.first)
		row.Asked += one(v.asked)
		row.Stale4 += one(stands(blind[0], q.Stale, q.Answer))
		row.Stale10 += one(stands(blind[1], q.Stale, q.Answer))
		row.Leaked += one(v.leaked || q.Never != "" && (holds(blind[0], q.Never) || holds(blind[1], q.Never)))
	}
	return nil
}

// verdict is what a question is answered with.
type verdict struct{ found, first, asked, leaked bool }

func (b *bench) verdict(q asked) (verdict, error) {
	var v verdict
	hits, err := b.hits(q.Query, deepest, false)
	if err != nil {
		return v, err
	}
	var texts []string
	for _, h := range hits {
		texts = append(texts, squeeze(h.Text))
	}
	right := slices.IndexFunc(texts, func(text string) bool { return holds(text, q.Answer) })
	v.found = right >= 0 && right < 5
	v.first = v.found
	for _, old := range []string{q.Other, q.Stale} {
		if at := slices.IndexFunc(texts, func(text string) bool { return old != "" && holds(text, old) }); at >= 0 && at < right {
			v.first = false
		}
	}
	printed, err := b.asked(q.Query, b.budget(4))
	if err != nil {
		return v, err
	}
	text := squeeze(printed)
	v.asked = holds(text, q.Answer) && !stands(text, q.Stale, q.Answer)
	v.leaked = q.Never != "" && slices.ContainsFunc(append(texts, text), func(s string) bool { return holds(s, q.Never) })
	return v, nil
}

// stands reports whether a squeezed text tells old for what holds: it has it, and what replaced it
// nowhere after it.
func stands(text, old, now string) bool {
	if old == "" {
		return false
	}
	at := strings.LastIndex(text, squeeze(old))
	return at >= 0 && strings.LastIndex(text, squeeze(now)) < at
}
