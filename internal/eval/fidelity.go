package eval

import (
	"context"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/eval/baseline"
	"github.com/gemini-ctx/ctx/internal/eval/report"
	"github.com/gemini-ctx/ctx/internal/eval/stats"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
)

// fidelity adds up report.Fidelity.
type fidelity struct {
	sum   report.Fidelity
	first int
	mrr   float64
}

func (f *fidelity) report(s *report.Set) {
	sum := f.sum
	if sum.Sentences+sum.Lines == 0 {
		return
	}
	sum.Share = stats.MilliShare(sum.InCluster, sum.Labels)
	sum.First = stats.MilliShare(f.first, sum.Lines)
	if sum.Lines > 0 {
		sum.MRR = stats.MilliOf(f.mrr / float64(sum.Lines))
	}
	s.Fidelity = &sum
}

func (f *fidelity) add(ctx context.Context, b *evalCase) error {
	said := map[format.ID]string{}
	for i, id := range b.IDs {
		said[id] = squeeze(b.Texts[i])
	}
	for _, c := range b.in.Clusters {
		for _, p := range c.Parts {
			for _, sentence := range p.Sentences {
				f.sum.Sentences++
				f.sum.Verbatim += stats.One(holds(said[sentence.Entry], sentence.Text))
			}
		}
	}
	return f.lines(ctx, b)
}

// lines adds the lines of all tombstones.
func (f *fidelity) lines(ctx context.Context, b *evalCase) error {
	view, err := b.Refs.Read()
	if err != nil {
		return err
	}
	list, err := b.Recall.Clusters(view)
	if err != nil {
		return err
	}
	texts := make([]string, len(list))
	for i, c := range list {
		var all []string
		err := b.Recall.Expand(view, c.ID, recall.ExpandOptions{}, func(s *history.Shown) error {
			all = append(all, s.Text)
			return ctx.Err()
		})
		if err != nil {
			return err
		}
		texts[i] = strings.Join(all, "\n")
	}
	index := baseline.NewBM25(texts)
	for i, c := range list {
		if c.Tombstone.IsZero() {
			continue
		}
		f.sum.Lines++
		goal, names := labels(c.Line)
		text := squeeze(texts[i])
		if goal != "" {
			f.sum.Labels++
			f.sum.InCluster += stats.One(holdsWords(text, goal))
			names = append(names, goal)
		}
		for _, l := range names[:len(names)-stats.One(goal != "")] {
			f.sum.Labels++
			f.sum.InCluster += stats.One(holds(text, l))
		}
		if rank := slices.Index(index.Rank(strings.Join(names, " ")), i); rank >= 0 {
			f.first += stats.One(rank == 0)
			f.mrr += 1 / float64(rank+1)
		}
	}
	return nil
}

// labels returns what a tombstone's line names: the goal, if there is one, and the names. The count
// and the days at the end of the line are left out.
func labels(line string) (goal string, names []string) {
	if i := strings.LastIndex(line, "("); i >= 0 {
		line = line[:i]
	}
	if head, rest, ok := strings.Cut(line, " · "); ok {
		goal, line = head, rest
	} else if head, ok := strings.CutSuffix(strings.TrimSpace(line), "…"); ok {
		goal, line = head, ""
	}
	for l := range strings.SplitSeq(line, ", ") {
		if l = strings.TrimSpace(l); l != "" {
			names = append(names, l)
		}
	}
	return strings.TrimSuffix(goal, "…"), names
}

// holdsWords reports whether a text has all words of a goal in their order. Other words may be in
// between, because a label leaves out the marks of Markdown and words without meaning.
func holdsWords(text, goal string) bool {
	for _, w := range strings.Fields(squeeze(goal)) {
		i := strings.Index(text, w)
		if i < 0 {
			return false
		}
		text = text[i+len(w):]
	}
	return true
}
