package agent

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// An export says the same as lines.
func TestGooseExport(t *testing.T) {
	lines := string(gooses.Fixtures(t)["20260203_1.jsonl"])
	want, _, _ := gooses.Steps(t, []byte(lines))
	list := slices.Collect(strings.Lines(lines))
	var doc map[string]any
	if err := json.Unmarshal([]byte(list[0]), &doc); err != nil {
		t.Fatal(err)
	}
	doc["conversation"] = json.RawMessage("[" + strings.Join(list[1:], ",") + "]")
	export, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got, _, stats := gooses.Steps(t, export)
	if Trace(got) != Trace(want) || stats.Session != "20260203_1" {
		t.Errorf("%+v says\n%s", stats, Trace(got))
	}
	if _, _, stats := gooses.Steps(t, export[:len(export)-9]); stats.Skipped["bad json"] != 1 {
		t.Errorf("cut off: %v", stats.Skipped)
	}
}
