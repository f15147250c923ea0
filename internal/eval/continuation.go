package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/view"
)

// Continuation says how well an agent could go on from a context, of one way to make it: at every
// place where the session was continued, how much of what the next records say, call and touch is
// in the context. It is measured at the client's own compactions, with the tokens of the client's
// summary; sessions without one are cut.
type Continuation struct {
	At     string `json:"at"` // atCompaction or atCut
	Way    string `json:"way"`
	N      int    `json:"n"`      // contexts
	Budget int    `json:"budget"` // tokens, over all contexts
	Tokens int    `json:"tokens"` // that the contexts have

	// Means over the contexts; null where nothing of the kind comes next. Said and called are shares
	// of the weight of terms, files of the names of files, lines of the lines that have any of them.
	Said   *Milli `json:"said"`
	Called *Milli `json:"called"`
	Files  *Milli `json:"files"`
	Lines  *Milli `json:"useful_lines"`
	// Junk is the share of all lines together that tell nothing.
	Junk Milli `json:"junk_lines"`
}

// Where a session is continued.
const (
	atCompaction = "compaction"
	atCut        = "cut"
)

// The ways to make a context. Those but the first three take the words of the history without what
// tools printed.
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

// place is where a session is continued.
type place struct {
	transcript    Transcript
	end           int // of the history, in bytes of the file
	history, next []record
	summary       string // the client's, at a compaction
	budget        int    // tokens
}

func (p place) at() string {
	if p.summary != "" {
		return atCompaction
	}
	return atCut
}

// places are where the sessions of a set are continued, in the order of the transcripts. Files may
// repeat each other: of a compaction that is in several, the one that goes on longest counts.
func places(list []Transcript) []place {
	var out []place
	bySummary := map[string]int{}
	for _, t := range list {
		records := t.records()
		compacted := false
		for i, r := range records {
			if !r.summary {
				continue
			}
			compacted = true
			p := place{
				transcript: t, end: r.start, history: said(records[:i]), summary: r.said,
				budget: summarize.Tokens(r.said),
			}
			p.next = said(records[i+1:])
			known, again := bySummary[r.said]
			switch {
			case len(p.next) < leastNext || p.budget < leastSummary:
			case !again:
				bySummary[r.said] = len(out)
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

// said leaves the client's summaries out of records: they say again what the others said.
func said(records []record) []record {
	return slices.DeleteFunc(slices.Clone(records), func(r record) bool { return r.summary })
}

// cutOf cuts a session that its client did not compact.
func cutOf(t Transcript, records []record) (place, bool) {
	at := len(records) * cutNumerator / cutDenominator
	if len(records)-at < leastNext {
		return place{}, false
	}
	p := place{
		transcript: t, end: records[at].start, history: records[:at], next: records[at:],
		budget: cutBudget,
	}
	size := 0
	for _, r := range p.history {
		size += summarize.Tokens(r.said + r.called + r.output)
	}
	return p, size >= leastHistory*cutBudget
}

// words are what was said and called in a history.
func (p place) words() string {
	var b strings.Builder
	for _, r := range p.history {
		for _, text := range []string{r.said, r.called} {
			if strings.TrimSpace(text) != "" {
				b.WriteString(text + "\n")
			}
		}
	}
	return b.String()
}

// continuations measures the transcripts of a set.
func (l *lab) continuations(ctx context.Context, set Set) ([]Continuation, error) {
	sums := map[[2]string]*continued{}
	var order [][2]string
	for _, p := range places(set.Transcripts) {
		ref := referenceOf(p.history, p.next)
		if len(ref.said) == 0 {
			continue
		}
		contexts, err := l.contexts(ctx, p)
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
	// compactions first
	slices.SortStableFunc(order, func(a, b [2]string) int { return cmp.Compare(a[0], b[0]) })
	var list []Continuation
	for _, key := range order {
		list = append(list, sums[key].row(key[0], key[1]))
	}
	return list, nil
}

// told is a context and how it was made.
type told struct{ way, text string }

// contexts makes every context for a place, ctx's own first.
func (l *lab) contexts(ctx context.Context, p place) (list []told, err error) {
	s, name, err := l.imported(ctx, p.transcript.upTo(p.end))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	raw, err := s.printed(name, p.budget)
	if err != nil {
		return nil, err
	}
	if err := s.compactAll(ctx); err != nil {
		return nil, err
	}
	ours, err := s.printed(name, p.budget)
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

// printed is what `ctx render -s name --budget` prints.
func (s *stand) printed(name string, budget int) (string, error) {
	v, err := s.view()
	if err != nil {
		return "", err
	}
	o := view.Options{Budget: budget}
	in, err := s.Recall.RenderInput(v, name, history.MainBranch, o)
	if err != nil {
		return "", err
	}
	out, err := view.Render(in, o)
	return string(out.Bytes), err
}

// continued adds up the coverage of one way.
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
	c.useful.add(share(cov.useful, cov.lines))
	c.lines += cov.lines
	c.junk += cov.junk
}

func (c *continued) row(at, way string) Continuation {
	return Continuation{
		At: at, Way: way, N: c.n, Budget: c.budget, Tokens: c.tokens,
		Said: c.said.milli(), Called: c.called.milli(), Files: c.files.milli(),
		Lines: c.useful.milli(), Junk: milli(share(c.junk, c.lines)),
	}
}

// mean adds up values; those below 0 are missing.
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

func (m *mean) milli() *Milli {
	if m.n == 0 {
		return nil
	}
	v := milli(m.sum / float64(m.n))
	return &v
}
