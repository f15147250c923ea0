package clusters_test

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/storetest/thirds"
	"github.com/gemini-ctx/ctx/objects"
)

// After every operation the forest is noted; later each of them comes back as it was, also when
// everything that was derived and that no ref names any more is gone.
func TestForestAtIsWhatItWas(t *testing.T) {
	for seed := range thirds.Range(t, uint64(4)) {
		s := storetest.Create(t, storetest.Small...)
		r := rand.New(rand.NewPCG(seed, 12))
		was := map[uint64][]clusters.ClusterInfo{}
		note := func() {
			v := storetest.View(t, s)
			if _, there := was[v.Number]; !there {
				was[v.Number] = storetest.Must[[]clusters.ClusterInfo](t)(s.Recall.Clusters(v))
			}
		}
		for range 120 {
			storetest.RandomStep(t, s, r)
			note()
		}
		sameForests(t, s, was)
		dropDerived(t, s)
		s = storetest.Reopen(t, filepath.Dir(filepath.Dir(s.Dir)), nil, storetest.Small...)
		sameForests(t, s, was)
	}
}

func sameForests(t *testing.T, s *session.Store, was map[uint64][]clusters.ClusterInfo) {
	t.Helper()
	v := storetest.View(t, s)
	for number, want := range was {
		if number == 0 {
			continue
		}
		got, err := s.Clusters.ClustersAt(v, number)
		if err != nil {
			t.Fatalf("operation %d of %d: %v", number, v.Number, err)
		}
		if len(got) == 0 && len(want) == 0 {
			continue
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("operation %d of %d:\n got %+v\nwant %+v", number, v.Number, got, want)
		}
	}
}

// dropDerived removes every forest and page that no ref names.
func dropDerived(t *testing.T, s *session.Store) {
	t.Helper()
	storetest.Spread(t, s)
	kept := map[format.ID]bool{}
	for _, v := range storetest.View(t, s).All() {
		kept[v.ID], kept[v.Pin] = true, true
	}
	var drop []format.ID
	err := s.Objects.Contents(func(o objects.Place, raw format.Raw) error {
		kind, _, err := format.HeaderKind(raw.Header)
		if (kind == "forest" || kind == "page") && !kept[o.ID] {
			drop = append(drop, o.ID)
		}
		return err
	}, func(_ string, err error) error { return err })
	if err != nil {
		t.Fatal(err)
	}
	if len(drop) == 0 {
		t.Fatal("nothing was derived")
	}
	if storetest.Lose(t, s, drop...) != len(drop) {
		t.Fatal("some are not in packs of their own")
	}
}

func TestOperationNames(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	for range 9 {
		storetest.Say(t, s, "talk", "user", "hello")
	}
	v := storetest.View(t, s)
	digest := v.Digest.String()
	for name, want := range map[string]uint64{"1": 1, "9": 9, digest: 9} {
		if n, err := s.Clusters.Operation(v, name); err != nil || n != want {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
	for name, want := range map[string]error{
		"0": history.ErrInput, "10": history.ErrNotFound, "x": history.ErrInput,
		"": history.ErrInput, "abc": history.ErrInput, "-1": history.ErrInput,
		format.Sum(nil).String(): history.ErrNotFound, digest + "0": history.ErrInput,
	} {
		if _, err := s.Clusters.Operation(v, name); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", name, err, want)
		}
	}
	if _, err := s.Clusters.ForestAt(v, 10); !errors.Is(err, history.ErrNotFound) {
		t.Errorf("an operation that is not yet: %v", err)
	}
}
