package faults

import (
	"testing"

	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/refs"
)

// TestEveryVerbHasARow holds CONTRIBUTING.md's "add a command": each type of operation is written
// by a row of verbs, so the fault tests stop it, tear it and fail it.
func TestEveryVerbHasARow(t *testing.T) {
	elsewhere := map[string]string{
		refs.VerbCheckpoint: "written with an operation of another verb, every 256 operations: " +
			"the storms make some",
		refs.VerbRepair: "faults/rot.TestRepairStopped",
	}
	p := newPlace(t)
	found := map[string]bool{}
	for _, v := range verbs() {
		if v.makes || v.ends || v.needs {
			continue
		}
		start := startOf(t, p, v)
		p.all = true
		p.put(t, start)
		p.all = true
		before, _ := number(t, p, false)
		if err := v.do(&world{root: p.root, now: today}); err != nil {
			t.Fatalf("%s: %v", v.name, err)
		}
		w := &world{root: p.root, now: later}
		err := w.with(func(s *session.Store) error {
			return s.Refs.Forward(func(c refs.Record) bool {
				if c.Op.Number > before {
					found[c.Op.Verb] = true
				}
				return true
			})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, verb := range refs.Verbs() {
		if !found[verb] && elsewhere[verb] == "" {
			t.Errorf("no row of verbs() in verbs_test.go writes an operation %q", verb)
		}
	}
}
