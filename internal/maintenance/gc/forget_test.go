package gc_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/internal/maintenance/gc"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/internal/maintenance/kit"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/lock"
)

// What is forgotten while gc packs it keeps gc from nothing: it begins anew. Where that happens in
// every try, gc says so and has removed nothing.
func TestGCBesideForget(t *testing.T) {
	const gcTries = 8 // as often as gc begins
	bg := context.Background()
	for _, tt := range []struct {
		name  string
		late  bool // when all is packed, before the pack gets its name
		times int
		want  error
	}{
		{"while it is read", false, 1, nil},
		{"when all is packed", true, 1, nil},
		{"both in turn, but for the last try", true, gcTries - 1, nil},
		{"in every try", true, gcTries, graph.ErrForgot},
	} {
		s := kit.Create(t)
		for n := range gcTries {
			kit.Say(t, s, "talk", "a message about "+string(rune('a'+n))+"-secrets", "an answer")
		}
		storetest.Spread(t, s)
		kit.Age(t, s, storetest.Start.Add(-30*kit.Day))
		forgot := 0
		progress := func(done, total int, what string) {
			if what != "packing" || tt.late != (done == total) || forgot == tt.times {
				return
			}
			other := kit.Open(t, s.Dir, nil)
			report := storetest.Must[forget.Report](t)(
				forget.Run(bg, other.Opened,
					forget.Options{Text: string(rune('a'+forgot)) + "-secrets"}))
			if len(report.Objects) == 0 {
				t.Errorf("%s: nothing was forgotten", tt.name)
			}
			forgot++
		}
		report, err := gc.Run(bg, s.Opened, gc.Options{Grace: -1, Progress: progress})
		if !errors.Is(err, tt.want) || forgot != tt.times {
			t.Errorf("%s: %v after %d forgets", tt.name, err, forgot)
		}
		if tt.want == nil && report.Packed == 0 {
			t.Errorf("%s: %+v", tt.name, report)
		}
		kit.Clean(t, kit.Fresh(t, s))
	}
}

// A forget removes what others are writing, in whatever step of theirs it comes: gc begins anew.
func TestGCBesideForgetAtEachStep(t *testing.T) {
	bg := context.Background()
	base := kit.Grow(t, 1)
	kit.Say(t, base, "talk", "a message", "secrets", "an answer")
	storetest.Spread(t, base)
	kit.Age(t, base, storetest.Start.Add(-30*kit.Day))
	beside := 0
	for n, done := 0, false; !done; n++ {
		dir := filepath.Dir(filepath.Dir(storetest.CopyStore(t, base.Dir)))
		step := 0
		fsys := &durable.FS{}
		fsys.Hook = func(c durable.Call) error {
			if c.Op != durable.OpSync {
				return nil
			}
			if step++; step != n+1 {
				return nil
			}
			other := storetest.Reopen(t, dir, nil, "lock.timeout=1ms")
			_, err := forget.Run(bg, other.Opened, forget.Options{Text: "secrets"})
			var busy *lock.BusyError
			switch {
			case err == nil:
				beside++
			case !errors.As(err, &busy): // gc has the lock in this step
				t.Errorf("forget at step %d: %v", n, err)
			}
			return nil
		}
		s := storetest.Reopen(t, dir, fsys, "log.keep=1s")
		s.Now = func() time.Time { return storetest.Start.Add(kit.Day) }
		if _, err := gc.Run(bg, s.Opened, gc.Options{Grace: -1, LogFrom: 1}); err != nil {
			t.Errorf("beside a forget at step %d: %v", n, err)
		}
		kit.Clean(t, storetest.Reopen(t, dir, nil))
		done = step <= n
	}
	if beside < 2 {
		t.Errorf("%d forgets beside gc", beside)
	}
}
