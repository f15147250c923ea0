package session

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/session/view"
)

// labelled makes a store in which two sessions have several clusters of an agent's work each, and one of talk.
func labelled(t *testing.T, settings ...string) *Store {
	s := create(t, append([]string{"window.graduate_at=1", "window.evict_at=1", "forest.merge_threshold=1"}, settings...)...)
	for _, session := range []string{"a", "b"} {
		for i, file := range []string{"upload/retry.go", "lexer/scan.go", "store/lock.go", "docs/index.md"} {
			goal := "Please go on with the next step of the plan."
			if i == 0 {
				goal = "<system-reminder>\nnot of the user\n</system-reminder>\nMake the upload retry on 503."
			}
			appendAll(t, s, session, exchangeOf(goal, "/app/"+file))
		}
	}
	appendAll(t, s, "talk", []Message{{Role: "user", Text: "The migration adds a column to consignments on port 5433."}, {Role: "user", Text: "At noon."}, {Role: "user", Text: "Lunch?"}})
	for _, session := range []string{"a", "b", "talk"} {
		must[Graduation](t)(s.Graduate(context.Background(), session, MainBranch))
	}
	return s
}

func TestLabelsOfClusters(t *testing.T) {
	s := labelled(t)
	look := func(when string) {
		t.Helper()
		list := must[[]ClusterInfo](t)(s.Clusters(s.mustView(t)))
		if err := s.SetLabels(list); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		all := ""
		for _, c := range list {
			if n := utf8.RuneCountInString(c.Label); n == 0 || n > summarize.LabelColumns {
				t.Errorf("%s: label %q has %d columns", when, c.Label, n)
			}
			key := c.Last.Session + ": " + c.Label
			if seen[key] {
				t.Errorf("%s: %q twice", when, key)
			}
			seen[key] = true
			all += key + "\n"
		}
		for _, bad := range []string{"secretOfTheOutput", "limit", "509", "714", "TestRetry", "not of the user", "system-reminder"} {
			if strings.Contains(all, bad) {
				t.Errorf("%s: %q in\n%s", when, bad, all)
			}
		}
		for _, want := range []string{"a: Make the upload retry on 503 · ", "b: Please go on with the next step of the plan", "lexer/scan.go", "talk: The migration adds a column"} {
			if !strings.Contains(all, want) {
				t.Errorf("%s: no %q in\n%s", when, want, all)
			}
		}
		st := must[*forest.State](t)(s.Forest(s.mustView(t)))
		byNumber := must[map[uint64]string](t)(s.liveLabels(st, st.Live()))
		for _, c := range list {
			if byNumber[c.Number] != c.Label {
				t.Errorf("%s: cluster %d is %q in one list and %q in another", when, c.Number, c.Label, byNumber[c.Number])
			}
		}
	}
	look("before compact")
	for _, session := range []string{"a", "b", "talk"} {
		compact(t, s, session)
	}
	look("after compact")
}

// TestTombstonesHaveLabels: the line of an agent's cluster is its label, with its size and days; that of plain talk names what is rare.
func TestTombstonesHaveLabels(t *testing.T) {
	s := labelled(t)
	for _, session := range []string{"a", "b", "talk"} {
		compact(t, s, session)
	}
	for _, c := range must[[]ClusterInfo](t)(s.Clusters(s.mustView(t))) {
		must[Evicted](t)(s.Evict(context.Background(), c.ID))
	}
	list := must[[]ClusterInfo](t)(s.Clusters(s.mustView(t)))
	all := ""
	for _, c := range list {
		if c.Tombstone.IsZero() || !strings.HasPrefix(c.Line, c.Label+" (") {
			t.Errorf("label %q of line %q", c.Label, c.Line)
		}
		all += fmt.Sprintln(c.Line)
	}
	for _, want := range []string{"Make the upload retry on 503 · ", "consignments"} {
		if !strings.Contains(all, want) || strings.Contains(all, "TestRetry") {
			t.Errorf("no %q, or output of a tool, in\n%s", want, all)
		}
	}
}

// The label of a cluster that has a summary in plain words begins with the summary's first line that tells.
func TestHeadline(t *testing.T) {
	sentences := view.Part{Sentences: []summarize.Sentence{{Text: "The parser loses tokens."}}}
	for _, tt := range []struct {
		parts []view.Part
		want  string
	}{
		{nil, ""},
		{[]view.Part{sentences}, ""},
		{[]view.Part{{Text: "# Mend the parser\n\nIt loses tokens."}, sentences}, "Mend the parser"},
		{[]view.Part{{Text: "Mend the parser."}, {Text: "Ok.\nPrint every token."}}, "Print every token."},
		{[]view.Part{{Text: goneSummary}}, ""},
	} {
		if got := headlineOf(tt.parts); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.parts, got, tt.want)
		}
	}
}
