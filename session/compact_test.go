package session

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
)

// talker is a summariser of a test: it counts what it is asked, and says what say says, else how many inputs there were.
type talker struct {
	limit int
	say   func(summarize.Ask) (summarize.Told, error)
	asks  int
	read  map[format.ID]int // how often an entry was read
}

func (s *talker) Limit() int { return s.limit }

func (s *talker) Summarize(_ context.Context, ask summarize.Ask) (summarize.Told, error) {
	if s.read == nil {
		s.read = map[format.ID]int{}
	}
	s.asks++
	sum := 0
	for _, p := range ask.Inputs {
		sum += summarize.Tokens(p.Text)
		if !p.Summary {
			s.read[p.ID]++
		}
	}
	if sum > s.limit {
		return summarize.Told{}, fmt.Errorf("asked about %d tokens, %d is the limit", sum, s.limit)
	}
	if s.say != nil {
		return s.say(ask)
	}
	// As long as it may be, so that summaries over summaries are as many as they can be.
	return toldBy(strings.Repeat("word ", ask.Tokens*4/5)), nil
}

func toldBy(text string) summarize.Told {
	return summarize.Told{Text: text, Summarizer: "talker", Version: "1"}
}

func compactBy(t *testing.T, s *Store, by summarize.Summarizer, sessions ...string) Compaction {
	t.Helper()
	o := CompactOptions{Summarizer: by}
	for _, name := range sessions {
		o.Branches = append(o.Branches, BranchName{name, MainBranch})
	}
	return must[Compaction](t)(s.Compact(context.Background(), o))
}

// bulk appends n messages that nothing graduates of.
func bulk(t *testing.T, s *Store, session string, n int) {
	t.Helper()
	var batch []Message
	for i := range n {
		batch = append(batch, Message{Role: "user", Text: fmt.Sprintf("the one subject, message number %d of those that were said about it", i)})
	}
	if _, _, err := s.Append(context.Background(), session, MainBranch, batch, AppendOptions{NoGraduation: true}); err != nil {
		t.Fatal(err)
	}
}

// one is a store in which everything cold is one cluster.
var one = []string{"window.graduate_at=1", "window.evict_at=2000", "forest.merge_threshold=0"}

func onlyCluster(t *testing.T, s *Store) *forest.Cluster {
	t.Helper()
	live := must[*forest.State](t)(s.Forest(s.mustView(t))).Live()
	if len(live) != 1 {
		t.Fatalf("%d clusters", len(live))
	}
	return live[0]
}

// A cluster that is too long for one ask is read in pieces, each entry once, and ends with one summary of few generations.
func TestLongClusterInPieces(t *testing.T) {
	for _, tt := range []struct{ messages, limit int }{{40, 100_000}, {40, 200}, {300, 200}, {900, 600}, {900, 150}} {
		t.Run(fmt.Sprint(tt), func(t *testing.T) {
			s := create(t, one...)
			bulk(t, s, "talk", tt.messages)
			by := &talker{limit: tt.limit}
			done := compactBy(t, s, by, "talk")
			if done.Dirty > 0 || done.Failed > 0 {
				t.Fatalf("%+v", done)
			}
			c := onlyCluster(t, s)
			members := must[[]format.ID](t)(must[*forest.State](t)(s.Forest(s.mustView(t))).Members(c))
			for _, id := range members {
				if by.read[id] != 1 {
					t.Fatalf("an entry was read %d times", by.read[id])
				}
			}
			generation := must[uint64](t)(s.generation(c.Covers[0].Summary))
			if generation > 3 {
				t.Errorf("generation %d", generation)
			}
			t.Logf("%d asks, generation %d", by.asks, generation)
			check(t, s)
		})
	}
}

