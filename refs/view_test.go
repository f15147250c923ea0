package refs

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// A view, which has some refs from the checkpoint and some from the log, says the same as a map.
func TestViewIsAMap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	s := newStore(t)
	want := map[string]format.Value{}
	for step := range 300 {
		op := &format.Operation{Verb: "append", Time: s.now}
		changed := map[string]bool{}
		for range 1 + r.IntN(3) {
			name := fmt.Sprintf("sessions/s%d/b%d", r.IntN(12), r.IntN(3))
			if changed[name] {
				continue
			}
			changed[name] = true
			u := format.RefUpdate{Name: name, Old: want[name], New: tip(1000 + step)}
			if u.Old.Exists() && r.IntN(3) == 0 {
				u.New = format.Value{}
			}
			if want[name] = u.New; !u.New.Exists() {
				delete(want, name)
			}
			op.Refs = append(op.Refs, u)
		}
		v, err := s.db.Commit(s.held, s.view, op, nil)
		s.must(err)
		if s.view = v; r.IntN(20) == 0 {
			s.must(s.db.Checkpoint(s.held, v))
		}
		for name, v := range map[string]*View{"the writer's": s.view, "a reader's": s.read()} {
			if got := v.All(); !maps.Equal(got, want) {
				t.Fatalf("step %d: %s view has %v, not %v", step, name, got, want)
			}
			for _, prefix := range []string{"", "sessions/", "sessions/s1", "sessions/s1/",
				"sessions/s7/b2", "state/", "t"} {
				names := slices.DeleteFunc(slices.Sorted(maps.Keys(want)),
					func(n string) bool { return !strings.HasPrefix(n, prefix) })
				if got := v.Names(prefix); !slices.Equal(got, names) {
					t.Fatalf("step %d: %s view has %q under %q, not %q", step, name, got,
						prefix, names)
				}
			}
			for name := range changed {
				if got := v.Get(name); got != want[name] {
					t.Fatalf("step %d: %s is %v, not %v", step, name, got, want[name])
				}
			}
		}
	}
}
