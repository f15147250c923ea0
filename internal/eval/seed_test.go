package eval

import (
	"context"
	_ "embed"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// seedTrace is what the original does with twelve messages, recorded from a run of it.
//
//go:embed testdata/seed.json
var seedTrace []byte

type trace struct {
	Messages []string
	Options  struct {
		GraduateAt, EvictAt, MaxColdClusters int
		MergeThreshold                       float64
	}
	TFIDF map[string]json.RawMessage
	Trace []struct {
		ID, Hot, Cold int
		Roots         []struct {
			Root    int
			Members []int
			Dirty   bool
		}
	}
	RenderBeforeResolve, RenderAfterResolve, RenderQuery []string
	SummarizerCalls                                      [][]string
	Nearest                                              []int
}

func loadTrace(t *testing.T) trace {
	t.Helper()
	var tr trace
	if err := json.Unmarshal(seedTrace, &tr); err != nil {
		t.Fatal(err)
	}
	return tr
}

func number64(t *testing.T, raw json.RawMessage, v any) {
	t.Helper()
	if err := json.Unmarshal(raw, v); err != nil {
		t.Fatal(err)
	}
}

func TestSeedVectors(t *testing.T) {
	tr := loadTrace(t)
	var v seedVectors
	first, second := v.embed("a b b"), v.embed("b c")
	for name, got := range map[string][]float64{"embed('a b b')": first, "embed('b c') after": second} {
		var want []float64
		number64(t, tr.TFIDF[name], &want)
		if len(got) != len(want) {
			t.Fatalf("%s: %v, not %v", name, got, want)
		}
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-12 {
				t.Errorf("%s: %v, not %v", name, got, want)
			}
		}
	}
	var want float64
	number64(t, tr.TFIDF["cos"], &want)
	if got := cosine(first, second); math.Abs(got-want) > 1e-12 {
		t.Errorf("cosine %v, not %v", got, want)
	}
	if got := v.embed("Ω … !"); !reflect.DeepEqual(got, make([]float64, 3)) || v.docs != 2 {
		t.Errorf("a text without terms: %v, %d documents", got, v.docs)
	}
	before := slices.Clone(v.df)
	if v.query("b zebra b"); !slices.Equal(v.df, before) || v.docs != 2 {
		t.Error("a query was counted")
	}
}

func TestSeedStepByStep(t *testing.T) {
	tr := loadTrace(t)
	w := newSeedWindow(seedOptions{
		GraduateAt: tr.Options.GraduateAt, EvictAt: tr.Options.EvictAt,
		MaxColdClusters: tr.Options.MaxColdClusters, MergeThreshold: tr.Options.MergeThreshold,
	})
	for i, text := range tr.Messages {
		w.append(text)
		want := tr.Trace[i]
		if hot := len(w.texts) - w.hot; hot != want.Hot || len(w.roots) != want.Cold {
			t.Errorf("after %d: %d hot, %d clusters, not %d, %d", i, hot, len(w.roots), want.Hot, want.Cold)
		}
		for _, r := range want.Roots {
			_, dirty := w.dirty[r.Root]
			if !slices.Contains(w.roots, r.Root) || !slices.Equal(w.children[r.Root], r.Members) || dirty != r.Dirty {
				t.Errorf("after %d: root %d has %v, dirty %v, not %v, %v", i, r.Root, w.children[r.Root], dirty, r.Members, r.Dirty)
			}
			for _, m := range r.Members {
				if w.find(m) != r.Root {
					t.Errorf("after %d: the root of %d is %d, not %d", i, m, w.find(m), r.Root)
				}
			}
		}
	}
	check := func(what string, got, want []string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n%q\nnot\n%q", what, got, want)
		}
	}
	check("rendering before the summaries", w.render("", 3, 0.05), tr.RenderBeforeResolve)
	var calls [][]string
	err := w.resolve(context.Background(), func(_ context.Context, inputs []string) (string, error) {
		calls = append(calls, inputs)
		return "S[" + strings.Join(inputs, " | ") + "]", nil
	})
	if err != nil || !reflect.DeepEqual(calls, tr.SummarizerCalls) || len(w.dirty) > 0 {
		t.Errorf("summariser calls %q, not %q; %d left, %v", calls, tr.SummarizerCalls, len(w.dirty), err)
	}
	check("rendering after", w.render("", 3, 0.05), tr.RenderAfterResolve)
	check("rendering for a query", w.render("postgresql port", 3, 0.05), tr.RenderQuery)
	if got := w.nearest(w.vectors.query("postgresql port"), 3, 0); !slices.Equal(got, tr.Nearest) {
		t.Errorf("nearest %v, not %v", got, tr.Nearest)
	}
}
