package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/eval/report"
	"github.com/gemini-ctx/ctx/internal/eval/sets"
	"github.com/gemini-ctx/ctx/internal/eval/stats"
	"github.com/gemini-ctx/ctx/internal/view"
)

// The kinds of places at which a session is continued.
const (
	atCompaction = "compaction"
	atCut        = "cut"
)

// The ways to make a context. The last two take the messages and calls of the history, without the
// output of tools.
const (
	wayRender      = "ctx render"
	wayRaw         = "ctx render, before compaction"
	waySummary     = "the client's summary"
	wayLast        = "last words"
	wayEnds        = "head and tail"
	nextRecords    = 60   // how far the next part of a session goes
	leastNext      = 20   // a session that ends sooner is not continued
	leastSummary   = 300  // tokens: a shorter summary is a message, not a context
	cutBudget      = 3000 // tokens
	leastHistory   = 4    // times the budget: a shorter history needs no choice
	cutNumerator   = 6    // the cut is after six tenths of the records
	cutDenominator = 10
)

// place is a place at which a session is continued.
type place struct {
	transcript    sets.Transcript
	end           int // of the history, in bytes of the file
	history, next []sets.Record
	summary       string // the client's, at a compaction
	budget        int    // tokens
}

func (p place) at() string {
	if p.summary != "" {
		return atCompaction
	}
	return atCut
}

// places returns the places at which transcripts are continued, in their order. A compaction may be
// in several files; only the place with the longest continuation counts.
func places(list []sets.Transcript) []place {
	var out []place
	bySummary := map[string]int{}
	for _, t := range list {
		records := t.Records()
		compacted := false
		for i, r := range records {
			if !r.Summary {
				continue
			}
			compacted = true
			p := place{
				transcript: t, end: r.Start, history: said(records[:i]), summary: r.Said,
				budget: summarize.Tokens(r.Said),
			}
			p.next = said(records[i+1:])
			known, again := bySummary[r.Said]
			switch {
			case len(p.next) < leastNext || p.budget < leastSummary:
			case !again:
				bySummary[r.Said] = len(out)
				out = append(out, p)
			case len(p.next) > len(out[known].next):
				out[known] = p
			}
		}
		if p, ok := cutOf(t, records); ok && !compacted {
			out = append(out, p)
		}
	}
	for i := range out {
		out[i].next = out[i].next[:min(nextRecords, len(out[i].next))]
	}
	return out
}

// said returns records without the client's summaries, which repeat the others.
func said(records []sets.Record) []sets.Record {
	return slices.DeleteFunc(slices.Clone(records), func(r sets.Record) bool { return r.Summary })
}

// cutOf returns the place at which a session without compactions is cut. ok is false if it is too
// short.
func cutOf(t sets.Transcript, records []sets.Record) (p place, ok bool) {
	at := len(records) * cutNumerator / cutDenominator
	if len(records)-at < leastNext {
		return place{}, false
	}
	p = place{
		transcript: t, end: records[at].Start, history: records[:at], next: records[at:],
		budget: cutBudget,
	}
	size := 0
	for _, r := range p.history {
		size += summarize.Tokens(r.Said + r.Called + r.Output)
	}
	return p, size >= leastHistory*cutBudget
}

// words returns the messages and calls of the history as one text.
func (p place) words() string {
	var b strings.Builder
	for _, r := range p.history {
		for _, text := range []string{r.Said, r.Called} {
			if strings.TrimSpace(text) != "" {
				b.WriteString(text + "\n")
			}
		}
	}
	return b.String()
}

// continuations measures the transcripts of a set.
func (u *runner) continuations(ctx context.Context, set sets.Set) ([]report.Continuation, error) {
	sums := map[[2]string]*continued{}
	var order [][2]string
	for _, p := range places(set.Transcripts) {
		ref := referenceOf(p.history, p.next)
		if len(ref.said) == 0 {
			continue
		}
		contexts, err := u.contexts(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("transcript %q: %w", p.transcript.Name, err)
		}
		for _, c := range contexts {
			key := [2]string{p.at(), c.way}
			if sums[key] == nil {
				sums[key] = &continued{}
				order = append(order, key)
			}
			sums[key].add(ref.coverage(c.text), p.budget, summarize.Tokens(c.text))
		}
	}
	// Compactions come first.
	slices.SortStableFunc(order, func(a, b [2]string) int { return cmp.Compare(a[0], b[0]) })
	var list []report.Continuation
	for _, key := range order {
		list = append(list, sums[key].row(key[0], key[1]))
	}
	return list, nil
}

// told is a context, and the way in which it was made.
type told struct{ way, text string }

// contexts makes the contexts for a place, first those of ctx.
func (u *runner) contexts(ctx context.Context, p place) (list []told, err error) {
	s, name, err := u.Imported(ctx, p.transcript.UpTo(p.end))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	printed := func() (string, error) {
		out, err := s.Render(name, "", view.Options{Budget: p.budget})
		return string(out.Bytes), err
	}
	raw, err := printed()
	if err != nil {
		return nil, err
	}
	if err := s.CompactAll(ctx); err != nil {
		return nil, err
	}
	ours, err := printed()
	if err != nil {
		return nil, err
	}
	list = []told{{wayRender, ours}, {wayRaw, raw}}
	if p.summary != "" {
		list = append(list, told{waySummary, p.summary})
	}
	words := p.words()
	last, ends := ending(words, p.budget), headTail(words, p.budget)
	return append(list, told{wayLast, last}, told{wayEnds, ends}), nil
}

// continued adds up the coverage of one way to make contexts.
type continued struct {
	n, budget, tokens   int
	said, called, files mean
	useful              mean
	lines, junk         int
}

func (c *continued) add(cov coverage, budget, tokens int) {
	c.n++
	c.budget += budget
	c.tokens += tokens
	c.said.add(cov.said)
	c.called.add(cov.called)
	c.files.add(cov.files)
	c.useful.add(stats.Share(cov.useful, cov.lines))
	c.lines += cov.lines
	c.junk += cov.junk
}

func (c *continued) row(at, way string) report.Continuation {
	return report.Continuation{
		At: at, Way: way, N: c.n, Budget: c.budget, Tokens: c.tokens,
		Said: c.said.milli(), Called: c.called.milli(), Files: c.files.milli(),
		Lines: c.useful.milli(), Junk: stats.MilliShare(c.junk, c.lines),
	}
}

// mean adds up values. Negative ones are missing, and not counted.
type mean struct {
	n   int
	sum float64
}

func (m *mean) add(v float64) {
	if v >= 0 {
		m.n++
		m.sum += v
	}
}

func (m *mean) milli() *stats.Milli {
	if m.n == 0 {
		return nil
	}
	v := stats.MilliOf(m.sum / float64(m.n))
	return &v
}
