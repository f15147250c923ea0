package compaction_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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

// A cluster that is too long for one ask is read in pieces, each entry once, and ends with one
// summary of few generations.
func TestLongClusterInPieces(t *testing.T) {
	for _, tt := range []struct{ messages, limit int }{{40, 100_000}, {40, 200}, {300, 200},
		{900, 600}, {900, 150}} {
		t.Run(fmt.Sprint(tt), func(t *testing.T) {
			s := storetest.Create(t, storetest.OneCluster...)
			storetest.SayMany(t, s, "talk", tt.messages)
			by := &storetest.Summarizer{Most: tt.limit}
			done := storetest.CompactBy(t, s, by, "talk")
			if done.Dirty > 0 || done.Failed > 0 {
				t.Fatalf("%+v", done)
			}
			c := storetest.TheCluster(t, s)
			members := storetest.Must[[]format.ID](t)(
				storetest.Must[*forest.State](t)(s.History.Forest(storetest.View(t, s))).Members(c))
			for _, id := range members {
				if by.Read[id] != 1 {
					t.Fatalf("an entry was read %d times", by.Read[id])
				}
			}
			generation := storetest.Must[uint64](t)(s.Summaries.Generation(c.Covers[0].Summary))
			if generation > 3 {
				t.Errorf("generation %d", generation)
			}
			t.Logf("%d asks, generation %d", by.Asks, generation)
			storetest.Check(t, s)
		})
	}
}

// A piece that cannot be had costs nothing of the others, and the next compaction asks for it
// alone.
func TestFailedPiece(t *testing.T) {
	s := storetest.Create(t, storetest.OneCluster...)
	storetest.SayMany(t, s, "talk", 60)
	by := &storetest.Summarizer{Most: 200}
	by.Say = func(summarize.Request) (summarize.Response, error) {
		if by.Asks == 2 {
			return summarize.Response{}, errors.New("too busy")
		}
		return storetest.Told("a piece"), nil
	}
	done := storetest.CompactBy(t, s, by, "talk")
	if done.Failed != 1 || done.Carried != by.Asks-1 || done.Dirty != 1 {
		t.Fatalf("%+v after %d asks", done, by.Asks)
	}
	if len(done.Reasons) != 1 ||
		done.Reasons[0] != (summaries.Reason{Outcome: "failed", Kind: "too busy",
			Why: "too busy", Count: 1}) {
		t.Errorf("reasons %+v", done.Reasons)
	}
	again := &storetest.Summarizer{Most: 200,
		Say: func(summarize.Request) (summarize.Response, error) {
			return storetest.Told("more"), nil
		}}
	if done := storetest.CompactBy(t, s, again, "talk"); done.Dirty > 0 || done.Failed > 0 {
		t.Fatalf("%+v", done)
	}
	for id, n := range again.Read {
		if n != 1 || by.Read[id] != 1 {
			t.Errorf("entry %v was read %d times before and %d times after", id, by.Read[id], n)
		}
	}
	if len(again.Read) > 12 {
		t.Errorf("%d entries were read again", len(again.Read))
	}
	storetest.Check(t, s)
}

// Whoever interrupts a compaction keeps what was answered.
func TestInterruptedCompaction(t *testing.T) {
	s := storetest.Create(t, storetest.OneCluster...)
	storetest.SayMany(t, s, "talk", 60)
	ctx, stop := context.WithCancel(context.Background())
	by := &storetest.Summarizer{Most: 200}
	by.Say = func(summarize.Request) (summarize.Response, error) {
		if by.Asks == 3 {
			stop()
			return summarize.Response{}, ctx.Err()
		}
		return storetest.Told("a piece"), nil
	}
	done, err := s.Compaction.Compact(ctx,
		compaction.CompactOptions{
			Branches:   []history.BranchName{{Session: "talk", Branch: history.MainBranch}},
			Summarizer: by,
		})
	if !errors.Is(err, context.Canceled) || done.Carried != 2 || done.Failed > 0 || by.Asks != 3 {
		t.Errorf("%+v, %v after %d asks", done, err, by.Asks)
	}
	if n := len(summaries.RealCovers(storetest.TheCluster(t, s).Covers, 0, 1000)); n != 2 {
		t.Errorf("%d covers", n)
	}
	storetest.Check(t, s)
}

