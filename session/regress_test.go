package session

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/index"
	"github.com/gemini-ctx/ctx/session/view"
)

// Each test here failed once.

// The links cache is older than the kept log: every command that asks for links fails, an append that leaves among them, for good.
func TestLinksCacheOlderThanKeptLog(t *testing.T) {
	s := create(t, small...)
	talk(t, s, "talk", 20, 1) // leaves: cache/links is written once, and not again as nothing is amended or imported
	s = reopen(t, s.Dir, nil, small...)
	for range 30 { // many checkpoints' worth of other operations
		talk(t, s, "other", 20, 2)
	}
	// Plain appends in processes that never leave do not touch the file; go back to what it was is not even needed: its stamp has stayed.
	err := s.locked(context.Background(), func(tx *tx) error {
		r, ok, err := s.Refs.CanBegin(time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC))
		if err != nil || !ok {
			return fmt.Errorf("nothing to drop: %w", err)
		}
		_, err = s.Refs.DropTo(tx.held, r.Op.Number)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		s = reopen(t, s.Dir, nil, small...) // another process
		if _, _, err := s.Append(context.Background(), "talk", MainBranch, []Message{{Role: "user", Text: "and on"}}, AppendOptions{}); err != nil {
			t.Fatalf("append %d: %v", i, err)
		}
	}
}

// Without sources or amends the links file is written once; each later process walks every operation since, under the lock, at each leave.
func TestLinksStampStays(t *testing.T) {
	s := create(t, small...)
	for range 300 {
		s = reopen(t, s.Dir, nil, small...)
		talk(t, s, "talk", 1, 1)
	}
	_, stamp, ok := s.Cache.Load(index.LinksName)
	now := s.mustView(t).Number
	if ok && now-stamp.Number > 50 {
		t.Fatalf("the links cache covers operation %d of %d: every leave reads all since", stamp.Number, now)
	}
}

// After an undo the frontier is nearer to the tip than graduate_at; a leave then pins a forest that holds messages of the tail.
func TestUndoThenCompactRendersTwice(t *testing.T) {
	s := create(t, small...)
	talk(t, s, "talk", 21, 1)
	must[Undone](t)(s.Undo(context.Background(), "talk"))
	must[Undone](t)(s.Undo(context.Background(), "talk"))
	compact(t, s, "talk")
	check(t, s)
	everythingOnce(t, s, "talk", must[format.Value](t)(Tip(s.mustView(t), "talk", MainBranch)))
}

func TestRewindThenCompactRendersTwice(t *testing.T) {
	s := create(t, small...)
	r := rand.New(rand.NewPCG(1, 1))
	var batch []Message
	for range 30 {
		batch = append(batch, Message{Role: "user", Text: chatter(r)})
	}
	done, _, err := s.Append(context.Background(), "talk", MainBranch, batch, AppendOptions{NoGraduation: true})
	if err != nil {
		t.Fatal(err)
	}
	must[Graduation](t)(s.Graduate(context.Background(), "talk", MainBranch))
	must[Rewound](t)(s.Rewind(context.Background(), "talk", MainBranch, done[20].ID, RewindOptions{}))
	compact(t, s, "talk")
	check(t, s)
	everythingOnce(t, s, "talk", must[format.Value](t)(Tip(s.mustView(t), "talk", MainBranch)))
}

