package summaries_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/summaries"
)

// modelled is a store with one cluster of 40 messages that a model has summarized, and 10 that came
// after.
func modelled(t *testing.T) (*session.Store, format.Cover) {
	t.Helper()
	s := storetest.Create(t, storetest.OneCluster...)
	storetest.SayMany(t, s, "talk", 40)
	by := &storetest.Summarizer{Most: 100_000,
		Say: func(summarize.Request) (summarize.Response, error) {
			return storetest.Told(storetest.SummaryText), nil
		}}
	if done := storetest.CompactBy(t, s, by, "talk"); done.Settled != 1 {
		t.Fatalf("%+v", done)
	}
	cover := storetest.TheCluster(t, s).Covers[0]
	storetest.SayMany(t, s, "talk", 10)
	return s, cover
}

// mechanical is a chain in which nobody but the extractive summarizer answers.
func mechanical(limit int) *storetest.Summarizer {
	return &storetest.Summarizer{Most: limit,
		Say: func(ask summarize.Request) (summarize.Response, error) {
			told := storetest.Told(strings.Repeat("word ", ask.Tokens/2))
			told.Summarizer = summaries.Extractive
			return told, nil
		}}
}

// What a model said of a cluster stays in spite of later compactions without one: an extract stands
// beside it. A model then reads both.
func TestModelSummaryStands(t *testing.T) {
	for name, by := range map[string]summarize.Summarizer{"built in": nil,
		"chain": mechanical(100_000), "chain in pieces": mechanical(100)} {
		t.Run(name, func(t *testing.T) {
			s, cover := modelled(t)
			for round := range 3 {
				if done := storetest.CompactBy(t, s, by, "talk"); done.Failed+done.Lost+
					done.Settled > 0 {
					t.Fatalf("round %d: %+v", round, done)
				}
				c := storetest.TheCluster(t, s)
				if !slices.Contains(c.Covers, cover) || !c.Renderable() ||
					slices.ContainsFunc(c.Covers, func(v format.Cover) bool { return v.Interim }) {
					t.Fatalf("round %d: covers %+v of %d, not %+v", round, c.Covers,
						c.Count(), cover)
				}
				if round > 0 {
					storetest.SayMany(t, s, "talk", 10)
				}
			}
			out := string(storetest.Render(t, s, "talk", 100_000).Bytes)
			if !strings.Contains(out, storetest.SummaryText) {
				t.Errorf("rendered without it:\n%s", out)
			}
			asked := 0
			model := &storetest.Summarizer{Most: 100_000,
				Say: func(ask summarize.Request) (summarize.Response, error) {
					for _, p := range ask.Inputs {
						if p.Summary && p.Text == storetest.SummaryText {
							asked++
						}
					}
					return storetest.Told("the next MODEL SUMMARY"), nil
				}}
			if done := storetest.CompactBy(t, s, model, "talk"); done.Settled != 1 ||
				done.Dirty > 0 || asked != 1 {
				t.Errorf("%+v, asked %d times with it", done, asked)
			}
			storetest.Check(t, s)
		})
	}
}

// A cluster that has several summaries is evicted with their words joined, and these stand when it
// comes back.
func TestEvictedWithItsWords(t *testing.T) {
	s, _ := modelled(t)
	storetest.CompactBy(t, s, nil, "talk")
	node := storetest.Must[format.ID](t)(
		storetest.Must[*forest.State](t)(s.History.Forest(storetest.View(t, s))).Node(
			storetest.TheCluster(t, s)))
	storetest.Must[summaries.Evicted](t)(s.Summaries.Evict(context.Background(), node))
	storetest.Check(t, s)
	storetest.SayMany(t, s, "talk", 4)
	if done := storetest.CompactBy(t, s, nil, "talk"); done.Failed+done.Lost > 0 {
		t.Fatalf("%+v", done)
	}
	c := storetest.TheCluster(t, s)
	text, generation, err := s.Summaries.ReadText(c.Covers[0].Summary)
	if err != nil || generation != 2 || !strings.HasPrefix(text, storetest.SummaryText+"\n") ||
		!strings.Contains(text, "message number 8 of those") {
		t.Errorf("generation %d, %q, %v", generation, text, err)
	}
	storetest.Check(t, s)
}

// A summary goes when one of its members does.
func TestModelSummaryGoesWithItsInput(t *testing.T) {
	s, cover := modelled(t)
	members := storetest.Must[[]format.ID](t)(
		storetest.Must[*forest.State](t)(s.History.Forest(storetest.View(t, s))).Members(
			storetest.TheCluster(t, s)))
	storetest.Must[conversation.Rewound](t)(s.Conversation.Rewind(context.Background(), "talk",
		history.MainBranch, members[30], conversation.RewindOptions{}))
	storetest.CompactBy(t, s, nil, "talk")
	c := storetest.TheCluster(t, s)
	if slices.Contains(c.Covers, cover) || !c.Renderable() {
		t.Errorf("covers %+v of %d", c.Covers, c.Count())
	}
	storetest.Check(t, s)
}

// A worker's summary stands as a model's does: the next compactions go on from it, with the default
// chain as with none, whatever has come after.
func TestWorkersSummaryStands(t *testing.T) {
	for _, settings := range [][]string{storetest.Small, storetest.OneCluster} {
		s := storetest.Create(t, settings...)
		ctx := context.Background()
		storetest.SayMany(t, s, "talk", 20)
		storetest.Must[clusters.Graduation](t)(s.Conversation.Graduate(ctx, "talk",
			history.MainBranch))
		var brought []summaries.Answer
		err := s.Compaction.Claims(ctx, storetest.View(t, s), 0, func(c compaction.Claim) error {
			brought = append(brought,
				summaries.Answer{Claim: c.ID, Response: storetest.Told(storetest.SummaryText)})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		done := storetest.Must[summaries.Compaction](t)(s.Compaction.Commit(ctx, brought))
		if done.Settled == 0 || done.Settled != len(brought) {
			t.Fatalf("%d answers: %+v", len(brought), done)
		}
		for range 3 {
			storetest.SayMany(t, s, "talk", 6)
			storetest.CompactBy(t, s, nil, "talk")
			storetest.CompactBy(t, s, mechanical(100), "talk")
		}
		stand := 0
		for _, c := range storetest.Must[[]clusters.ClusterInfo](t)(
			s.Recall.Clusters(storetest.View(t, s))) {
			for _, v := range c.Covers {
				_, text, err := s.History.Text(v.Summary)
				if err != nil {
					t.Fatal(err)
				}
				stand += strings.Count(string(text), storetest.SummaryText)
			}
		}
		if stand != done.Settled {
			t.Errorf("%d of %d summaries of a worker stand", stand, done.Settled)
		}
		storetest.Check(t, s)
	}
}