// Where a chain ends in the extractive summarizer, that one's ranked list is taken, as where nobody
// else is set up; of pieces its words are.
func TestExtractiveAtTheEndOfTheChain(t *testing.T) {
	for _, limit := range []int{100_000, 400} {
		s := storetest.Create(t, storetest.OneCluster...)
		storetest.SayMany(t, s, "talk", 100)
		by := &storetest.Summarizer{Most: limit}
		by.Say = func(ask summarize.Request) (summarize.Response, error) {
			told := storetest.Told(strings.Repeat("word ", ask.Tokens/2))
			told.Summarizer = summaries.Extractive
			return told, nil
		}
		if done := storetest.CompactBy(t, s, by, "talk"); done.Settled != 1 ||
			done.Failed+done.Lost+done.Dirty > 0 {
			t.Fatalf("limit %d: %+v", limit, done)
		}
		c := storetest.TheCluster(t, s)
		if list, _, err := s.Summaries.ReadExtract(c.Covers[0].Summary); len(c.Covers) != 1 ||
			err != nil || len(list) < 10 {
			t.Errorf("limit %d: %d covers, %d sentences, %v", limit, len(c.Covers), len(list), err)
		}
		storetest.Check(t, s)
	}
}

// A summarizer that fails leaves everything as it was, and says why, once a kind.
func TestFailingSummarizer(t *testing.T) {
	long := strings.Repeat("much longer than what it sums up ", 1000)
	for name, say := range map[string]func(summarize.Request) (summarize.Response, error){
		"error": func(summarize.Request) (summarize.Response, error) {
			return summarize.Response{}, errors.New("no such program")
		},
		"empty": func(summarize.Request) (summarize.Response, error) {
			return storetest.Told(" \n\t"), nil
		},
		"longer": func(summarize.Request) (summarize.Response, error) {
			return storetest.Told(long), nil
		},
		"binary": func(summarize.Request) (summarize.Response, error) {
			return storetest.Told("\x7fELF\x00\x01"), nil
		},
		"nobody": func(summarize.Request) (summarize.Response, error) {
			return summarize.Response{Text: "short"}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := storetest.Create(t, "window.graduate_at=1", "window.evict_at=2000",
				"forest.merge_threshold=1")
			for i := range 4 {
				say := strings.Repeat(
					fmt.Sprintf("subject%d matter%d thing%d and more of it ", i, i, i), 8)
				bulkOne(t, s, "talk", say)
			}
			storetest.Must[clusters.Graduation](t)(s.Conversation.Graduate(context.Background(),
				"talk", history.MainBranch))
			before := storetest.View(t, s).Get(history.ForestRef)
			done := storetest.CompactBy(t, s, &storetest.Summarizer{Most: 10_000, Say: say})
			if done.Failed != 3 || done.Dirty != 3 || done.Settled+done.Carried+done.Evicted > 0 {
				t.Errorf("%+v", done)
			}
			if len(done.Reasons) != 1 || done.Reasons[0].Count != 3 {
				t.Errorf("reasons %+v", done.Reasons)
			}
			if after := storetest.View(t, s).Get(history.ForestRef); after != before {
				t.Error("the forest has changed")
			}
		})
	}
}

func bulkOne(t *testing.T, s *session.Store, session, text string) {
	t.Helper()
	if _, _, err := s.Conversation.Append(context.Background(), session, history.MainBranch,
		[]conversation.Message{{Role: "user", Text: text}},
		conversation.AppendOptions{NoGraduation: true}); err != nil {
		t.Fatal(err)
	}
}