// A piece that cannot be had costs nothing of the others, and the next compaction asks for it alone.
func TestFailedPiece(t *testing.T) {
	s := create(t, one...)
	bulk(t, s, "talk", 60)
	by := &talker{limit: 200}
	by.say = func(summarize.Ask) (summarize.Told, error) {
		if by.asks == 2 {
			return summarize.Told{}, errors.New("too busy")
		}
		return toldBy("a piece"), nil
	}
	done := compactBy(t, s, by, "talk")
	if done.Failed != 1 || done.Carried != by.asks-1 || done.Dirty != 1 {
		t.Fatalf("%+v after %d asks", done, by.asks)
	}
	if len(done.Reasons) != 1 || done.Reasons[0] != (Reason{"failed", "too busy", "too busy", 1}) {
		t.Errorf("reasons %+v", done.Reasons)
	}
	again := &talker{limit: 200, say: func(summarize.Ask) (summarize.Told, error) { return toldBy("more"), nil }}
	if done := compactBy(t, s, again, "talk"); done.Dirty > 0 || done.Failed > 0 {
		t.Fatalf("%+v", done)
	}
	for id, n := range again.read {
		if n != 1 || by.read[id] != 1 {
			t.Errorf("entry %v was read %d times before and %d times after", id, by.read[id], n)
		}
	}
	if len(again.read) > 12 {
		t.Errorf("%d entries were read again", len(again.read))
	}
	check(t, s)
}

// Whoever interrupts a compaction keeps what was answered.
func TestInterruptedCompaction(t *testing.T) {
	s := create(t, one...)
	bulk(t, s, "talk", 60)
	ctx, stop := context.WithCancel(context.Background())
	by := &talker{limit: 200}
	by.say = func(summarize.Ask) (summarize.Told, error) {
		if by.asks == 3 {
			stop()
			return summarize.Told{}, ctx.Err()
		}
		return toldBy("a piece"), nil
	}
	done, err := s.Compact(ctx, CompactOptions{Branches: []BranchName{{"talk", MainBranch}}, Summarizer: by})
	if !errors.Is(err, context.Canceled) || done.Carried != 2 || done.Failed > 0 || by.asks != 3 {
		t.Errorf("%+v, %v after %d asks", done, err, by.asks)
	}
	if n := len(realCovers(onlyCluster(t, s).Covers, 0, 1000)); n != 2 {
		t.Errorf("%d covers", n)
	}
	check(t, s)
}

// Where a chain ends in the extractive summariser, that one's ranked list is taken, as where nobody else is set up; of pieces its words are.
func TestExtractiveAtTheEndOfTheChain(t *testing.T) {
	for _, limit := range []int{100_000, 400} {
		s := create(t, one...)
		bulk(t, s, "talk", 100)
		by := &talker{limit: limit}
		by.say = func(ask summarize.Ask) (summarize.Told, error) {
			told := toldBy(strings.Repeat("word ", ask.Tokens/2))
			told.Summarizer = extractive
			return told, nil
		}
		if done := compactBy(t, s, by, "talk"); done.Settled != 1 || done.Failed+done.Lost+done.Dirty > 0 {
			t.Fatalf("limit %d: %+v", limit, done)
		}
		c := onlyCluster(t, s)
		if list, _, err := s.ranked(c.Covers[0].Summary); len(c.Covers) != 1 || err != nil || len(list) < 10 {
			t.Errorf("limit %d: %d covers, %d sentences, %v", limit, len(c.Covers), len(list), err)
		}
		check(t, s)
	}
}

// A summariser that fails leaves everything as it was, and says why, once a kind.
func TestFailingSummariser(t *testing.T) {
	long := strings.Repeat("much longer than what it sums up ", 1000)
	for name, say := range map[string]func(summarize.Ask) (summarize.Told, error){
		"error":  func(summarize.Ask) (summarize.Told, error) { return summarize.Told{}, errors.New("no such program") },
		"empty":  func(summarize.Ask) (summarize.Told, error) { return toldBy(" \n\t"), nil },
		"longer": func(summarize.Ask) (summarize.Told, error) { return toldBy(long), nil },
		"binary": func(summarize.Ask) (summarize.Told, error) { return toldBy("\x7fELF\x00\x01"), nil },
		"nobody": func(summarize.Ask) (summarize.Told, error) { return summarize.Told{Text: "short"}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := create(t, "window.graduate_at=1", "window.evict_at=2000", "forest.merge_threshold=1")
			for i := range 4 {
				say := strings.Repeat(fmt.Sprintf("subject%d matter%d thing%d and more of it ", i, i, i), 8)
				bulkOne(t, s, "talk", say)
			}
			must[Graduation](t)(s.Graduate(context.Background(), "talk", MainBranch))
			before := s.mustView(t).Get(forestRef)
			done := compactBy(t, s, &talker{limit: 10_000, say: say})
			if done.Failed != 3 || done.Dirty != 3 || done.Settled+done.Carried+done.Evicted > 0 {
				t.Errorf("%+v", done)
			}
			if len(done.Reasons) != 1 || done.Reasons[0].Count != 3 {
				t.Errorf("reasons %+v", done.Reasons)
			}
			if after := s.mustView(t).Get(forestRef); after != before {
				t.Error("the forest has changed")
			}
		})
	}
}

