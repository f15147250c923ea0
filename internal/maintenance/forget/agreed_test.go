package forget_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/internal/maintenance/kit"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// TestForgetIsAgreed has a message arrive between a question and its answer: it does not go with
// those that were shown.
func TestForgetIsAgreed(t *testing.T) {
	s, bg := kit.Create(t), context.Background()
	kit.Say(t, s, "talk", "the "+oneWord+" sings", "nothing", "again the "+oneWord)
	o := forget.Options{Text: oneWord, DryRun: true}
	shown := storetest.Must[forget.Report](t)(forget.Run(bg, s.Opened, o))
	if len(shown.Said) != 1 || len(shown.Said[0].Messages) != 2 {
		t.Fatalf("shown: %+v", shown.Said)
	}
	o.DryRun = false
	o.Agreed = func(r *forget.Report) bool {
		for _, id := range r.Objects {
			if shown.Kinds[id] == "" {
				return false
			}
		}
		return true
	}
	kit.Say(t, s, "other", "a third "+oneWord)
	before := storetest.View(t, s).Number
	report, err := forget.Run(bg, s.Opened, o)
	if !errors.Is(err, forget.ErrNotAgreed) || len(report.Objects) != 3 || len(report.Said) != 2 {
		t.Fatalf("%v, %+v", err, report)
	}
	if after := storetest.View(t, s).Number; after != before {
		t.Errorf("%d operations more", after-before)
	}
	for _, id := range report.Objects {
		if raw, err := s.Objects.Get(id); err != nil || raw.Body == nil {
			t.Errorf("%v went unasked: %v", id.Short(8), err)
		}
	}
	shown = report
	report, err = forget.Run(bg, s.Opened, o)
	if err != nil || len(report.Objects) != 3 {
		t.Fatalf("%v, %+v", err, report)
	}
	if raw, err := s.Objects.Get(report.Objects[0]); err == nil && raw.Body != nil {
		t.Error("nothing went")
	}
}
