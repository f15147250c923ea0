package session

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
)

// After every operation the forest is noted; later each of them comes back as it was, also when everything that was derived and that no ref names any
// more is gone.
func TestForestAtIsWhatItWas(t *testing.T) {
	for seed := range uint64(4) {
		s := create(t, small...)
		r := rand.New(rand.NewPCG(seed, 12))
		was := map[uint64][]ClusterInfo{}
		note := func() {
			v := s.mustView(t)
			if _, there := was[v.Number]; !there {
				was[v.Number] = must[[]ClusterInfo](t)(s.Clusters(v))
			}
		}
		for range 120 {
			moment(t, s, r)
			note()
		}
		sameForests(t, s, was)
		dropDerived(t, s)
		s = reopen(t, filepath.Dir(filepath.Dir(s.Dir)), nil, small...)
		sameForests(t, s, was)
	}
}

// moment is something that changes the forest, now and then.
func moment(t *testing.T, s *Store, r *rand.Rand) {
	t.Helper()
	c := context.Background()
	switch n := r.IntN(20); {
	case n < 14:
		say(t, s, "talk", []string{"user", "model"}[r.IntN(2)], chatter(r))
	case n < 16:
		if _, err := s.Compact(c, CompactOptions{Branches: []BranchName{{"talk", MainBranch}}}); err != nil && !IsMissing(err) {
			t.Fatal(err)
		}
	case n < 17:
		tip, err := Tip(s.mustView(t), "talk", MainBranch)
		if err != nil {
			return
		}
		log := must[[]*Shown](t)(s.Log(tip.ID, LogOptions{Limit: 12}))
		if len(log) > 0 {
			must[Rewound](t)(s.Rewind(c, "talk", MainBranch, log[r.IntN(len(log))].ID, RewindOptions{}))
		}
	case n < 18:
		if _, err := s.Undo(c, "talk"); err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrStale) {
			t.Fatal(err)
		}
	default:
		if _, err := s.Graduate(c, "talk", MainBranch); err != nil && !IsMissing(err) {
			t.Fatal(err)
		}
	}
}

func sameForests(t *testing.T, s *Store, was map[uint64][]ClusterInfo) {
	t.Helper()
	v := s.mustView(t)
	for number, want := range was {
		if number == 0 {
			continue
		}
		got, err := s.ClustersAt(v, number)
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

// dropDerived removes every loose forest and page that no ref names.
func dropDerived(t *testing.T, s *Store) {
	t.Helper()
	kept := map[format.ID]bool{}
	for _, v := range s.mustView(t).All() {
		kept[v.ID], kept[v.Pin] = true, true
	}
	var drop []format.ID
	err := s.Objects.Each(func(o objects.Info) error {
		header, err := s.Objects.Header(o.ID)
		if err != nil {
			return err
		}
		kind, _, err := format.HeaderKind(header)
		if (kind == "forest" || kind == "page") && !kept[o.ID] {
			drop = append(drop, o.ID)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(drop) == 0 {
		t.Fatal("nothing was derived")
	}
	for _, id := range drop {
		if err := os.Remove(filepath.Join(s.Dir, "objects", id.String()[:2], id.String()[2:])); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOperationNames(t *testing.T) {
	s := create(t, small...)
	for range 9 {
		say(t, s, "talk", "user", "hello")
	}
	v := s.mustView(t)
	digest := v.Digest.String()
	for name, want := range map[string]uint64{"1": 1, "9": 9, digest: 9} {
		if n, err := s.Operation(v, name); err != nil || n != want {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
	for name, want := range map[string]error{
		"0": ErrInput, "10": ErrNotFound, "x": ErrInput, "": ErrInput, "abc": ErrInput, "-1": ErrInput,
		format.Sum(nil).String(): ErrNotFound, digest + "0": ErrInput,
	} {
		if _, err := s.Operation(v, name); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", name, err, want)
		}
	}
	if _, err := s.ForestAt(v, 10); !errors.Is(err, ErrNotFound) {
		t.Errorf("an operation that is not yet: %v", err)
	}
}
