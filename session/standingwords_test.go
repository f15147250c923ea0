package session

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
)

const standingText = "MODEL SUMMARY of what was said"

// modelled is a store with one cluster of 40 messages that a model has summarised, and 10 that came
// after.
func modelled(t *testing.T) (*Store, format.Cover) {
	t.Helper()
	s := create(t, one...)
	bulk(t, s, "talk", 40)
	by := &talker{limit: 100_000, say: func(summarize.Ask) (summarize.Told, error) { return toldBy(standingText), nil }}
	if done := compactBy(t, s, by, "talk"); done.Settled != 1 {
		t.Fatalf("%+v", done)
	}
	cover := onlyCluster(t, s).Covers[0]
	bulk(t, s, "talk", 10)
	return s, cover
}

// mechanical is a chain in which nobody but the extractive summariser answers.
func mechanical(limit int) *talker {
	return &talker{limit: limit, say: func(ask summarize.Ask) (summarize.Told, error) {
		told := toldBy(strings.Repeat("word ", ask.Tokens/2))
		told.Summarizer = extractive
		return told, nil
	}}
}

// What a model said of a cluster stays in spite of later compactions without one: an extract stands
// beside it. A model then reads both.
func TestModelSummaryStands(t *testing.T) {
	for name, by := range map[string]summarize.Summarizer{"built in": nil, "chain": mechanical(100_000), "chain in pieces": mechanical(100)} {
		t.Run(name, func(t *testing.T) {
			s, cover := modelled(t)
			for round := range 3 {
				if done := compactBy(t, s, by, "talk"); done.Failed+done.Lost+done.Settled > 0 {
					t.Fatalf("round %d: %+v", round, done)
				}
				c := onlyCluster(t, s)
				if !slices.Contains(c.Covers, cover) || !c.Frozen() || slices.ContainsFunc(c.Covers, func(v format.Cover) bool { return v.Interim }) {
					t.Fatalf("round %d: covers %+v of %d, not %+v", round, c.Covers, c.Count(), cover)
				}
				if round > 0 {
					bulk(t, s, "talk", 10)
				}
			}
			out := string(render(t, s, "talk", 100_000).Bytes)
			if !strings.Contains(out, standingText) {
				t.Errorf("rendered without it:\n%s", out)
			}
			asked := 0
			model := &talker{limit: 100_000, say: func(ask summarize.Ask) (summarize.Told, error) {
				for _, p := range ask.Inputs {
					if p.Summary && p.Text == standingText {
						asked++
					}
				}
				return toldBy("the next MODEL SUMMARY"), nil
			}}
			if done := compactBy(t, s, model, "talk"); done.Settled != 1 || done.Dirty > 0 || asked != 1 {
				t.Errorf("%+v, asked %d times with it", done, asked)
			}
			check(t, s)
		})
	}
}

// A cluster that has several summaries is evicted with their words joined, and these stand when it
// comes back.
func TestEvictedWithItsWords(t *testing.T) {
	s, _ := modelled(t)
	compactBy(t, s, nil, "talk")
	node := must[format.ID](t)(must[*forest.State](t)(s.Forest(s.mustView(t))).Node(onlyCluster(t, s)))
	must[Evicted](t)(s.Evict(context.Background(), node))
	check(t, s)
	bulk(t, s, "talk", 4)
	if done := compactBy(t, s, nil, "talk"); done.Failed+done.Lost > 0 {
		t.Fatalf("%+v", done)
	}
	c := onlyCluster(t, s)
	text, generation, err := s.worded(c.Covers[0].Summary)
	if err != nil || generation != 2 || !strings.HasPrefix(text, standingText+"\n") || !strings.Contains(text, "message number 8 of those") {
		t.Errorf("generation %d, %q, %v", generation, text, err)
	}
	check(t, s)
}

// A summary goes when one of its members does.
func TestModelSummaryGoesWithItsInput(t *testing.T) {
	s, cover := modelled(t)
	members := must[[]format.ID](t)(must[*forest.State](t)(s.Forest(s.mustView(t))).Members(onlyCluster(t, s)))
	must[Rewound](t)(s.Rewind(context.Background(), "talk", MainBranch, members[30], RewindOptions{}))
	compactBy(t, s, nil, "talk")
	c := onlyCluster(t, s)
	if slices.Contains(c.Covers, cover) || !c.Frozen() {
		t.Errorf("covers %+v of %d", c.Covers, c.Count())
	}
	check(t, s)
}

// A worker's summary stands as a model's does: the next compactions go on from it, with the default chain as with none, whatever has come after.
func TestWorkersSummaryStands(t *testing.T) {
	for _, settings := range [][]string{small, one} {
		s := create(t, settings...)
		ctx := context.Background()
		bulk(t, s, "talk", 20)
		must[Graduation](t)(s.Graduate(ctx, "talk", MainBranch))
		var brought []Answer
		err := s.Claims(ctx, s.mustView(t), 0, func(c Claim) error {
			brought = append(brought, Answer{Claim: c.ID, Told: toldBy(standingText)})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		done := must[Compaction](t)(s.Commit(ctx, brought))
		if done.Settled == 0 || done.Settled != len(brought) {
			t.Fatalf("%d answers: %+v", len(brought), done)
		}
		for range 3 {
			bulk(t, s, "talk", 6)
			compactBy(t, s, nil, "talk")
			compactBy(t, s, mechanical(100), "talk")
		}
		stand := 0
		for _, c := range must[[]ClusterInfo](t)(s.Clusters(s.mustView(t))) {
			for _, v := range c.Covers {
				_, text, err := s.text(v.Summary)
				if err != nil {
					t.Fatal(err)
				}
				stand += strings.Count(string(text), standingText)
			}
		}
		if stand != done.Settled {
			t.Errorf("%d of %d summaries of a worker stand", stand, done.Settled)
		}
		check(t, s)
	}
}