// Summaries over summaries end, and then every entry is read again: in pieces that replace the old
// summary together, or not at all.
func TestRawAgain(t *testing.T) {
	s := storetest.Create(t, storetest.OneCluster...)
	var generations []uint64
	for range 6 {
		storetest.SayMany(t, s, "talk", 10)
		if done := storetest.CompactBy(t, s, &storetest.Summarizer{Most: 100_000},
			"talk"); done.Dirty > 0 {
			t.Fatalf("%+v", done)
		}
		generations = append(generations,
			storetest.Must[uint64](t)(
				s.Summaries.Generation(storetest.TheCluster(t, s).Covers[0].Summary)))
	}
	if got := fmt.Sprint(generations); got != "[1 2 3 4 1 2]" {
		t.Errorf("generations %s", got)
	}
	for range 2 {
		storetest.SayMany(t, s, "talk", 10)
		storetest.CompactBy(t, s, &storetest.Summarizer{Most: 100_000}, "talk")
	}
	storetest.SayMany(t, s, "talk", 10)
	storetest.Must[clusters.Graduation](t)(s.Conversation.Graduate(context.Background(), "talk",
		history.MainBranch))
	old := storetest.TheCluster(t, s).Covers[0]
	failing := &storetest.Summarizer{Most: 400}
	failing.Say = func(summarize.Request) (summarize.Response, error) {
		if failing.Asks == 2 {
			return summarize.Response{}, errors.New("too busy")
		}
		return storetest.Told("a piece"), nil
	}
	done := storetest.CompactBy(t, s, failing, "talk")
	if now := storetest.TheCluster(t, s).Covers[0]; now != old {
		t.Errorf("cover %+v became %+v", old, now)
	}
	if done.Failed != 1 || done.Lost == 0 {
		t.Errorf("%+v", done)
	}
	storetest.CompactBy(t, s, &storetest.Summarizer{Most: 400}, "talk")
	if c := storetest.TheCluster(t, s); c.Dirty() ||
		storetest.Must[uint64](t)(s.Summaries.Generation(c.Covers[0].Summary)) > 3 {
		t.Errorf("covers %+v", c.Covers)
	}
}

// What is amended or forgotten between a claim and its answer makes the answer come too late: it
// was made of other words.
func TestWordsChangeWhileClaimed(t *testing.T) {
	src := &conversation.Source{Agent: "test", Session: "x", Message: "m1"}
	for name, change := range map[string]func(*testing.T, *session.Store, format.ID){
		"amended": func(t *testing.T, s *session.Store, _ format.ID) {
			m := conversation.Message{Role: "user", Text: "the port is 6000 after all", Source: src}
			if _, _, err := s.Conversation.Append(context.Background(), "talk", history.MainBranch,
				[]conversation.Message{m}, conversation.AppendOptions{}); err != nil {
				t.Fatal(err)
			}
		},
		"forgotten": func(t *testing.T, s *session.Store, id format.ID) { forgetBody(t, s, id) },
	} {
		t.Run(name, func(t *testing.T) {
			s := storetest.Create(t, storetest.OneCluster...)
			done, _, err := s.Conversation.Append(context.Background(), "talk", history.MainBranch,
				[]conversation.Message{{Role: "user",
					Text: "the port is 5433, and the table is consignments", Source: src}},
				conversation.AppendOptions{})
			if err != nil {
				t.Fatal(err)
			}
			storetest.SayMany(t, s, "talk", 6)
			storetest.Must[clusters.Graduation](t)(s.Conversation.Graduate(context.Background(),
				"talk", history.MainBranch))
			// Inside of a compaction it is the same.
			first := true
			inside := storetest.CompactBy(t, s,
				&storetest.Summarizer{Most: 1000,
					Say: func(summarize.Request) (summarize.Response, error) {
						if first && name == "amended" {
							first = false
							m := conversation.Message{Role: "user",
								Text: "the port is 5999, not that", Source: src}
							if _, _, err := s.Conversation.Append(context.Background(), "talk",
								history.MainBranch, []conversation.Message{m},
								conversation.AppendOptions{}); err != nil {
								t.Error(err)
							}
							return storetest.Told("port 5433"), nil
						}
						return summarize.Response{}, errors.New("not now")
					}}, "talk")
			if inside.Settled > 0 || name == "amended" && inside.Lost != 1 {
				t.Errorf("%+v", inside)
			}
			claims := claimsNow(t, s)
			change(t, s, done[0].ID)
			c := storetest.Must[summaries.Compaction](t)(s.Compaction.Commit(context.Background(),
				[]summaries.Answer{{Claim: claims[0].ID, Response: storetest.Told("port 5433")}}))
			if c.Lost != 1 || c.Settled > 0 || c.Reasons[0].Why != summaries.LostInputs {
				t.Errorf("%+v", c)
			}
			if done := storetest.CompactBy(t, s, &storetest.Summarizer{Most: 1000},
				"talk"); done.Settled != 1 {
				t.Errorf("%+v", done)
			}
		})
	}
}

