package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session/view"
)

// The tests in this file are named after the scenarios that the design was attacked with; docs/design/0002-scenarios.md says where each of them is
// tested.

func compact(t testing.TB, s *Store, sessions ...string) Compaction {
	t.Helper()
	var names []BranchName
	for _, session := range sessions {
		names = append(names, BranchName{session, MainBranch})
	}
	return must[Compaction](t)(s.Compact(context.Background(), CompactOptions{Branches: names}))
}

func render(t testing.TB, s *Store, session string, budget int) view.Output {
	t.Helper()
	in := must[view.Input](t)(s.RenderInput(s.mustView(t), session, MainBranch, view.Options{}))
	return must[view.Output](t)(view.Render(in, view.Options{Budget: budget}))
}

func talk(t testing.TB, s *Store, session string, n int, seed uint64) []format.ID {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 9))
	var ids []format.ID
	for i := range n {
		ids = append(ids, say(t, s, session, []string{"user", "model"}[i%2], chatter(r)))
	}
	return ids
}

// A10: undo is about one session, whatever others do, and never rolls the shared forest back.
func TestA10UndoIsOfOneSession(t *testing.T) {
	s := create(t, small...)
	mine := talk(t, s, "mine", 20, 1)
	talk(t, s, "other", 20, 2)
	if _, err := s.Rewind(context.Background(), "mine", MainBranch, mine[5], RewindOptions{}); err != nil {
		t.Fatal(err)
	}
	talk(t, s, "other", 9, 3) // the forest has moved on
	undone := must[Undone](t)(s.Undo(context.Background(), "mine"))
	if undone.Verb != "rewind" || undone.Restored == 0 {
		t.Errorf("undone: %+v", undone)
	}
	check(t, s)
	if n := len(texts(t, s)[RefName("mine", MainBranch)]); n != 20 {
		t.Errorf("%d messages after undo", n)
	}
	if n := len(texts(t, s)[RefName("other", MainBranch)]); n != 29 {
		t.Errorf("the other session has %d messages", n)
	}
	redone := must[Undone](t)(s.Redo(context.Background(), "mine"))
	if redone.Operation != undone.Operation {
		t.Errorf("redone: %+v", redone)
	}
	check(t, s)
}

// A11: an answer that lands after its question was rewound away is refused, if the agent says which tip it answers, or if it is a result without its call.
func TestA11AppendAfterRewind(t *testing.T) {
	s := create(t)
	ctx := context.Background()
	say(t, s, "talk", "user", "first")
	question := say(t, s, "talk", "user", "second")
	call := Message{Role: "model", Parts: []byte(`[{"functionCall":{"id":"c1","name":"ls","args":{}}}]`)}
	if _, _, err := s.Append(ctx, "talk", MainBranch, []Message{call}, AppendOptions{}); err != nil {
		t.Fatal(err)
	}
	must[Rewound](t)(s.Rewind(ctx, "talk", MainBranch, question, RewindOptions{}))
	_, _, err := s.Append(ctx, "talk", MainBranch, []Message{{Role: "model", Text: "answer"}}, AppendOptions{Expect: question})
	if !errors.Is(err, ErrStale) {
		t.Errorf("an expected tip that is gone: %v", err)
	}
	result := Message{Role: "tool", Parts: []byte(`[{"functionResponse":{"id":"c1","name":"ls","response":{"output":"a"}}}]`)}
	if _, _, err = s.Append(ctx, "talk", MainBranch, []Message{result}, AppendOptions{}); !errors.Is(err, ErrStale) {
		t.Errorf("a result without its call: %v", err)
	}
	if _, _, err = s.Append(ctx, "talk", MainBranch, []Message{result}, AppendOptions{Orphan: true}); err != nil {
		t.Errorf("an orphan that was asked for: %v", err)
	}
}

// B2, B3: from leave to leave the prefix does not change by a byte, and pin and tail together hold every message, each once.
func TestB2PrefixHoldsBetweenLeaves(t *testing.T) {
	s := create(t, small...)
	r := rand.New(rand.NewPCG(4, 4))
	var prefix []byte
	var pin format.ID
	leaves := 0
	for i := range 80 {
		say(t, s, "talk", []string{"user", "model"}[i%2], chatter(r))
		if i%7 == 3 {
			say(t, s, "other", "user", chatter(r)) // graduates into the same forest
		}
		v := must[format.Value](t)(Tip(s.mustView(t), "talk", MainBranch))
		out := render(t, s, "talk", 0)
		if v.Pin == pin && !bytes.Equal(prefix, out.Bytes[:out.Prefix]) {
			t.Fatalf("message %d changed the prefix without a leave", i)
		}
		if v.Pin != pin {
			leaves++
		}
		pin, prefix = v.Pin, bytes.Clone(out.Bytes[:out.Prefix])
		everythingOnce(t, s, "talk", v)
	}
	if leaves < 5 {
		t.Errorf("%d leaves", leaves)
	}
}

