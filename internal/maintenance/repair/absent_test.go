package repair_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable/durabletest"
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/maintenance/kit"
	"github.com/gemini-ctx/ctx/internal/maintenance/repair"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// A damaged record of an absent body is written again as what it was: forgotten, or lost.
func TestRepairOfAnAbsentRecord(t *testing.T) {
	s := kit.Create(t)
	kit.Say(t, s, "talk", "one", "two", "three")
	lost := kit.TipOf(t, s, "talk")
	kit.Say(t, s, "talk", "four", "five")
	forgotten := kit.TipOf(t, s, "talk")
	storetest.Spread(t, s)
	kit.ForgetEntry(t, s, forgotten)
	kit.TakeOut(t, s, lost)
	if err := os.Remove(s.Objects.AbsentPath(lost)); err != nil {
		t.Fatal(err)
	}
	if report := storetest.Must[repair.Report](t)(
		repair.Run(context.Background(), storetest.Env(s.Dir, nil),
			repair.Options{})); len(report.Left) > 0 {
		t.Fatal(report.Left)
	}
	if report := kit.Clean(t, kit.Fresh(t, s)); !strings.Contains(strings.Join(report.Notes, "\n"),
		"1 bodies are lost") {
		t.Errorf("notes: %q", report.Notes)
	}
	for id, want := range map[format.ID]string{lost: format.ReasonLost,
		forgotten: format.ReasonForgotten} {
		if err := os.WriteFile(s.Objects.AbsentPath(id), []byte("absent"), 0o600); err != nil {
			t.Fatal(err)
		}
		report := storetest.Must[repair.Report](t)(
			repair.Run(context.Background(), storetest.Env(s.Dir, nil),
				repair.Options{Copy: filepath.Join(durabletest.TempDir(t), "copy")}))
		a, err := fsck.ReadAbsent(id, s.Objects.AbsentPath(id))
		if err != nil || a.Reason != want || len(report.Left) > 0 {
			t.Errorf("%s: %+v, %v; left %v", want, a, err, report.Left)
		}
	}
}