// forgetBody does to a body what forgetting does.
func forgetBody(t *testing.T, s *session.Store, id format.ID) {
	t.Helper()
	storetest.Spread(t, s)
	a := format.Absent{Object: id, Reason: format.ReasonForgotten,
		Time: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
	path := filepath.Join(s.Dir, "absent", id.String()[:2], id.String()[2:])
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, storetest.Must[[]byte](t)(a.Encode()), 0o600); err != nil {
		t.Fatal(err)
	}
	storetest.Strip(t, s, id)
}

func claimsNow(t *testing.T, s *session.Store) []compaction.Claim {
	t.Helper()
	var list []compaction.Claim
	err := s.Compaction.Claims(context.Background(), storetest.View(t, s),
		0, func(c compaction.Claim) error {
			list = append(list, c)
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Two workers on one claim: the first one's answer settles, the second one's is too late, and the
// first one's again is known.
func TestTwoWorkers(t *testing.T) {
	s := storetest.Create(t, storetest.OneCluster...)
	storetest.SayMany(t, s, "talk", 10)
	storetest.Must[clusters.Graduation](t)(s.Conversation.Graduate(context.Background(), "talk",
		history.MainBranch))
	a, b := claimsNow(t, s), claimsNow(t, s)
	commit := func(answers ...summaries.Answer) summaries.Compaction {
		t.Helper()
		done := storetest.Must[summaries.Compaction](t)(
			s.Compaction.Commit(context.Background(), answers))
		storetest.Check(t, s)
		return done
	}
	if done := commit(
		summaries.Answer{Claim: a[0].ID,
			Response: storetest.Told("what a says")}); done.Settled != 1 {
		t.Errorf("a: %+v", done)
	}
	if done := commit(
		summaries.Answer{Claim: b[0].ID, Response: storetest.Told("what b says")}); done.Lost != 1 {
		t.Errorf("b: %+v", done)
	}
	if done := commit(
		summaries.Answer{Claim: a[0].ID,
			Response: storetest.Told("what a says")}); done.Known != 1 {
		t.Errorf("a again: %+v", done)
	}
	storetest.SayMany(t, s, "talk", 10)
	storetest.Must[clusters.Graduation](t)(s.Conversation.Graduate(context.Background(), "talk",
		history.MainBranch))
	next := claimsNow(t, s)
	if len(next) != 1 || !next[0].Inputs[0].Summary || next[0].Generation != 2 {
		t.Fatalf("%+v", next)
	}
	twice := summaries.Answer{Claim: next[0].ID, Response: storetest.Told("what both say")}
	if done := commit(twice, twice,
		summaries.Answer{Claim: next[0].ID,
			Response: storetest.Told("what somebody else says")}); done.Settled != 1 ||
		done.Known != 1 || done.Lost != 1 {
		t.Errorf("three at once: %+v", done)
	}
	sum := storetest.Must[*format.Summary](t)(
		summaryOf(s, storetest.TheCluster(t, s).Covers[0].Summary))
	if sum.Generation != 2 || len(sum.Inputs) != 2 || !sum.Inputs[0].Summary ||
		sum.Inputs[1].Summary {
		t.Errorf("%+v", sum)
	}
}

func summaryOf(s *session.Store, id format.ID) (*format.Summary, error) {
	header, err := s.Objects.Header(id)
	if err != nil {
		return nil, err
	}
	return format.DecodeSummary(header)
}

// The invariant of compaction: after its first leave no branch renders more tokens after a
// compaction than before it, without a budget; a pin that moves makes it less; and the second one
// in a row does nothing at all. What graduates is taken in where that makes it less, and else stays
// in the tail, word for word.
func TestCompactionShrinks(t *testing.T) {
	left := 0
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := storetest.Create(t,
			[]string{"window.graduate_at=4", "window.evict_at=40", "forest.max_cold_clusters=3",
				"forest.merge_threshold=" + []string{"0", "0.5", "1"}[seed%3]}...)
		for range 12 {
			var batch []conversation.Message
			for range 1 + r.IntN(12) {
				text := storetest.Chatter(r)
				if r.IntN(3) == 0 {
					text = strings.Repeat(text+". ", 1+r.IntN(30))
				}
				batch = append(batch,
					conversation.Message{Role: []string{"user", "model"}[r.IntN(2)], Text: text})
			}
			if _, _, err := s.Conversation.Append(context.Background(), "talk", history.MainBranch,
				batch, conversation.AppendOptions{NoGraduation: r.IntN(2) == 0}); err != nil {
				t.Fatal(err)
			}
			before, pin := storetest.Render(t, s, "talk", 0).Tokens,
				storetest.View(t, s).Get(history.RefName("talk", history.MainBranch)).Pin
			storetest.Compact(t, s, "talk")
			after, now := storetest.Render(t, s, "talk", 0).Tokens,
				storetest.View(t, s).Get(history.RefName("talk", history.MainBranch)).Pin
			if first := pin.IsZero(); !first && (after > before || now != pin && after == before) {
				t.Fatalf("seed %d: %d tokens became %d", seed, before, after)
			}
			if now != pin {
				left++
			}
			number := storetest.View(t, s).Number
			storetest.Compact(t, s, "talk")
			if again := storetest.View(t, s).Number; again != number {
				t.Fatalf("seed %d: compaction again made an operation", seed)
			}
		}
	}
	if left < 50 {
		t.Errorf("%d leaves", left)
	}
}

// The strategies say the same of what is in the forest, whatever happens, and the flat one can
// begin at any time.
func TestFlatHasEveryMember(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	ctx := context.Background()
	ids := storetest.Talk(t, s, "talk", 20, 1)
	storetest.Talk(t, s, "other", 12, 2)
	storetest.Must[conversation.Rewound](t)(s.Conversation.Rewind(ctx, "talk", history.MainBranch,
		ids[6], conversation.RewindOptions{}))
	flat := func() summaries.Compaction {
		t.Helper()
		return storetest.Must[summaries.Compaction](t)(
			s.Compaction.Compact(ctx,
				compaction.CompactOptions{
					Branches: []history.BranchName{{Session: "talk", Branch: history.MainBranch}},
					Strategy: clusters.Flat,
				}))
	}
	if done := flat(); done.Roots != 1 || done.Dirty != 0 || done.Strategy != clusters.Flat {
		t.Errorf("%+v", done)
	}
	same := func() {
		t.Helper()
		storetest.Check(t, s)
		var sets []string
		for _, name := range []string{history.FlatForest, history.MainForest} {
			st := storetest.Must[*forest.State](t)(s.History.ForestOf(storetest.View(t, s), name))
			var all []string
			for _, c := range st.Live() {
				for _, id := range storetest.Must[[]format.ID](t)(st.Members(c)) {
					all = append(all, id.String())
				}
			}
			for _, e := range storetest.Must[[]forest.Evicted](t)(st.Evicted()) {
				if err := s.Clusters.EachMember(
					storetest.Must[*format.Tombstone](t)(
						s.History.Loader().Tombstone(e.Tombstone)).Node, func(id format.ID) error {
						all = append(all, id.String())
						return nil
					}); err != nil {
					t.Fatal(err)
				}
			}
			slices.Sort(all)
			sets = append(sets, strings.Join(all, " "))
		}
		if sets[0] != sets[1] {
			t.Fatalf("flat has %d members, main %d", strings.Count(sets[0], " ")+1,
				strings.Count(sets[1], " ")+1)
		}
	}
	same()
	// What had left before the flat forest was begun comes back to it.
	storetest.Must[conversation.Undone](t)(s.Conversation.Undo(ctx, "talk"))
	same()
	storetest.Talk(t, s, "talk", 15, 3)
	same()
	storetest.Must[conversation.Undone](t)(s.Conversation.Undo(ctx, "talk"))
	storetest.Must[conversation.Rewound](t)(s.Conversation.Rewind(ctx, "talk", history.MainBranch,
		ids[2], conversation.RewindOptions{}))
	same()
	storetest.Must[int](t)(s.Conversation.RemoveSession(ctx, "other"))
	same()
	storetest.Must[conversation.Undone](t)(s.Conversation.Undo(ctx, "other"))
	same()
	flat()
	storetest.Compact(t, s, "other")
	same()
}

// Where the clusters cannot be read, one flat cluster stands for them, and is told.
func TestFlatWhereMainIsDamaged(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	storetest.Talk(t, s, "talk", 30, 1)
	storetest.Compact(t, s, "talk")
	storetest.Talk(t, s, "talk", 9, 2)
	storetest.Must[clusters.Graduation](t)(s.Conversation.Graduate(context.Background(), "talk",
		history.MainBranch))
	storetest.Spread(t, s)
	st := storetest.Must[*forest.State](t)(s.History.Forest(storetest.View(t, s)))
	for _, c := range st.Live() {
		storetest.Lose(t, s, storetest.Must[format.ID](t)(st.Node(c)))
	}
	s = storetest.Reopen(t, s.Dir, nil, storetest.Small...)
	var warned []string
	s.History.Warn = func(text string) { warned = append(warned, text) }
	done := storetest.Compact(t, s, "talk")
	if done.Strategy != clusters.Flat || done.Roots != 1 || done.Dirty > 0 {
		t.Errorf("%+v", done)
	}
	if len(warned) == 0 || !strings.Contains(warned[0], "ctx rebuild") {
		t.Errorf("warned %q", warned)
	}
	if out := storetest.Render(t, s, "talk", 0); strings.Count(string(out.Bytes),
		"<cluster ") != 1 {
		t.Errorf("rendered:\n%s", out.Bytes)
	}
}

// With the least limit there is, claims that are answered come to an end, whatever the lengths of
// the messages.
func TestMinLimit(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(7, 64))
	for range 8 {
		s := storetest.Create(t, storetest.OneCluster...)
		var batch []conversation.Message
		for range 40 {
			n := []int{1, 5, 20, 30, 31, 32, 33, 70, 300}[r.IntN(9)]
			batch = append(batch,
				conversation.Message{Role: "user", Text: strings.Repeat("sun ", n)})
		}
		if _, _, err := s.Conversation.Append(ctx, "talk", history.MainBranch, batch,
			conversation.AppendOptions{}); err != nil {
			t.Fatal(err)
		}
		storetest.Must[clusters.Graduation](t)(s.Conversation.Graduate(ctx, "talk",
			history.MainBranch))
		for rounds := 0; storetest.TheCluster(t, s).Dirty(); rounds++ {
			var brought []summaries.Answer
			err := s.Compaction.Claims(ctx, storetest.View(t, s),
				summaries.MinLimit, func(c compaction.Claim) error {
					brought = append(brought,
						summaries.Answer{Claim: c.ID,
							Response: storetest.Told(
								strings.TrimSpace(strings.Repeat("sun ", c.Tokens)))})
					return nil
				})
			if err != nil {
				t.Fatal(err)
			}
			done := storetest.Must[summaries.Compaction](t)(s.Compaction.Commit(ctx, brought))
			if done.Settled+done.Carried == 0 || done.Failed+done.Lost > 0 || rounds > 20 {
				t.Fatalf("round %d: %+v", rounds, done)
			}
		}
		storetest.Check(t, s)
	}
}