// The same forest, and then a rewind that keeps the pin: words that were rewound away are rendered.
func TestRewoundWordsStayInThePin(t *testing.T) {
	s := create(t, small...)
	r := rand.New(rand.NewPCG(1, 1))
	var batch []Message
	for range 30 {
		batch = append(batch, Message{Role: "user", Text: chatter(r)})
	}
	done, _, err := s.Append(context.Background(), "talk", MainBranch, batch, AppendOptions{NoGraduation: true})
	if err != nil {
		t.Fatal(err)
	}
	must[Graduation](t)(s.Graduate(context.Background(), "talk", MainBranch))
	must[Rewound](t)(s.Rewind(context.Background(), "talk", MainBranch, done[20].ID, RewindOptions{}))
	compact(t, s, "talk")
	must[Rewound](t)(s.Rewind(context.Background(), "talk", MainBranch, done[18].ID, RewindOptions{}))
	v := must[format.Value](t)(Tip(s.mustView(t), "talk", MainBranch))
	in, err := s.RenderInput(s.mustView(t), "talk", MainBranch, view.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range in.Clusters {
		if err := s.walk(c.ID, func(id format.ID) error {
			if id == done[18].ID || id == done[19].ID {
				t.Errorf("rewound message %v is in the pin %v", id, v.Pin)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

func sourced(role, text, id string) Message {
	return Message{Role: role, Text: text, Source: &Source{Agent: "x", Session: "s", Message: id}}
}

func put(t *testing.T, s *Store, session string, m Message) Appended {
	t.Helper()
	done, _, err := s.Append(context.Background(), session, MainBranch, []Message{m}, AppendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return done[0]
}

func expandOne(t *testing.T, s *Store, a Appended) string {
	t.Helper()
	text := ""
	err := s.Expand(s.mustView(t), a.ID, ExpandOptions{Session: "talk", Branch: MainBranch}, func(e *Shown) error { text = e.Text; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// An amend that was undone, or rewound away, still is what expand and the summariser read.
func TestUndoneAmendIsExpanded(t *testing.T) {
	s := create(t, small...)
	a := put(t, s, "talk", sourced("user", "first text", "1"))
	put(t, s, "talk", sourced("user", "second text", "1"))
	if got := expandOne(t, s, a); got != "second text" {
		t.Fatalf("amended: %q", got)
	}
	must[Undone](t)(s.Undo(context.Background(), "talk"))
	if got := expandOne(t, s, a); got != "first text" {
		t.Errorf("log says %q, expand says %q", texts(t, s)[RefName("talk", MainBranch)], got)
	}
}

func TestRewoundAmendIsExpanded(t *testing.T) {
	s := create(t, small...)
	a := put(t, s, "talk", sourced("user", "first text", "1"))
	say(t, s, "talk", "user", "between")
	b := say(t, s, "talk", "user", "target")
	put(t, s, "talk", sourced("user", "second text", "1"))
	must[Rewound](t)(s.Rewind(context.Background(), "talk", MainBranch, b, RewindOptions{}))
	if got := expandOne(t, s, a); got != "first text" {
		t.Errorf("log says %q, expand says %q", texts(t, s)[RefName("talk", MainBranch)], got)
	}
}

// The cache is lost between undo and redo: what comes back is not known.
func TestRedoAfterCacheLoss(t *testing.T) {
	s := create(t, small...)
	a := put(t, s, "talk", sourced("user", "first text", "1"))
	put(t, s, "talk", sourced("user", "second text", "1"))
	put(t, s, "talk", sourced("user", "another", "2"))
	must[Undone](t)(s.Undo(context.Background(), "talk"))
	must[Undone](t)(s.Undo(context.Background(), "talk"))
	if err := os.RemoveAll(filepath.Join(s.Dir, "cache")); err != nil {
		t.Fatal(err)
	}
	s = reopen(t, s.Dir, nil, small...)
	expandOne(t, s, a) // renews the cache
	must[Undone](t)(s.Redo(context.Background(), "talk"))
	must[Undone](t)(s.Redo(context.Background(), "talk"))
	if got := expandOne(t, s, a); got != "second text" {
		t.Errorf("log says %q, expand says %q", texts(t, s)[RefName("talk", MainBranch)], got)
	}
	if again := put(t, s, "talk", sourced("user", "another", "2")); !again.Known {
		t.Errorf("said twice: %q", texts(t, s)[RefName("talk", MainBranch)])
	}
}

func TestUndoOfSessionRmAfterCacheLoss(t *testing.T) {
	s := create(t, small...)
	put(t, s, "talk", sourced("user", "first text", "1"))
	if _, err := s.RemoveSession(context.Background(), "talk"); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(s.Dir, "cache")); err != nil {
		t.Fatal(err)
	}
	s = reopen(t, s.Dir, nil, small...)
	put(t, s, "other", sourced("user", "first text", "7"))
	must[Undone](t)(s.Undo(context.Background(), "talk"))
	if again := put(t, s, "talk", sourced("user", "first text", "1")); !again.Known {
		t.Errorf("said twice: %q", texts(t, s)[RefName("talk", MainBranch)])
	}
}

// A source that was rewound away comes again with other content: it is acknowledged as an amend of an entry that is not in the branch, and shown nowhere.
func TestAmendOfRewoundMessageIsNowhere(t *testing.T) {
	s := create(t, small...)
	say(t, s, "talk", "user", "zero")
	a := put(t, s, "talk", sourced("user", "first text", "1"))
	must[Rewound](t)(s.Rewind(context.Background(), "talk", MainBranch, a.ID, RewindOptions{}))
	b := put(t, s, "talk", sourced("user", "second text", "1"))
	got := texts(t, s)[RefName("talk", MainBranch)]
	if len(got) != 2 {
		t.Errorf("%+v was acknowledged, log says %q", b, got)
	}
}

// A message that got its calls by an amend: with the head cache call and result are a pair, without it they are not.
func TestAmendedCallsWithoutHeadCache(t *testing.T) {
	s := create(t, "window.graduate_at=4", "window.evict_at=20")
	say(t, s, "talk", "user", "zero")
	put(t, s, "talk", sourced("model", "I will look", "1"))
	m := Message{Role: "model", Parts: []byte(`[{"text":"I will look"},{"functionCall":{"id":"c1","name":"ls","args":{}}}]`), Source: &Source{Agent: "x", Session: "s", Message: "1"}}
	put(t, s, "talk", m)
	put(t, s, "talk", Message{Role: "tool", Parts: []byte(`[{"functionResponse":{"id":"c1","name":"ls","response":{"output":"a"}}}]`)})
	v := s.mustView(t).Get(RefName("talk", MainBranch))
	with := must[*head](t)(s.head("talk", MainBranch, v))
	if err := os.RemoveAll(filepath.Join(s.Dir, "cache")); err != nil {
		t.Fatal(err)
	}
	without := must[*head](t)(s.head("talk", MainBranch, v))
	for i := range with.Items {
		if len(with.Items[i].Calls) != len(without.Items[i].Calls) {
			t.Errorf("message %d makes calls %q with the cache, %q without", i, with.Items[i].Calls, without.Items[i].Calls)
		}
	}
}

// A message with a call is written again (same call, other text) and answered. Rewinding the answer leaves the call without it.
func TestRewindSplitsAmendedPair(t *testing.T) {
	s := create(t, small...)
	say(t, s, "talk", "user", "zero")
	call := func(text string) Message {
		return Message{Role: "model", Parts: []byte(`[{"text":"` + text + `"},{"functionCall":{"id":"c1","name":"ls","args":{}}}]`), Source: &Source{Agent: "x", Session: "s", Message: "1"}}
	}
	put(t, s, "talk", call("I will look"))
	put(t, s, "talk", call("I will look, thinking"))
	r := put(t, s, "talk", Message{Role: "tool", Parts: []byte(`[{"functionResponse":{"id":"c1","name":"ls","response":{"output":"a"}}}]`)})
	must[Rewound](t)(s.Rewind(context.Background(), "talk", MainBranch, r.ID, RewindOptions{}))
	v := s.mustView(t).Get(RefName("talk", MainBranch))
	for _, shown := range must[[]*Shown](t)(s.Log(v.ID, LogOptions{})) {
		if len(shown.Entry.Calls) > 0 {
			t.Errorf("message %d still calls %v, its result was rewound", shown.Entry.Seq, shown.Entry.Calls)
		}
	}
}

// A member of a summarised cluster is amended: the cluster stays clean, and compact never puts the new text where the old one was.
func TestAmendOfMemberLeavesClusterClean(t *testing.T) {
	s := create(t, "window.graduate_at=1", "window.evict_at=2", "forest.merge_threshold=1")
	tail := ". The weather is fine. The train was late. We had coffee and a long talk about nothing."
	put(t, s, "talk", sourced("user", "The postgres port is unknown"+tail, "1"))
	talk(t, s, "talk", 5, 1)
	compact(t, s, "talk")
	put(t, s, "talk", sourced("user", "The postgres port is xyzzy5433"+tail, "1"))
	talk(t, s, "talk", 5, 2)
	compact(t, s, "talk")
	out := string(render(t, s, "talk", 0).Bytes)
	if strings.Contains(out, "port is unknown") {
		t.Errorf("rendered:\n%s", out)
	}
}

// A Store may be used from several goroutines; links is read by one while another catches it up. Run under -race.
func TestLinksShared(t *testing.T) {
	s := create(t, "window.graduate_at=1", "window.evict_at=400", "forest.merge_threshold=0")
	r := rand.New(rand.NewPCG(1, 1))
	var batch []Message
	for range 600 {
		batch = append(batch, Message{Role: "user", Text: chatter(r)})
	}
	if _, _, err := s.Append(context.Background(), "big", MainBranch, batch, AppendOptions{NoGraduation: true}); err != nil {
		t.Fatal(err)
	}
	compact(t, s, "big")
	put(t, s, "talk", sourced("user", "first text", "0"))
	view := s.mustView(t)
	node := must[[]ClusterInfo](t)(s.Clusters(view))[0].ID
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 100 {
			put(t, s, "talk", sourced("user", fmt.Sprint("text ", i), fmt.Sprint(i%7)))
		}
	})
	wg.Go(func() {
		for range 20 {
			if err := s.Expand(s.mustView(t), node, ExpandOptions{}, func(*Shown) error { return nil }); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
}

// A batch that is longer than the window leaves in the operation that appends it.
func TestBatchCrossesEvictAt(t *testing.T) {
	s := create(t, small...)
	r := rand.New(rand.NewPCG(1, 1))
	var batch []Message
	for range 40 {
		batch = append(batch, Message{Role: "user", Text: chatter(r)})
	}
	for range 4 {
		if _, _, err := s.Append(context.Background(), "talk", MainBranch, batch, AppendOptions{}); err != nil {
			t.Fatal(err)
		}
		check(t, s)
	}
}

// What redo brings back had graduated in a later operation, which is not brought back yet.
func TestRedoOfWhatGraduatedLater(t *testing.T) {
	s := create(t, small...)
	ctx := context.Background()
	talk(t, s, "talk", 14, 1)
	for range 12 {
		must[Undone](t)(s.Undo(ctx, "talk"))
		check(t, s)
	}
	for range 6 {
		must[Undone](t)(s.Redo(ctx, "talk"))
		check(t, s)
	}
	talk(t, s, "talk", 14, 2)
	check(t, s)
}

// A result that comes after its call has graduated, and graduates with the batch it comes in, is not on the disk yet when its call is looked for.
func TestLateResultGraduatesWithItsBatch(t *testing.T) {
	s := create(t, "window.graduate_at=2", "window.evict_at=4")
	call := Message{Role: "model", Text: "look", Calls: []format.Call{{ID: "c1", Tool: "ls"}}}
	result := Message{Role: "tool", Text: "found", Results: []string{"c1"}}
	talk := func(n int) (list []Message) {
		for i := range n {
			list = append(list, Message{Role: "user", Text: fmt.Sprint("more ", i)})
		}
		return list
	}
	for _, batch := range [][]Message{{call}, talk(6), append([]Message{result}, talk(5)...)} {
		if _, _, err := s.Append(context.Background(), "s", MainBranch, batch, AppendOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if v := s.mustView(t).Get(RefName("s", MainBranch)); v.Frontier < 8 {
		t.Errorf("frontier %d: the result has not graduated", v.Frontier)
	}
	check(t, s)
}
