package importer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/importer"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// A transcript that is read again stands in the place of what it was; one that is understood now is
// out. Kinds are bounded, and have no secrets.
func TestDrift(t *testing.T) {
	s := storetest.Create(t)
	note := func(path, version string, kinds map[string]int) {
		t.Helper()
		stats := transcript.NewStats()
		stats.Version, stats.Kept = version, kinds
		if err := s.Importer.NoteDrift(
			importer.DriftOf("codex", path,
				&importer.ImportedTranscript{Stats: stats})); err != nil {
			t.Fatal(err)
		}
	}
	said := func() (list []string) {
		for _, d := range s.Importer.Drifts() {
			list = append(list, d.String())
		}
		return list
	}
	if list := said(); list != nil {
		t.Errorf("%q", list)
	}
	note("/a", "1.2", map[string]int{"tide": 2})
	note("/b", "1.2", map[string]int{"tide": 1, "moon": 1})
	note("/b", "1.2", map[string]int{"tide": 3, "moon": 1})
	note("/c", "", map[string]int{"tide": 1})
	want := []string{
		"codex: 1 record of kind `tide` is kept, but not understood",
		"codex 1.2: 1 record of kind `moon` is kept, but not understood",
		"codex 1.2: 5 records of kind `tide` are kept, but not understood",
	}
	if list := said(); !slices.Equal(list, want) {
		t.Errorf("%q", list)
	}
	note("/b", "1.2", nil)
	note("/c", "", nil)
	if list := said(); !slices.Equal(list,
		[]string{"codex 1.2: 2 records of kind `tide` are kept, but not understood"}) {
		t.Errorf("%q", list)
	}
	many := map[string]int{"key AKIA" + "Q3EGRIGTWZ7QLM4K": 1}
	for i := range 1000 {
		many[fmt.Sprintf("kind %d", i)] = 1
	}
	note("/a", "1.2", many)
	list := said()
	if len(list) != 64 || slices.ContainsFunc(list, func(s string) bool { return len(s) > 200 }) ||
		list[0] == "" {
		t.Errorf("%d kinds", len(list))
	}
	for _, one := range list {
		if strings.Contains(one, "GTWZ7QLM") {
			t.Error(one)
		}
	}
}
