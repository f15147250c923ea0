package objects_test

import (
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/objects"
)

// hexName shortens what differs from object to object in the golden lists.
var hexName = regexp.MustCompile(`[0-9a-f]{62,64}`)

func record(root string, steps *[]string) *durable.FS {
	return &durable.FS{Hook: func(c durable.Call) error {
		rel, err := filepath.Rel(root, c.Path)
		if err != nil {
			return err
		}
		*steps = append(*steps, c.Op+" "+hexName.ReplaceAllString(filepath.ToSlash(rel), "*"))
		return nil
	}}
}

func TestGoldenSteps(t *testing.T) {
	tests := []struct {
		name string
		do   func(s *objects.Store) error
		want string
	}{
		{"put", func(s *objects.Store) error { return s.Put(batch(5)...) }, `
write objects/pack/.tmp
sync objects/pack/.tmp
rename objects/pack/pack-*.pack
syncdir objects/pack
write objects/pack/pack-*.idx
sync objects/pack/pack-*.idx
rename objects/pack/pack-*.idx
syncdir objects/pack`},
		{"put of what is there", func(s *objects.Store) error { return s.Put(batch(5)...) }, `
write objects/pack/.tmp
sync objects/pack/pack-*.pack
sync objects/pack/pack-*.idx
chtimes objects/pack/pack-*.pack
syncdir objects/pack`},
	}
	_, root := newStore(t, nil)
	for _, test := range tests {
		var steps []string
		if err := test.do(open(t, root, record(root, &steps))); err != nil {
			t.Fatal(err)
		}
		want := strings.TrimSpace(test.want)
		if got := strings.Join(steps, "\n"); got != want {
			t.Errorf("%s:\n%s\nwant:\n%s", test.name, got, want)
		}
	}
}

// The program stops at every step of a Put, and at every write after half of it. Each object is
// there whole or not at all; those of a Put that said OK are there; the next process sweeps up and
// goes on.
func TestCrashInPut(t *testing.T) {
	t.Parallel()
	old := object(0, "old")
	for name, raws := range map[string][]format.Raw{
		"one":      {object(1, "hello")},
		"three":    {object(1, "hello"), bare(2), object(3, "again")},
		"and old":  {object(1, "hello"), old},
		"one pack": batch(65),
	} {
		t.Run(name, func(t *testing.T) {
			for n := 1; ; n++ {
				done := false
				for _, tear := range []bool{false, true} {
					done = crash(t, n, tear, old, raws)
				}
				if done {
					if n < 3 {
						t.Error("no step was stopped at")
					}
					return
				}
			}
		})
	}
}

// crash puts raws with a stop at step n and looks at what is left. done is true when there was no
// step n.
func crash(t *testing.T, n int, tear bool, old format.Raw, raws []format.Raw) (done bool) {
	t.Helper()
	s, root := newStore(t, nil)
	put(t, s, old)
	fs := &durable.FS{Hook: func(c durable.Call) error {
		if c.N != n {
			return nil
		}
		if tear {
			return &durable.Torn{Keep: len(c.Data) / 2}
		}
		return durable.ErrStopped
	}}
	err := open(t, root, fs).Put(raws...)
	if (err == nil) == fs.Stopped() {
		t.Fatalf("step %d: stopped %v, error %v", n, fs.Stopped(), err)
	}
	next := open(t, root, nil)
	same(t, next, old)
	for _, r := range raws {
		got, getErr := next.Get(r.ID())
		switch {
		case getErr == nil && string(got.Body) == string(r.Body):
		case errors.Is(getErr, objects.ErrNotFound) && err != nil:
		default:
			t.Fatalf("step %d: put said %v, get says %v", n, err, getErr)
		}
	}
	for _, name := range files(t, root) {
		if durable.IsTemp(filepath.Base(name)) &&
			!slices.Contains(objects.Folders(""), filepath.Dir(filepath.FromSlash(name))) {
			t.Errorf("step %d: %s is in no folder of the layout, and stays", n, name)
		}
	}
	orphans, orphanErr := next.Orphans()
	if orphanErr != nil {
		t.Fatal(orphanErr)
	}
	for _, id := range orphans {
		if err := next.Reindex(id); err != nil {
			t.Errorf("step %d: %v", n, err)
		}
	}
	put(t, next, raws...)
	for _, r := range raws {
		same(t, next, r)
	}
	return err == nil
}

// A step fails and the program lives: Put says so, leaves no temporary file, and works the next
// time.
func TestFailureInPut(t *testing.T) {
	t.Parallel()
	full := errors.New("no space left")
	for name, raws := range map[string][]format.Raw{"few": {object(1, "a"), object(2, "b")},
		"batch": batch(65)} {
		for n := 1; ; n++ {
			_, root := newStore(t, nil)
			failed := false
			s := open(t, root, &durable.FS{Hook: func(c durable.Call) error {
				if c.N == n {
					failed = true
					return &durable.Torn{Keep: 1, Err: full}
				}
				return nil
			}})
			err := s.Put(raws...)
			if !failed {
				break
			}
			if !errors.Is(err, full) {
				t.Fatalf("%s, step %d: %v", name, n, err)
			}
			for _, f := range files(t, root) {
				if durable.IsTemp(filepath.Base(f)) {
					t.Errorf("%s, step %d: left %s", name, n, f)
				}
			}
			put(t, s, raws...)
			for _, r := range raws {
				same(t, s, r)
			}
		}
	}
}

func TestCrashInInit(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3, 4, 5} {
		root := t.TempDir()
		err := objects.Init(root, &durable.FS{Hook: func(c durable.Call) error {
			if c.N == n {
				return durable.ErrStopped
			}
			return nil
		}})
		if (err == nil) != (n == 5) {
			t.Errorf("step %d: %v", n, err)
		}
		if err := objects.Init(root, nil); err != nil {
			t.Fatal(err)
		}
		dirs, err := filepath.Glob(filepath.Join(root, "objects", "*"))
		if err != nil || len(dirs) != 1 {
			t.Errorf("step %d: %d folders, %v", n, len(dirs), err)
		}
	}
}
