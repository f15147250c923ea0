package baseline

import (
	_ "embed"
	"encoding/json"
	"math"
	"reflect"
	"slices"
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
		}
	}
	RenderBeforeResolve []string
	Nearest             []int
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
	for name, got := range map[string][]float64{"embed('a b b')": first,
		"embed('b c') after": second} {
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
			t.Errorf("after %d: %d hot, %d clusters, not %d, %d", i, hot, len(w.roots),
				want.Hot, want.Cold)
		}
		for _, r := range want.Roots {
			if !slices.Contains(w.roots, r.Root) || !slices.Equal(w.children[r.Root], r.Members) {
				t.Errorf("after %d: root %d has %v, not %v", i, r.Root,
					w.children[r.Root], r.Members)
			}
			for _, m := range r.Members {
				if w.find(m) != r.Root {
					t.Errorf("after %d: the root of %d is %d, not %d", i, m, w.find(m), r.Root)
				}
			}
		}
	}
	var shown []string
	for _, r := range w.cold() {
		shown = append(shown, w.texts[r])
	}
	if shown = append(shown, w.texts[w.hot:]...); !slices.Equal(shown, tr.RenderBeforeResolve) {
		t.Errorf("shows\n%q\nnot\n%q", shown, tr.RenderBeforeResolve)
	}
	if got := w.nearest(w.vectors.query("postgresql port"), 3, 0); !slices.Equal(got, tr.Nearest) {
		t.Errorf("nearest %v, not %v", got, tr.Nearest)
	}
}
