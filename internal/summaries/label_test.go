package summaries_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/summaries"
)

// labelled makes a store in which two sessions have several clusters of an agent's work each, and
// one of talk.
func labelled(t *testing.T, settings ...string) *session.Store {
	s := storetest.Create(t,
		append([]string{"window.graduate_at=1", "window.evict_at=1", "forest.merge_threshold=1"},
			settings...)...)
	for _, session := range []string{"a", "b"} {
		for i, file := range []string{"upload/retry.go", "lexer/scan.go", "store/lock.go",
			"docs/index.md"} {
			goal := "Please go on with the next step of the plan."
			if i == 0 {
				goal =
					"<system-reminder>\nnot of the user\n</system-reminder>\nMake the " +
						"upload retry on 503."
			}
			list := exchangeOf(goal, "/app/"+file)
			kept := map[string]any{"claude-code": map[string]string{"gitBranch": "quay"},
				"thought": true}
			list[0].Parts, _ = json.Marshal([]any{map[string]string{"text": list[0].Text}, kept})
			list[0].Text = ""
			appendAll(t, s, session, list)
		}
	}
	appendAll(t, s, "talk",
		[]conversation.Message{
			{Role: "user", Text: "The migration adds a column to consignments on port 5433."},
			{Role: "user", Text: "At noon."}, {Role: "user", Text: "Lunch?"},
		})
	for _, session := range []string{"a", "b", "talk"} {
		storetest.Must[clusters.Graduation](t)(s.Conversation.Graduate(context.Background(),
			session, history.MainBranch))
	}
	return s
}

func TestLabelsOfClusters(t *testing.T) {
	s := labelled(t)
	look := func(when string) {
		t.Helper()
		list := storetest.Must[[]clusters.ClusterInfo](t)(s.Recall.Clusters(storetest.View(t, s)))
		if err := s.Summaries.SetLabels(list); err != nil {
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
		for _, bad := range []string{"secretOfTheOutput", "limit", "509", "714", "TestRetry",
			"not of the user", "system-reminder"} {
			if strings.Contains(all, bad) {
				t.Errorf("%s: %q in\n%s", when, bad, all)
			}
		}
		for _, want := range []string{"a: Make the upload retry on 503 · ",
			"b: Please go on with the next step of the plan", "lexer/scan.go",
			"talk: The migration adds a column"} {
			if !strings.Contains(all, want) {
				t.Errorf("%s: no %q in\n%s", when, want, all)
			}
		}
		st := storetest.Must[*forest.State](t)(s.History.Forest(storetest.View(t, s)))
		byNumber := storetest.Must[map[uint64]string](t)(s.Summaries.LiveLabels(st, st.Live()))
		for _, c := range list {
			if byNumber[c.Number] != c.Label {
				t.Errorf("%s: cluster %d is %q in one list and %q in another", when, c.Number,
					c.Label, byNumber[c.Number])
			}
		}
	}
	look("before compact")
	for _, session := range []string{"a", "b", "talk"} {
		storetest.Compact(t, s, session)
	}
	look("after compact")
}

// TestTombstonesHaveLabels: the line of an agent's cluster is its label, with its size and days;
// that of plain talk names what is rare.
func TestTombstonesHaveLabels(t *testing.T) {
	s := labelled(t)
	for _, session := range []string{"a", "b", "talk"} {
		storetest.Compact(t, s, session)
	}
	for _, c := range storetest.Must[[]clusters.ClusterInfo](t)(
		s.Recall.Clusters(storetest.View(t, s))) {
		storetest.Must[summaries.Evicted](t)(s.Summaries.Evict(context.Background(), c.ID))
	}
	list := storetest.Must[[]clusters.ClusterInfo](t)(s.Recall.Clusters(storetest.View(t, s)))
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