func bulkOne(t *testing.T, s *Store, session, text string) {
	t.Helper()
	if _, _, err := s.Append(context.Background(), session, MainBranch, []Message{{Role: "user", Text: text}}, AppendOptions{NoGraduation: true}); err != nil {
		t.Fatal(err)
	}
}

// Summaries over summaries end, and then every entry is read again: in pieces that replace the old summary together, or not at all.
func TestRawAgain(t *testing.T) {
	s := create(t, one...)
	var generations []uint64
	for range 6 {
		bulk(t, s, "talk", 10)
		if done := compactBy(t, s, &talker{limit: 100_000}, "talk"); done.Dirty > 0 {
			t.Fatalf("%+v", done)
		}
		generations = append(generations, must[uint64](t)(s.generation(onlyCluster(t, s).Covers[0].Summary)))
	}
	if got := fmt.Sprint(generations); got != "[1 2 3 4 1 2]" {
		t.Errorf("generations %s", got)
	}
	for range 2 {
		bulk(t, s, "talk", 10)
		compactBy(t, s, &talker{limit: 100_000}, "talk")
	}
	bulk(t, s, "talk", 10)
	must[Graduation](t)(s.Graduate(context.Background(), "talk", MainBranch))
	old := onlyCluster(t, s).Covers[0]
	failing := &talker{limit: 400}
	failing.say = func(summarize.Ask) (summarize.Told, error) {
		if failing.asks == 2 {
			return summarize.Told{}, errors.New("too busy")
		}
		return toldBy("a piece"), nil
	}
	done := compactBy(t, s, failing, "talk")
	if now := onlyCluster(t, s).Covers[0]; now != old {
		t.Errorf("cover %+v became %+v", old, now)
	}
	if done.Failed != 1 || done.Lost == 0 {
		t.Errorf("%+v", done)
	}
	compactBy(t, s, &talker{limit: 400}, "talk")
	if c := onlyCluster(t, s); c.Dirty() || must[uint64](t)(s.generation(c.Covers[0].Summary)) > 3 {
		t.Errorf("covers %+v", c.Covers)
	}
}

// What is amended or forgotten between a claim and its answer makes the answer come too late: it was made of other words.
func TestWordsChangeWhileClaimed(t *testing.T) {
	src := &Source{Agent: "test", Session: "x", Message: "m1"}
	for name, change := range map[string]func(*testing.T, *Store, format.ID){
		"amended": func(t *testing.T, s *Store, _ format.ID) {
			m := Message{Role: "user", Text: "the port is 6000 after all", Source: src}
			if _, _, err := s.Append(context.Background(), "talk", MainBranch, []Message{m}, AppendOptions{}); err != nil {
				t.Fatal(err)
			}
		},
		"forgotten": func(t *testing.T, s *Store, id format.ID) { forgetBody(t, s, id) },
	} {
		t.Run(name, func(t *testing.T) {
			s := create(t, one...)
			done, _, err := s.Append(context.Background(), "talk", MainBranch,
				[]Message{{Role: "user", Text: "the port is 5433, and the table is consignments", Source: src}}, AppendOptions{})
			if err != nil {
				t.Fatal(err)
			}
			bulk(t, s, "talk", 6)
			must[Graduation](t)(s.Graduate(context.Background(), "talk", MainBranch))
			// Inside of a compaction it is the same.
			first := true
			inside := compactBy(t, s, &talker{limit: 1000, say: func(summarize.Ask) (summarize.Told, error) {
				if first && name == "amended" {
					first = false
					m := Message{Role: "user", Text: "the port is 5999, not that", Source: src}
					if _, _, err := s.Append(context.Background(), "talk", MainBranch, []Message{m}, AppendOptions{}); err != nil {
						t.Error(err)
					}
					return toldBy("port 5433"), nil
				}
				return summarize.Told{}, errors.New("not now")
			}}, "talk")
			if inside.Settled > 0 || name == "amended" && inside.Lost != 1 {
				t.Errorf("%+v", inside)
			}
			claims := claimsNow(t, s)
			change(t, s, done[0].ID)
			c := must[Compaction](t)(s.Commit(context.Background(), []Answer{{claims[0].ID, toldBy("port 5433")}}))
			if c.Lost != 1 || c.Settled > 0 || c.Reasons[0].Why != lostInputs {
				t.Errorf("%+v", c)
			}
			if done := compactBy(t, s, &talker{limit: 1000}, "talk"); done.Settled != 1 {
				t.Errorf("%+v", done)
			}
		})
	}
}

