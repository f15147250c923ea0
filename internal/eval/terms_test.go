package eval

import (
	"reflect"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/eval/sets"
	"github.com/gemini-ctx/ctx/internal/search"
)

func TestContentTerms(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"Fix internal/store/prune.go, please!", []string{"internal/store/prune.go", "please"}},
		{"a to the Go", nil},
		{"port 5433 at 12:30, not 42", []string{"port", "5433", "12:30"}},
		{"--before /var/tmp/x.db: done.", []string{"before", "var/tmp/x.db", "done"}},
		{"TestA_b v1.2.3 7days", []string{"testa_b", "v1.2.3", "days"}},
		{"Größe naïve", []string{"größe", "naïve"}},
	} {
		if got := contentTerms(c.text); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestFileNames(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"in /home/a/src/Store.go:41: and go.mod", []string{"store.go"}},
		{"README.md, deploy/cron.d/x", []string{"readme.md"}},
		{"src/icons/dot-grey.svg (new)", []string{"dot-grey.svg"}},
		{"see https://a.example/x.html, version 1.2 or e.g. this", nil},
		{"a/b.verylongending src/.env", nil},
		{"`main.tsx`.", []string{"main.tsx"}},
	} {
		if got := fileNames(c.text); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestIsJunk(t *testing.T) {
	for _, line := range []string{
		"}", "  });", "offset: 509", `"limit": 30,`, "- 120", "714- }", "  41→\tfoo()",
		"12: bar := 3", "8|x", "limit 40", "1,024", "line: 7",
		"## 3.", "-A: 30",
	} {
		if !isJunk(line) {
			t.Errorf("%q is taken for a line that tells something", line)
		}
	}
	for _, line := range []string{
		"---", "```go", "2026-05-06 the export", "12:30 call with Femke", "314 rows were deleted",
		"offset of the pier: 12 cm", "Edit a.go", "3 tests failed",
		"internal/a.go:41: undefined: day",
	} {
		if isJunk(line) {
			t.Errorf("%q is taken for junk", line)
		}
	}
}

// The reference has the terms that were there before and are rare, with their weights.
func TestReference(t *testing.T) {
	history := []sets.Record{
		{
			Said: "the harbour gauge", Called: "internal/gauge.go",
		}, {Said: "the harbour alarm"}, {Said: "the harbour store"}, {Output: "nothing prune.go"},
	}
	next := []sets.Record{
		{Said: "harbour alarm tomorrow"},
		{Called: "internal/gauge.go nothing unseen.go", Output: "store"},
	}
	ref := referenceOf(history, next)
	want := reference{
		// harbour is in three records of four, tomorrow is new
		said:   map[string]float64{"alarm": search.Ln(5)},
		called: map[string]float64{"internal/gauge.go": search.Ln(5), "nothing": search.Ln(5)},
		files:  map[string]float64{"gauge.go": 1},
	}
	if !reflect.DeepEqual(ref, want) {
		t.Errorf("%v, want %v", ref, want)
	}
	got := ref.coverage(
		strings.Join([]string{"Nothing to do", "", "}", "in other/gauge.go", "12"}, "\n"),
	)
	if want := (coverage{said: 0, called: 0.5, files: 1, lines: 4, useful: 2,
		junk: 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := (reference{}).coverage("alarm"); got.said >= 0 || got.files >= 0 || got.useful != 0 {
		t.Errorf("of an empty reference: %+v", got)
	}
}
