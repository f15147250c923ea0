package upkeep

import (
	"context"
	"errors"
	"testing"
)

// What is forgotten while gc packs it keeps gc from nothing: it begins anew. Where that happens in
// every try, gc says so and has removed nothing.
func TestGCBesideForget(t *testing.T) {
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
		{"in every try", true, gcTries, ErrForgot},
	} {
		s := create(t)
		for n := range gcTries {
			say(t, s, "talk", "a message about "+string(rune('a'+n))+"-secrets", "an answer")
		}
		age(t, s, start.Add(-30*day))
		forgot := 0
		progress := func(done, total int, what string) {
			if what != "packing" || tt.late != (done == total) || forgot == tt.times {
				return
			}
			other := open(t, s.Dir, nil)
			report := must[ForgetReport](t)(Forget(bg, other, ForgetOptions{Text: string(rune('a'+forgot)) + "-secrets"}))
			if len(report.Objects) == 0 {
				t.Errorf("%s: nothing was forgotten", tt.name)
			}
			forgot++
		}
		report, err := GC(bg, s, GCOptions{Grace: -1, Progress: progress})
		if !errors.Is(err, tt.want) || forgot != tt.times {
			t.Errorf("%s: %v after %d forgets", tt.name, err, forgot)
		}
		if tt.want == nil && report.Packed == 0 {
			t.Errorf("%s: %+v", tt.name, report)
		}
		clean(t, fresh(t, s))
	}
}