// forgetBody does to a loose body what forgetting does.
func forgetBody(t *testing.T, s *Store, id format.ID) {
	t.Helper()
	a := format.Absent{Object: id, Reason: format.ReasonForgotten, Time: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
	path := filepath.Join(s.Dir, "absent", id.String()[:2], id.String()[2:])
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, must[[]byte](t)(a.Encode()), 0o600); err != nil {
		t.Fatal(err)
	}
	held, err := s.Lock(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	if err := s.Objects.StripLoose(held, id); err != nil {
		t.Fatal(err)
	}
}

func claimsNow(t *testing.T, s *Store) []Claim {
	t.Helper()
	var list []Claim
	err := s.Claims(context.Background(), s.mustView(t), 0, func(c Claim) error {
		list = append(list, c)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Two workers on one claim: the first one's answer settles, the second one's is too late, and the first one's again is known.
func TestTwoWorkers(t *testing.T) {
	s := create(t, one...)
	bulk(t, s, "talk", 10)
	must[Graduation](t)(s.Graduate(context.Background(), "talk", MainBranch))
	a, b := claimsNow(t, s), claimsNow(t, s)
	commit := func(answers ...Answer) Compaction {
		t.Helper()
		done := must[Compaction](t)(s.Commit(context.Background(), answers))
		check(t, s)
		return done
	}
	if done := commit(Answer{a[0].ID, toldBy("what a says")}); done.Settled != 1 {
		t.Errorf("a: %+v", done)
	}
	if done := commit(Answer{b[0].ID, toldBy("what b says")}); done.Lost != 1 {
		t.Errorf("b: %+v", done)
	}
	if done := commit(Answer{a[0].ID, toldBy("what a says")}); done.Known != 1 {
		t.Errorf("a again: %+v", done)
	}
	bulk(t, s, "talk", 10)
	must[Graduation](t)(s.Graduate(context.Background(), "talk", MainBranch))
	next := claimsNow(t, s)
	if len(next) != 1 || !next[0].Inputs[0].Summary || next[0].Generation != 2 {
		t.Fatalf("%+v", next)
	}
	twice := Answer{next[0].ID, toldBy("what both say")}
	if done := commit(twice, twice, Answer{next[0].ID, toldBy("what somebody else says")}); done.Settled != 1 || done.Known != 1 || done.Lost != 1 {
		t.Errorf("three at once: %+v", done)
	}
	sum := must[*format.Summary](t)(summaryOf(s, onlyCluster(t, s).Covers[0].Summary))
	if sum.Generation != 2 || len(sum.Inputs) != 2 || !sum.Inputs[0].Summary || sum.Inputs[1].Summary {
		t.Errorf("%+v", sum)
	}
}

func summaryOf(s *Store, id format.ID) (*format.Summary, error) {
	header, err := s.Objects.Header(id)
	if err != nil {
		return nil, err
	}
	return format.DecodeSummary(header)
}

// The invariant of compaction: after its first leave no branch renders more tokens after a compaction than before it, without a budget; a pin that
// moves makes it less; and the second one in a row does nothing at all. What graduates is taken in where that makes it less, and else stays in the
// tail, word for word.
func TestCompactionShrinks(t *testing.T) {
	left := 0
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := create(t, []string{"window.graduate_at=4", "window.evict_at=40", "forest.max_cold_clusters=3", "forest.merge_threshold=" + []string{"0", "0.5", "1"}[seed%3]}...)
		for range 12 {
			var batch []Message
			for range 1 + r.IntN(12) {
				text := chatter(r)
				if r.IntN(3) == 0 {
					text = strings.Repeat(text+". ", 1+r.IntN(30))
				}
				batch = append(batch, Message{Role: []string{"user", "model"}[r.IntN(2)], Text: text})
			}
			if _, _, err := s.Append(context.Background(), "talk", MainBranch, batch, AppendOptions{NoGraduation: r.IntN(2) == 0}); err != nil {
				t.Fatal(err)
			}
			before, pin := render(t, s, "talk", 0).Tokens, s.mustView(t).Get(RefName("talk", MainBranch)).Pin
			compact(t, s, "talk")
			after, now := render(t, s, "talk", 0).Tokens, s.mustView(t).Get(RefName("talk", MainBranch)).Pin
			if first := pin.IsZero(); !first && (after > before || now != pin && after == before) {
				t.Fatalf("seed %d: %d tokens became %d", seed, before, after)
			}
			if now != pin {
				left++
			}
			number := s.mustView(t).Number
			compact(t, s, "talk")
			if again := s.mustView(t).Number; again != number {
				t.Fatalf("seed %d: compaction again made an operation", seed)
			}
		}
	}
	if left < 50 {
		t.Errorf("%d leaves", left)
	}
}

func TestClaimNames(t *testing.T) {
	node := format.Sum([]byte("node"))
	members := make([]format.ID, 3)
	for _, c := range []claim{
		{node: node, members: members},
		{node: node, members: members, cluster: 4, offset: 256},
		{node: node, members: members, cluster: 4, mark: "0123456789abcdef"},
		{node: node, members: members, cluster: 4, offset: 7, mark: "0123456789abcdef"},
	} {
		n, err := parseClaim(c.id())
		if err != nil || n.node != node || n.offset != c.offset || n.mark != c.mark || n.placed && (n.cluster != c.cluster || n.count != 3) {
			t.Errorf("%s: %+v, %v", c.id(), n, err)
		}
	}
	for _, bad := range []string{
		"", "claim", node.String()[:63], node.String() + ".", node.String() + ".1", node.String() + ".1.2", node.String() + ".1.2.0", node.String() + ".1.2.03",
		node.String() + ".-1.2.3", node.String() + ".1.2.3.", node.String() + ".1.2.3.xyz", node.String() + ".1.2.3.0123456789abcdef.4",
		node.String() + ".1.2.99999999999999999999",
	} {
		if _, err := parseClaim(bad); !errors.Is(err, ErrInput) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func FuzzParseClaim(f *testing.F) {
	node := format.Sum([]byte("node")).String()
	for _, s := range []string{node, node + ".0.0.6.0123456789abcdef", node + ".1.256.3", "x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := parseClaim(s)
		if err != nil {
			return
		}
		c := claim{node: n.node, cluster: n.cluster, offset: n.offset, mark: n.mark}
		if n.placed {
			if n.count > 1000 {
				return
			}
			c.members = make([]format.ID, n.count)
			if c.offset == 0 && c.mark == "" {
				return // a name that says more than it must
			}
		}
		if c.id() != s {
			t.Errorf("%q is %q", s, c.id())
		}
	})
}

func TestSplit(t *testing.T) {
	// A letter a reading: e an entry of 40 tokens, s one of next to nothing, 1 to 4 a summary of that generation with 40 tokens.
	readings := func(s string) (list []reading) {
		for i, c := range s {
			r := reading{from: uint64(i), to: uint64(i + 1), tokens: 39}
			switch {
			case c == 's':
				r.tokens = 0
			case c != 'e':
				r.generation, r.cover = uint64(c-'0'), &format.Cover{}
			}
			list = append(list, r)
		}
		return list
	}
	for _, tt := range []struct {
		in    string
		limit int
		want  string
	}{
		{"eeee", 80, "ee ee"},
		{"eeeee", 80, "ee ee e"},
		{"1ee2e", 80, "ee e"},
		{"1111", 80, "11 11"},
		{"11112", 80, "11 11"},
		{"2111", 80, "11"},
		{"2121", 160, "2121"},
		{"3s1", 70, "s1"},
		{"3s1s1", 90, "s1s1"},
		{"eseses", 82, "eses es"},
		{"111", 40, ""},
		{"ee", 20, "e e"},
		{"4e", 40, "e"},
		{"", 40, ""},
	} {
		var got []string
		for _, run := range split(readings(tt.in), tt.limit) {
			got = append(got, tt.in[run[0].from:run[len(run)-1].to])
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("split(%q, %d) = %q, want %q", tt.in, tt.limit, got, tt.want)
		}
	}
}

// The strategies say the same of what is in the forest, whatever happens, and the flat one can begin at any time.
func TestFlatHasEveryMember(t *testing.T) {
	s := create(t, small...)
	ctx := context.Background()
	ids := talk(t, s, "talk", 20, 1)
	talk(t, s, "other", 12, 2)
	must[Rewound](t)(s.Rewind(ctx, "talk", MainBranch, ids[6], RewindOptions{}))
	flat := func() Compaction {
		t.Helper()
		return must[Compaction](t)(s.Compact(ctx, CompactOptions{Branches: []BranchName{{"talk", MainBranch}}, Strategy: Flat}))
	}
	if done := flat(); done.Roots != 1 || done.Dirty != 0 || done.Strategy != Flat {
		t.Errorf("%+v", done)
	}
	same := func() {
		t.Helper()
		check(t, s)
		var sets []string
		for _, name := range forestNames {
			st := must[*forest.State](t)(s.ForestOf(s.mustView(t), name))
			var all []string
			for _, c := range st.Live() {
				for _, id := range must[[]format.ID](t)(st.Members(c)) {
					all = append(all, id.String())
				}
			}
			for _, e := range must[[]forest.Evicted](t)(st.Evicted()) {
				if err := s.walk(must[*format.Tombstone](t)(s.Loader().Tombstone(e.Tombstone)).Node, func(id format.ID) error {
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
			t.Fatalf("flat has %d members, main %d", strings.Count(sets[0], " ")+1, strings.Count(sets[1], " ")+1)
		}
	}
	same()
	// What had left before the flat forest was begun comes back to it.
	must[Undone](t)(s.Undo(ctx, "talk"))
	same()
	talk(t, s, "talk", 15, 3)
	same()
	must[Undone](t)(s.Undo(ctx, "talk"))
	must[Rewound](t)(s.Rewind(ctx, "talk", MainBranch, ids[2], RewindOptions{}))
	same()
	must[int](t)(s.RemoveSession(ctx, "other"))
	same()
	must[Undone](t)(s.Undo(ctx, "other"))
	same()
	flat()
	compact(t, s, "other")
	same()
}

// Where the clusters cannot be read, one flat cluster stands for them, and is told.
func TestFlatWhereMainIsDamaged(t *testing.T) {
	s := create(t, small...)
	talk(t, s, "talk", 30, 1)
	compact(t, s, "talk")
	talk(t, s, "talk", 9, 2)
	must[Graduation](t)(s.Graduate(context.Background(), "talk", MainBranch))
	st := must[*forest.State](t)(s.Forest(s.mustView(t)))
	for _, c := range st.Live() {
		node := must[format.ID](t)(st.Node(c)).String()
		if err := os.Remove(filepath.Join(s.Dir, "objects", node[:2], node[2:])); err != nil {
			t.Fatal(err)
		}
	}
	s = reopen(t, s.Dir, nil, small...)
	var warned []string
	s.Warn = func(text string) { warned = append(warned, text) }
	done := compact(t, s, "talk")
	if done.Strategy != Flat || done.Roots != 1 || done.Dirty > 0 {
		t.Errorf("%+v", done)
	}
	if len(warned) == 0 || !strings.Contains(warned[0], "ctx rebuild") {
		t.Errorf("warned %q", warned)
	}
	if out := render(t, s, "talk", 0); strings.Count(string(out.Bytes), "<cluster ") != 1 {
		t.Errorf("rendered:\n%s", out.Bytes)
	}
}

// With the least limit there is, claims that are answered come to an end, whatever the lengths of the messages.
func TestLeastLimit(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(7, 64))
	for range 8 {
		s := create(t, one...)
		var batch []Message
		for range 40 {
			n := []int{1, 5, 20, 30, 31, 32, 33, 70, 300}[r.IntN(9)]
			batch = append(batch, Message{Role: "user", Text: strings.Repeat("sun ", n)})
		}
		if _, _, err := s.Append(ctx, "talk", MainBranch, batch, AppendOptions{}); err != nil {
			t.Fatal(err)
		}
		must[Graduation](t)(s.Graduate(ctx, "talk", MainBranch))
		for rounds := 0; onlyCluster(t, s).Dirty(); rounds++ {
			var brought []Answer
			err := s.Claims(ctx, s.mustView(t), LeastLimit, func(c Claim) error {
				brought = append(brought, Answer{c.ID, toldBy(strings.TrimSpace(strings.Repeat("sun ", c.Tokens)))})
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			done := must[Compaction](t)(s.Commit(ctx, brought))
			if done.Settled+done.Carried == 0 || done.Failed+done.Lost > 0 || rounds > 20 {
				t.Fatalf("round %d: %+v", rounds, done)
			}
		}
		check(t, s)
	}
}
