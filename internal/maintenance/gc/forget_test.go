package gc_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/internal/maintenance/gc"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/internal/maintenance/kit"
	"github.com/gemini-ctx/ctx/internal/storetest"
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
		storetest.Loosen(t, s)
		kit.Age(t, s, storetest.Start.Add(-30*kit.Day))
		forgot := 0
		progress := func(done, total int, what string) {
			if what != "packing" || tt.late != (done == total) || forgot == tt.times {
				return
			}
			other := kit.Open(t, s.Dir, nil)
			report := storetest.Must[forget.Report](t)(
				forget.Run(bg, other, forget.Options{Text: string(rune('a'+forgot)) + "-secrets"}))
			if len(report.Objects) == 0 {
				t.Errorf("%s: nothing was forgotten", tt.name)
			}
			forgot++
		}
		report, err := gc.Run(bg, s, gc.Options{Grace: -1, Progress: progress})
		if !errors.Is(err, tt.want) || forgot != tt.times {
			t.Errorf("%s: %v after %d forgets", tt.name, err, forgot)
		}
		if tt.want == nil && report.Packed == 0 {
			t.Errorf("%s: %+v", tt.name, report)
		}
		kit.Clean(t, kit.Fresh(t, s))
	}
}
