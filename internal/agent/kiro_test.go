package agent

import (
	"os"
	"testing"
)

// The editor writes objects.
func TestKiroEditor(t *testing.T) {
	data, err := os.ReadFile("shape/testdata/kiro/editor.json")
	if err != nil {
		t.Fatal(err)
	}
	steps, _, stats := kiros.Steps(t, data)
	want := "message user m1 \"Which lamps are lit?\"\nmessage model m2 \"The north one.\"\n"
	if got := Trace(steps); got != want || len(stats.Skipped) > 0 ||
		stats.Session != "c0000000-0000-4000-8000-000000000002" {
		t.Errorf("got\n%s%+v", got, stats)
	}
}
