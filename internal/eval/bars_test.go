package eval

import (
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/eval/corpus"
	"github.com/gemini-ctx/ctx/internal/eval/stats"
	"github.com/gemini-ctx/ctx/internal/storetest/thirds"
)

// What ctx promises, on the conversations that it brings along. The figures themselves are in
// docs/compaction.md; here are the bars under which they may not fall.
func TestBars(t *testing.T) {
	own := Own(1)
	planted, spliced, working := own[:1], own[1:3], own[3:4]
	for _, part := range thirds.Of(t, []struct {
		sets []Set
		only string
		bars func(*testing.T, []measured)
	}{
		{planted, "facts query recovery", plantedBars},
		{spliced, "clustering recovery", splicedBars},
		{working, "facts recovery", workingBars},
	}) {
		list := run(t, Options{Only: strings.Fields(part.only)}, part.sets...).Sets
		wholeBars(t, list)
		part.bars(t, list)
	}
}

// wholeBars: nothing is out of reach.
func wholeBars(t *testing.T, list []measured) {
	t.Helper()
	for _, s := range list {
		if s.Recovery.Share != 1000 {
			t.Errorf("%s: recovery %+v", s.Set, s.Recovery)
		}
	}
}

// What is quoted is quoted word for word, and the user's words are kept as far as they fit.
func TestWordsAreExact(t *testing.T) {
	own := Own(1)
	for _, set := range thirds.Of(t, own[:4]) {
		stores, err := NewMaker(Settings{})
		if err != nil {
			t.Fatal(err)
		}
		defer stores.Close()
		u, words, f := &runner{stores}, &userWords{}, &fidelity{}
		for _, m := range corpus.Conversations(set.Messages) {
			if err := u.lookAt(t.Context(), set, m, []metric{words, f}); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("%s: %+v, %+v", set.Name, words, f)
		if set.Name == "planted" && (words.kept < words.fit || words.fit == 0) {
			t.Errorf("words of the user are missing: %+v", words)
		}
		if f.verbatim != f.sentences || f.inCluster != f.labels {
			t.Errorf("%s: %+v", set.Name, f)
		}
	}
}

// plantedBars: planted facts are kept, and more of them for a question.
func plantedBars(t *testing.T, list []measured) {
	t.Helper()
	retentionBars(t, list[0].Retention)
	queryBars(t, list[0].Asked)
}

// splicedBars: agent sessions that were spliced, against every rule that needs no label.
func splicedBars(t *testing.T, sets []measured) {
	t.Helper()
	i := slices.IndexFunc(sets, func(s measured) bool { return s.Set == "spliced" })
	list := sets[i].Clustering
	own := list[0]
	if own.F < 600 || own.P < 500 {
		t.Errorf("spliced sessions: B-cubed F %v, precision %v", own.F, own.P)
	}
	for _, c := range list[1:] {
		if c.F > own.F {
			t.Errorf("spliced sessions: %v, and %q has %v", own.F, c.Rule, c.F)
		}
	}
}

// retentionBars: of the planted facts 80 % at a quarter of the size and 40 % at a tenth, and not
// less than flat or any other way: no more than one fact in fifty, and that by chance.
func retentionBars(t *testing.T, list []Retention) {
	t.Helper()
	own := map[int]Retention{}
	for _, r := range list {
		switch {
		case r.Way == wayUnionFind:
			own[r.Ratio] = r
		case r.Kept > own[r.Ratio].Kept && (r.P < 100 || r.Kept-own[r.Ratio].Kept > r.N/50):
			t.Errorf("at %dx %s keeps %d of %d facts, union-find %d", r.Ratio, r.Way, r.Kept, r.N,
				own[r.Ratio].Kept)
		}
		if r.Leaked > 0 {
			t.Errorf("at %dx %s prints %d secrets", r.Ratio, r.Way, r.Leaked)
		}
	}
	if own[4].Share < 800 || own[10].Share < 400 {
		t.Errorf("facts kept: %v at 4x, %v at 10x", own[4].Share, own[10].Share)
	}
}

// workingBars: of facts that nothing was tuned on, 55 % at a quarter of the size, and more than of
// any rendering that takes no account of what was said.
func workingBars(t *testing.T, list []measured) {
	t.Helper()
	share := map[string]stats.Milli{}
	for _, r := range list[0].Retention {
		if r.Ratio == 4 {
			share[r.Way] = r.Share
		}
	}
	own := share[wayUnionFind]
	if own < 550 || own < share[wayHeadTail] || own < share[wayRecent] {
		t.Errorf("working talk: %v of the facts are kept, %v", own, share)
	}
}

// queryBars: a question is worth twelve points at 4x and twenty-four at 10x, and more than BM25
// makes of it.
func queryBars(t *testing.T, list []Retention) {
	t.Helper()
	share := map[int]map[string]stats.Milli{4: {}, 10: {}}
	for _, r := range list {
		share[r.Ratio][r.Way] = r.Share
	}
	for ratio, more := range map[int]stats.Milli{4: 120, 10: 240} {
		s := share[ratio]
		if s[wayAsked] < s[wayBlind]+more || s[wayAsked] < s[wayMessages] {
			t.Errorf("at %dx: %v with the question, %v without, %v by BM25", ratio, s[wayAsked],
				s[wayBlind], s[wayMessages])
		}
	}
}
