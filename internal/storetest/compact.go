package storetest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/summaries"
)

// Summarizer is a summarizer that counts what it is asked. It answers with Say or, if Say is nil,
// with a text that is nearly as long as it may be.
type Summarizer struct {
	Most int // tokens that it takes
	Say  func(summarize.Request) (summarize.Response, error)
	Asks int               // calls
	Read map[format.ID]int // how often it was given an entry
}

// Limit returns the number of tokens that the summarizer takes.
func (s *Summarizer) Limit() int { return s.Most }

// Summarize counts the inputs and answers. More than Most tokens are an error.
func (s *Summarizer) Summarize(
	_ context.Context, ask summarize.Request,
) (summarize.Response, error) {
	if s.Read == nil {
		s.Read = map[format.ID]int{}
	}
	s.Asks++
	sum := 0
	for _, p := range ask.Inputs {
		sum += summarize.Tokens(p.Text)
		if !p.Summary {
			s.Read[p.ID]++
		}
	}
	if sum > s.Most {
		return summarize.Response{},
			fmt.Errorf("asked about %d tokens, %d is the limit", sum, s.Most)
	}
	if s.Say != nil {
		return s.Say(ask)
	}
	// A long answer leads to as many summaries over summaries as there can be.
	return Told(strings.Repeat("word ", ask.Tokens*4/5)), nil
}

// Told returns a text as the answer of a summarizer.
func Told(text string) summarize.Response {
	return summarize.Response{Text: text, Summarizer: "talker", Version: "1"}
}

// CompactBy compacts the main branches of some sessions, or of all, with a summarizer.
func CompactBy(
	t testing.TB, s *session.Store, by summarize.Summarizer, sessions ...string,
) summaries.Compaction {
	t.Helper()
	t.Helper()
	o := compaction.CompactOptions{Summarizer: by}
	for _, name := range sessions {
		o.Branches = append(o.Branches,
			history.BranchName{Session: name, Branch: history.MainBranch})
	}
	return Must[summaries.Compaction](t)(s.Compaction.Compact(context.Background(), o))
}

// OneCluster are the settings of a store that has one cluster for all its graduated messages.
var OneCluster = []string{"window.graduate_at=1", "window.evict_at=2000",
	"forest.merge_threshold=0"}

// TheCluster returns the one live cluster of a store.
func TheCluster(t *testing.T, s *session.Store) *forest.Cluster {
	t.Helper()
	live := Must[*forest.State](t)(s.History.Forest(View(t, s))).Live()
	if len(live) != 1 {
		t.Fatalf("%d clusters", len(live))
	}
	return live[0]
}

// Compact compacts the main branches of some sessions, or of all, with the built-in summarizer.
func Compact(t testing.TB, s *session.Store, sessions ...string) summaries.Compaction {
	t.Helper()
	return CompactBy(t, s, nil, sessions...)
}

// SummaryText is a summary that no rule of this program would write.
const SummaryText = "MODEL SUMMARY of what was said"