func everythingOnce(t *testing.T, s *Store, session string, v format.Value) {
	t.Helper()
	in := must[view.Input](t)(s.RenderInput(s.mustView(t), session, MainBranch, view.Options{}))
	count := map[format.ID]int{}
	for _, m := range in.Tail {
		count[m.ID]++
	}
	for _, c := range in.Clusters {
		// What the tail has word for word the cluster does not say, though it is a member.
		members := 0
		if err := s.walk(c.ID, func(id format.ID) error {
			if count[id] == 0 {
				count[id]++
				members++
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if members != c.Members {
			t.Errorf("cluster %v shows %d messages, want %d that the tail has not", c.ID, c.Members, members)
		}
		for _, p := range c.Parts {
			for _, line := range p.Sentences {
				if slices.ContainsFunc(in.Tail, func(m view.Message) bool { return m.ID == line.Entry }) {
					t.Errorf("cluster %v says %q, which is in the tail", c.ID, line.Text)
				}
			}
		}
	}
	if !v.Pin.IsZero() {
		st := must[*forest.State](t)(s.forestAt(v.Pin))
		for _, e := range must[[]forest.Evicted](t)(st.Evicted()) {
			stone := must[*format.Tombstone](t)(s.Loader().Tombstone(e.Tombstone))
			// The one line of a tombstone may be about a message that is in the tail.
			if err := s.walk(stone.Node, func(id format.ID) error { count[id] = max(1, count[id]); return nil }); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, shown := range must[[]*Shown](t)(s.Log(v.ID, LogOptions{})) {
		if count[shown.ID] != 1 {
			t.Fatalf("message %d is rendered %d times (pin %v, through %d)", shown.Entry.Seq, count[shown.ID], v.Pin, v.Through)
		}
	}
}

// B4: tombstones do not grow the context: the newest twenty have a line, the rest one together.
func TestB4TwentyTombstones(t *testing.T) {
	s := create(t, "window.graduate_at=1", "window.evict_at=1", "forest.max_cold_clusters=1", "forest.merge_threshold=1")
	for i := range 60 {
		say(t, s, "talk", "user", fmt.Sprintf("subject%d word%d thing%d", i, i, i))
	}
	if done := compact(t, s, "talk"); done.Evicted < 50 {
		t.Fatalf("evicted %d", done.Evicted)
	}
	out := render(t, s, "talk", 0)
	if n := strings.Count(string(out.Bytes), "<evicted "); n > 20 {
		t.Errorf("%d tombstone lines", n)
	}
	check(t, s)
}

// B5: eviction takes a cluster out of the rendered context and nothing else.
func TestB5EvictedExpands(t *testing.T) {
	s := create(t, "window.graduate_at=2", "window.evict_at=3", "forest.max_cold_clusters=1", "forest.merge_threshold=0.9")
	ids := talk(t, s, "talk", 30, 1)
	compact(t, s, "talk")
	seen := map[format.ID]bool{}
	stones := 0
	for _, c := range must[[]ClusterInfo](t)(s.Clusters(s.mustView(t))) {
		id := c.ID
		if !c.Tombstone.IsZero() {
			stones++
			id = c.Tombstone
		}
		err := s.Expand(s.mustView(t), id, ExpandOptions{Session: "talk", Branch: MainBranch}, func(e *Shown) error {
			seen[e.ID] = true
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if stones == 0 {
		t.Fatal("nothing was evicted")
	}
	for _, id := range ids[:len(ids)-3] {
		if !seen[id] {
			t.Errorf("entry %v expands from nothing", id)
		}
	}
}

// B7, D7: what no session reaches any more leaves the forest, and every summary that was made of it goes.
func TestB7D7RemovedSessionLeavesTheForest(t *testing.T) {
	s := create(t, small...)
	say(t, s, "secretive", "user", "the wombat password policy")
	talk(t, s, "secretive", 20, 1)
	talk(t, s, "talk", 20, 1) // the same topics, the same clusters
	compact(t, s, "talk")
	if _, err := s.RemoveSession(context.Background(), "secretive"); err != nil {
		t.Fatal(err)
	}
	check(t, s)
	compact(t, s, "talk")
	check(t, s)
	if out := render(t, s, "talk", 0); bytes.Contains(out.Bytes, []byte("wombat")) {
		t.Error("a removed session speaks from a summary")
	}
	if _, err := s.Undo(context.Background(), "secretive"); err != nil {
		t.Errorf("undo of session rm: %v", err)
	}
	check(t, s)
}

// B9: an open call does not hold the window for ever; its late result joins its cluster.
func TestB9OpenCallGraduatesAlone(t *testing.T) {
	s := create(t, small...)
	ctx := context.Background()
	say(t, s, "talk", "user", "look into the kernel scheduler please")
	call := Message{Role: "model", Parts: []byte(`[{"functionCall":{"id":"slow","name":"bisect","args":{"what":"kernel scheduler"}}}]`)}
	done, _, err := s.Append(ctx, "talk", MainBranch, []Message{call}, AppendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 14 {
		say(t, s, "talk", "user", fmt.Sprintf("meanwhile invoice %d amounts", i))
	}
	check(t, s)
	v := must[format.Value](t)(Tip(s.mustView(t), "talk", MainBranch))
	if v.Frontier < 3 {
		t.Fatalf("the window is blocked: frontier %d", v.Frontier)
	}
	result := Message{Role: "tool", Parts: []byte(`[{"functionResponse":{"id":"slow","name":"bisect","response":{"output":"bad commit found"}}}]`)}
	late, _, err := s.Append(ctx, "talk", MainBranch, []Message{result}, AppendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 14 {
		say(t, s, "talk", "user", fmt.Sprintf("meanwhile invoice %d amounts", i))
	}
	st := must[*forest.State](t)(s.Forest(s.mustView(t)))
	found := must[map[format.ID]forest.Place](t)(st.Find(map[format.ID]bool{done[0].ID: true, late[0].ID: true}))
	if len(found) != 2 || found[done[0].ID].Cluster != found[late[0].ID].Cluster {
		t.Errorf("call and result are at %+v", found)
	}
}

// B10: what happened to a claim while its summary was made decides: settled, carried, known, or lost.
func TestB10ClaimsAreChecked(t *testing.T) {
	s := create(t, small...)
	ids := talk(t, s, "talk", 24, 1)
	view0 := s.mustView(t)
	claims := dirtyClaims(t, s, view0)
	answers := must[[]answer](t)(s.extractAll(context.Background(), view0, must[*forest.State](t)(s.Forest(view0)), claims))
	settle := func() (done Compaction) {
		t.Helper()
		err := s.locked(context.Background(), func(tx *tx) error {
			if _, err := tx.takeAnswers(0, answers, &done); err != nil {
				return err
			}
			if err := tx.settle(MainForest, answers, &done); err != nil {
				return err
			}
			return (&compaction{Store: s, forest: MainForest}).leaveAll(tx, nil)
		})
		if err != nil {
			t.Fatal(err)
		}
		check(t, s)
		return done
	}
	if first := settle(); first.Settled != len(claims) {
		t.Errorf("first: %+v", first)
	}
	if again := settle(); again.Known+again.Lost != len(claims) || again.Settled+again.Carried > 0 {
		t.Errorf("the same answers again: %+v", again)
	}
	if _, err := s.Rewind(context.Background(), "talk", MainBranch, ids[0], RewindOptions{}); err != nil {
		t.Fatal(err)
	}
	if gone := settle(); gone.Lost != len(claims) {
		t.Errorf("after everything was rewound: %+v", gone)
	}
	// A cluster that has grown since carries the answer.
	talk(t, s, "more", 12, 2)
	view1 := s.mustView(t)
	answers = must[[]answer](t)(s.extractAll(context.Background(), view1, must[*forest.State](t)(s.Forest(view1)), dirtyClaims(t, s, view1)))
	talk(t, s, "more", 20, 2)
	if grown := settle(); grown.Carried == 0 || grown.Lost > 0 {
		t.Errorf("after the clusters grew: %+v", grown)
	}
}

// dirtyClaims are the claims of every cluster that wants a summary.
func dirtyClaims(t *testing.T, s *Store, v *refs.View) []claim {
	t.Helper()
	st := must[*forest.State](t)(s.Forest(v))
	var numbers []uint64
	for _, c := range byArrival(st) {
		numbers = append(numbers, c.Number)
	}
	return must[[]claim](t)(s.extractClaims(v, st, new(owners), numbers))
}

// B11: an old transcript is not evicted because its clock is old: arrival counts.
func TestB11ArrivalNotClock(t *testing.T) {
	s := create(t, "window.graduate_at=1", "window.evict_at=1", "forest.max_cold_clusters=1", "forest.merge_threshold=1")
	ctx := context.Background()
	for i, when := range []int{2026, 2026, 1999, 2026} {
		m := Message{Role: "user", Text: fmt.Sprintf("subject%d matter%d", i, i), Time: time.Date(when, 1, 1, 0, 0, 0, 0, time.UTC)}
		if _, _, err := s.Append(ctx, "talk", MainBranch, []Message{m}, AppendOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	compact(t, s, "talk")
	for _, c := range must[[]ClusterInfo](t)(s.Clusters(s.mustView(t))) {
		if live := c.Tombstone.IsZero(); live != (c.First.Time.Year() == 1999) {
			t.Errorf("cluster %d of %d: live %v", c.Number, c.First.Time.Year(), live)
		}
	}
}

// B13: a large cluster's summary is made of summaries a few times, and then of the entries again.
func TestB13GenerationsEnd(t *testing.T) {
	s := create(t, "window.graduate_at=1", "window.evict_at=400", "forest.merge_threshold=0")
	var generations []uint64
	for round := range 7 {
		var batch []Message
		for i := range wholeCluster/2 + 20 {
			batch = append(batch, Message{Role: "user", Text: fmt.Sprintf("the one subject, round %d number %d", round, i)})
		}
		if _, _, err := s.Append(context.Background(), "talk", MainBranch, batch, AppendOptions{NoGraduation: true}); err != nil {
			t.Fatal(err)
		}
		compact(t, s, "talk")
		clusters := must[[]ClusterInfo](t)(s.Clusters(s.mustView(t)))
		if len(clusters) != 1 || len(clusters[0].Covers) != 1 {
			t.Fatalf("round %d: %d clusters", round, len(clusters))
		}
		_, g, err := s.ranked(clusters[0].Covers[0].Summary)
		if err != nil {
			t.Fatal(err)
		}
		generations = append(generations, g)
	}
	if got := fmt.Sprint(generations); got != "[1 2 3 4 1 2 3]" {
		t.Errorf("generations %s", got)
	}
}

// C2: an append leaves little behind, however many clusters and sessions there are.
func TestC2LittleGarbage(t *testing.T) {
	s := create(t)
	talk(t, s, "talk", 200, 1)
	compact(t, s, "talk")
	size := func() (n int64) {
		err := filepath.WalkDir(filepath.Join(s.Dir, "objects"), func(_ string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				info, err := d.Info()
				if err != nil {
					return err
				}
				n += info.Size()
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := size()
	talk(t, s, "talk", 100, 2)
	per := (size() - before) / 100
	t.Logf("%d bytes a message", per)
	if per > 6500 {
		t.Errorf("%d bytes for a message of 40", per)
	}
}

// C3, C4: a unit is compared with 64 clusters at most, and an append graduates 8 messages at most, whatever the backlog.
func TestC4AppendGraduatesFew(t *testing.T) {
	s := create(t)
	var batch []Message
	r := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		batch = append(batch, Message{Role: "user", Text: chatter(r)})
	}
	if _, _, err := s.Append(context.Background(), "talk", MainBranch, batch, AppendOptions{NoGraduation: true}); err != nil {
		t.Fatal(err)
	}
	say(t, s, "talk", "user", "one more")
	v := must[format.Value](t)(Tip(s.mustView(t), "talk", MainBranch))
	if v.Frontier == 0 || v.Frontier > GraduateOnAppend {
		t.Errorf("frontier %d after one append", v.Frontier)
	}
	done := must[Graduation](t)(s.Graduate(context.Background(), "talk", MainBranch))
	if done.Graduated != 501-26-int(v.Frontier) {
		t.Errorf("graduated %d", done.Graduated)
	}
	check(t, s)
}

// C7: two who bring in the same messages at the same time bring them in once.
func TestC7SourcesOnce(t *testing.T) {
	s := create(t)
	var batch []Message
	for i := range 90 {
		batch = append(batch, Message{Role: "user", Text: fmt.Sprint("message ", i), Source: &Source{Agent: "test", Session: "x", Message: fmt.Sprint(i)}})
	}
	var wg sync.WaitGroup
	for range 4 {
		other := reopen(t, s.Dir, nil)
		wg.Go(func() {
			for start := 0; start < len(batch); start += 30 {
				if _, _, err := other.Append(context.Background(), "talk", MainBranch, batch[start:start+30], AppendOptions{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	got := texts(t, s)[RefName("talk", MainBranch)]
	if len(got) != 90 {
		t.Fatalf("%d messages, want 90", len(got))
	}
	check(t, s)
}

// C10: a short id means an entry before a cluster; one that could be two entries names them.
func TestC10ShortIDs(t *testing.T) {
	s := create(t)
	first := map[string]format.ID{}
	for i := 0; ; i++ {
		id := say(t, s, "talk", "user", fmt.Sprint("message ", i))
		short := id.Short(4)
		if other, ok := first[short]; ok {
			_, err := s.Resolve(s.mustView(t), short)
			var ambiguous *AmbiguousError
			if !errors.As(err, &ambiguous) || len(ambiguous.IDs) < 2 {
				t.Fatalf("%s is %v and %v: %v", short, id, other, err)
			}
			return
		}
		first[short] = id
		if got := must[format.ID](t)(s.Resolve(s.mustView(t), id.Short(16))); got != id {
			t.Fatalf("got %v", got)
		}
	}
}

// D1: the same source with other content is a newer version, shown in the first one's place; nothing is dropped.
func TestD1SameSourceOtherContent(t *testing.T) {
	s := create(t)
	ctx := context.Background()
	src := &Source{Agent: "test", Session: "x", Message: "m1"}
	add := func(text string) Appended {
		t.Helper()
		done, _, err := s.Append(ctx, "talk", MainBranch, []Message{{Role: "model", Text: text, Source: src}}, AppendOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return done[0]
	}
	first := add("half an answer")
	say(t, s, "talk", "user", "go on")
	second := add("the whole answer")
	if !second.Amended || second.Known {
		t.Errorf("second: %+v", second)
	}
	if again := add("half an answer"); !again.Known || again.ID != first.ID {
		t.Errorf("again: %+v", again)
	}
	if again := add("the whole answer"); !again.Known || again.ID != first.ID {
		t.Errorf("again: %+v", again)
	}
	if got := fmt.Sprint(texts(t, s)[RefName("talk", MainBranch)]); got != "[the whole answer go on]" {
		t.Errorf("log: %s", got)
	}
	check(t, s)
}

// D2, D3: a header holds no free text, and a short secret's digest depends on the store's key.
func TestD2D3DigestsTellNothing(t *testing.T) {
	digests := map[string]bool{}
	for i := range 2 {
		e := env(tempDir(t), nil)
		e.Random = bytes.NewReader(bytes.Repeat([]byte{byte(i + 1)}, 1000))
		s := initStore(t, e)
		id := say(t, s, "talk", "user", "4711")
		header := must[[]byte](t)(s.Objects.Header(id))
		if bytes.Contains(header, []byte("4711")) {
			t.Error("the text is in the header")
		}
		shown := must[*Shown](t)(s.Entry(id))
		digests[fmt.Sprintf("%x", shown.Entry.Body.Digest)] = true
	}
	if len(digests) != 2 {
		t.Error("two stores give a short text the same digest")
	}
}

// D12: a session may be called anything that is not a path or a control character; case counts, on every file system.
func TestD12Names(t *testing.T) {
	s := create(t)
	for _, name := range []string{"CON", "con", "a b", "ünï", "ses_7Q", "sés:on*?", strings.Repeat("x", 200)} {
		say(t, s, name, "user", "in "+name)
	}
	for name, got := range texts(t, s) {
		if len(got) != 1 || got[0] != "in "+strings.TrimSuffix(strings.TrimPrefix(name, "sessions/"), "/main") {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, name := range []string{"", ".", "..", "a/b", "a\nb", "a\x00", " a", strings.Repeat("x", 201), "\xff"} {
		_, _, err := s.Append(context.Background(), name, MainBranch, []Message{{Role: "user", Text: "x"}}, AppendOptions{})
		if !errors.Is(err, ErrInput) {
			t.Errorf("session %q: %v", name, err)
		}
	}
}
