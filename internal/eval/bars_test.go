package eval

import (
	"testing"

	"github.com/gemini-ctx/ctx/internal/eval/report"
	"github.com/gemini-ctx/ctx/internal/eval/sets"
	"github.com/gemini-ctx/ctx/internal/eval/stats"
)

// What ctx promises, on the conversations that it brings along. The figures themselves are in
// docs/compaction.md; here are the bars under which they may not fall.
func TestBars(t *testing.T) {
	own := sets.Own(1)
	all := run(t,
		Options{Only: []string{"facts", "query", "recovery", "trail", "words", "summaries"}},
		own[0]).Sets
	all = append(all,
		run(t, Options{Only: []string{"clustering", "recovery", "trail", "summaries"}},
			own[1:3]...).Sets...)
	all = append(all,
		run(t, Options{Only: []string{"facts", "recovery", "summaries"}}, own[3]).Sets...)
	byName := map[string]report.Set{}
	for _, s := range all {
		byName[s.Set] = s
		if s.Recovery.Share != 1000 {
			t.Errorf("%s: recovery %+v", s.Set, s.Recovery)
		}
		for _, a := range s.Artifacts {
			if a.Recoverable != a.N {
				t.Errorf("%s: %d of %d %s are recoverable", s.Set, a.Recoverable, a.N, a.Kind)
			}
		}
		if f := s.Fidelity; f != nil && (f.Verbatim != f.Sentences || f.InCluster != f.Labels) {
			t.Errorf("%s: fidelity %+v", s.Set, f)
		}
	}
	clusteringBars(t, byName["spliced"].Clustering)
	planted := byName["planted"]
	retentionBars(t, planted.Retention)
	queryBars(t, planted.Asked)
	workingBars(t, byName["working"].Retention)
	for _, u := range planted.UserWords {
		if u.RequestsKept < u.RequestsFit || u.CorrectionsKept < u.CorrectionsFit {
			t.Errorf("words of the user are missing at %dx: %+v", u.Ratio, u)
		}
	}
}

// clusteringBars: agent sessions that were spliced, against every rule that needs no label.
func clusteringBars(t *testing.T, list []report.Clustering) {
	t.Helper()
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
func retentionBars(t *testing.T, list []report.Retention) {
	t.Helper()
	own := map[int]report.Retention{}
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
func workingBars(t *testing.T, list []report.Retention) {
	t.Helper()
	share := map[string]stats.Milli{}
	for _, r := range list {
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
func queryBars(t *testing.T, list []report.Retention) {
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
