package eval

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/eval/stats"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
)

// fidelity compares what summaries and tombstones say with what was said.
type fidelity struct {
	sentences, verbatim int // of extracts
	labels, inCluster   int // names in the lines of tombstones
	lines, first        int // and whether a line, as a query, finds its own cluster first
}

func (*fidelity) report(*measured) {}

func (f *fidelity) add(ctx context.Context, b *evalCase) error {
	said := map[format.ID]string{}
	for i, id := range b.IDs {
		said[id] = squeeze(b.Texts[i])
	}
	in, err := b.Input()
	if err != nil {
		return err
	}
	for _, c := range in.Clusters {
		for _, p := range c.Parts {
			for _, sentence := range p.Sentences {
				f.sentences++
				f.verbatim += stats.One(holds(said[sentence.Entry], sentence.Text))
			}
		}
	}
	return f.tombstones(ctx, b)
}

// tombstones adds the lines of all tombstones.
func (f *fidelity) tombstones(ctx context.Context, b *evalCase) error {
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
	index := newBM25(texts)
	for i, c := range list {
		if c.Tombstone.IsZero() {
			continue
		}
		f.lines++
		goal, names := labels(c.Line)
		text := squeeze(texts[i])
		if goal != "" {
			f.labels++
			f.inCluster += stats.One(holdsWords(text, goal))
			names = append(names, goal)
		}
		for _, l := range names[:len(names)-stats.One(goal != "")] {
			f.labels++
			f.inCluster += stats.One(holds(text, l))
		}
		f.first += stats.One(slices.Index(index.rank(strings.Join(names, " ")), i) == 0)
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

func TestLabels(t *testing.T) {
	for line, want := range map[string][]string{
		"src/parser.go, PostgreSQL, 5433 (12 messages, 2026-11-20 to 2026-11-21)": {"",
			"src/parser.go", "PostgreSQL", "5433"},
		"Fix the (old) parser… · src/parser.go, parseList (2 " +
			"messages)": {"Fix the (old) parser", "src/parser.go", "parseList"},
		"Go on with the next step of the… (1 " +
			"message)": {"Go on with the next step of the"},
		"(1 message)": {""},
		"redis":       {"", "redis"},
	} {
		goal, names := labels(line)
		if got := append([]string{goal}, names...); !slices.Equal(got, want) {
			t.Errorf("%q: %q", line, got)
		}
	}
}
