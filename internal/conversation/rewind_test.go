package conversation_test

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

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/epochs/epoch"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/internal/view"
)

// After an undo the frontier is nearer to the tip than graduate_at; a leave then pins a forest that
// holds messages of the tail.
func TestUndoThenCompactRendersTwice(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	storetest.Talk(t, s, "talk", 21, 1)
	storetest.Must[conversation.Undone](t)(s.Conversation.Undo(context.Background(), "talk"))
	storetest.Must[conversation.Undone](t)(s.Conversation.Undo(context.Background(), "talk"))
	storetest.Compact(t, s, "talk")
	storetest.Check(t, s)
	storetest.CheckEverythingOnce(t, s, "talk",
		storetest.Must[format.Value](t)(history.Tip(storetest.View(t, s), "talk",
			history.MainBranch)))
}

func TestRewindThenCompactRendersTwice(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	r := rand.New(rand.NewPCG(1, 1))
	var batch []conversation.Message
	for range 30 {
		batch = append(batch, conversation.Message{Role: "user", Text: storetest.Chatter(r)})
	}
	done, _, err := s.Conversation.Append(context.Background(), "talk", history.MainBranch, batch,
		conversation.AppendOptions{NoGraduation: true})
	if err != nil {
		t.Fatal(err)
	}
	storetest.Must[clusters.Graduation](t)(s.Conversation.Graduate(context.Background(), "talk",
		history.MainBranch))
	storetest.Must[conversation.Rewound](t)(s.Conversation.Rewind(context.Background(), "talk",
		history.MainBranch, done[20].ID, conversation.RewindOptions{}))
	storetest.Compact(t, s, "talk")
	storetest.Check(t, s)
	storetest.CheckEverythingOnce(t, s, "talk",
		storetest.Must[format.Value](t)(history.Tip(storetest.View(t, s), "talk",
			history.MainBranch)))
}

// The same forest, and then a rewind that keeps the pin: words that were rewound away are rendered.
func TestRewoundWordsStayInThePin(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	r := rand.New(rand.NewPCG(1, 1))
	var batch []conversation.Message
	for range 30 {
		batch = append(batch, conversation.Message{Role: "user", Text: storetest.Chatter(r)})
	}
	done, _, err := s.Conversation.Append(context.Background(), "talk", history.MainBranch, batch,
		conversation.AppendOptions{NoGraduation: true})
	if err != nil {
		t.Fatal(err)
	}
	storetest.Must[clusters.Graduation](t)(s.Conversation.Graduate(context.Background(), "talk",
		history.MainBranch))
	storetest.Must[conversation.Rewound](t)(s.Conversation.Rewind(context.Background(), "talk",
		history.MainBranch, done[20].ID, conversation.RewindOptions{}))
	storetest.Compact(t, s, "talk")
	storetest.Must[conversation.Rewound](t)(s.Conversation.Rewind(context.Background(), "talk",
		history.MainBranch, done[18].ID, conversation.RewindOptions{}))
	v := storetest.Must[format.Value](t)(history.Tip(storetest.View(t, s), "talk",
		history.MainBranch))
	in, err := s.Recall.RenderInput(storetest.View(t, s), "talk", history.MainBranch,
		view.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range in.Clusters {
		if err := s.Clusters.EachMember(c.ID, func(id format.ID) error {
			if id == done[18].ID || id == done[19].ID {
				t.Errorf("rewound message %v is in the pin %v", id, v.Pin)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

func expandOne(t *testing.T, s *session.Store, a conversation.Appended) string {
	t.Helper()
	text := ""
	err := s.Recall.Expand(storetest.View(t, s), a.ID,
		recall.ExpandOptions{Session: "talk", Branch: history.MainBranch},
		func(e *history.Shown) error { text = e.Text; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// An amend that was undone, or rewound away, still is what expand and the summarizer read.
func TestUndoneAmendIsExpanded(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	a := storetest.AppendOne(t, s, "talk", storetest.Sourced("user", "first text", "1"))
	storetest.AppendOne(t, s, "talk", storetest.Sourced("user", "second text", "1"))
	if got := expandOne(t, s, a); got != "second text" {
		t.Fatalf("amended: %q", got)
	}
	storetest.Must[conversation.Undone](t)(s.Conversation.Undo(context.Background(), "talk"))
	if got := expandOne(t, s, a); got != "first text" {
		t.Errorf("log says %q, expand says %q",
			storetest.Texts(t, s)[history.RefName("talk", history.MainBranch)], got)
	}
}

func TestRewoundAmendIsExpanded(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	a := storetest.AppendOne(t, s, "talk", storetest.Sourced("user", "first text", "1"))
	storetest.Say(t, s, "talk", "user", "between")
	b := storetest.Say(t, s, "talk", "user", "target")
	storetest.AppendOne(t, s, "talk", storetest.Sourced("user", "second text", "1"))
	storetest.Must[conversation.Rewound](t)(s.Conversation.Rewind(context.Background(), "talk",
		history.MainBranch, b, conversation.RewindOptions{}))
	if got := expandOne(t, s, a); got != "first text" {
		t.Errorf("log says %q, expand says %q",
			storetest.Texts(t, s)[history.RefName("talk", history.MainBranch)], got)
	}
}

// The cache is lost between undo and redo: what comes back is not known.
func TestRedoAfterCacheLoss(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	a := storetest.AppendOne(t, s, "talk", storetest.Sourced("user", "first text", "1"))
	storetest.AppendOne(t, s, "talk", storetest.Sourced("user", "second text", "1"))
	storetest.AppendOne(t, s, "talk", storetest.Sourced("user", "another", "2"))
	storetest.Must[conversation.Undone](t)(s.Conversation.Undo(context.Background(), "talk"))
	storetest.Must[conversation.Undone](t)(s.Conversation.Undo(context.Background(), "talk"))
	if err := os.RemoveAll(filepath.Join(s.Dir, "cache")); err != nil {
		t.Fatal(err)
	}
	s = storetest.Reopen(t, s.Dir, nil, storetest.Small...)
	expandOne(t, s, a) // renews the cache
	storetest.Must[conversation.Undone](t)(s.Conversation.Redo(context.Background(), "talk"))
	storetest.Must[conversation.Undone](t)(s.Conversation.Redo(context.Background(), "talk"))
	if got := expandOne(t, s, a); got != "second text" {
		t.Errorf("log says %q, expand says %q",
			storetest.Texts(t, s)[history.RefName("talk", history.MainBranch)], got)
	}
	if again := storetest.AppendOne(t, s, "talk",
		storetest.Sourced("user", "another", "2")); !again.Known {
		t.Errorf("said twice: %q",
			storetest.Texts(t, s)[history.RefName("talk", history.MainBranch)])
	}
}

func TestUndoOfSessionRmAfterCacheLoss(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	storetest.AppendOne(t, s, "talk", storetest.Sourced("user", "first text", "1"))
	if _, err := s.Conversation.RemoveSession(context.Background(), "talk"); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(s.Dir, "cache")); err != nil {
		t.Fatal(err)
	}
	s = storetest.Reopen(t, s.Dir, nil, storetest.Small...)
	storetest.AppendOne(t, s, "other", storetest.Sourced("user", "first text", "7"))
	storetest.Must[conversation.Undone](t)(s.Conversation.Undo(context.Background(), "talk"))
	if again := storetest.AppendOne(t, s, "talk",
		storetest.Sourced("user", "first text", "1")); !again.Known {
		t.Errorf("said twice: %q",
			storetest.Texts(t, s)[history.RefName("talk", history.MainBranch)])
	}
}

// A source that was rewound away comes again with other content: it is acknowledged as an amend of
// an entry that is not in the branch, and shown nowhere.
func TestAmendOfRewoundMessageIsNowhere(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	storetest.Say(t, s, "talk", "user", "zero")
	a := storetest.AppendOne(t, s, "talk", storetest.Sourced("user", "first text", "1"))
	storetest.Must[conversation.Rewound](t)(s.Conversation.Rewind(context.Background(), "talk",
		history.MainBranch, a.ID, conversation.RewindOptions{}))
	b := storetest.AppendOne(t, s, "talk", storetest.Sourced("user", "second text", "1"))
	got := storetest.Texts(t, s)[history.RefName("talk", history.MainBranch)]
	if len(got) != 2 {
		t.Errorf("%+v was acknowledged, log says %q", b, got)
	}
}

// A message that got its calls by an amend: with the head cache call and result are a pair, without
// it they are not.
func TestAmendedCallsWithoutHeadCache(t *testing.T) {
	s := storetest.Create(t, "window.graduate_at=4", "window.evict_at=20")
	storetest.Say(t, s, "talk", "user", "zero")
	storetest.AppendOne(t, s, "talk", storetest.Sourced("model", "I will look", "1"))
	m := conversation.Message{Role: "model",
		Parts: []byte(
			`[{"text":"I will look"},{"functionCall":{"id":"c1","name":"ls","args":{}}}]`),
		Source: &conversation.Source{Agent: "x", Session: "s", Message: "1"}}
	storetest.AppendOne(t, s, "talk", m)
	storetest.AppendOne(t, s, "talk",
		conversation.Message{Role: "tool",
			Parts: []byte(
				`[{"functionResponse":{"id":"c1","name":"ls","response":{"output":"a"}}}]`)})
	v := storetest.View(t, s).Get(history.RefName("talk", history.MainBranch))
	with := storetest.Must[*history.Head](t)(s.History.Head("talk", history.MainBranch, v))
	if err := os.RemoveAll(filepath.Join(s.Dir, "cache")); err != nil {
		t.Fatal(err)
	}
	without := storetest.Must[*history.Head](t)(s.History.Head("talk", history.MainBranch, v))
	for i := range with.Items {
		if len(with.Items[i].Calls) != len(without.Items[i].Calls) {
			t.Errorf("message %d makes calls %q with the cache, %q without", i, with.Items[i].Calls,
				without.Items[i].Calls)
		}
	}
}

// A message with a call is written again (same call, other text) and answered. Rewinding the answer
// leaves the call without it.
func TestRewindSplitsAmendedPair(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	storetest.Say(t, s, "talk", "user", "zero")
	call := func(text string) conversation.Message {
		return conversation.Message{Role: "model",
			Parts: []byte(
				`[{"text":"` + text + `"},{"functionCall":{"id":"c1","name":"ls","args":{}}}]`),
			Source: &conversation.Source{Agent: "x", Session: "s", Message: "1"}}
	}
	storetest.AppendOne(t, s, "talk", call("I will look"))
	storetest.AppendOne(t, s, "talk", call("I will look, thinking"))
	r := storetest.AppendOne(t, s, "talk",
		conversation.Message{Role: "tool",
			Parts: []byte(
				`[{"functionResponse":{"id":"c1","name":"ls","response":{"output":"a"}}}]`)})
	storetest.Must[conversation.Rewound](t)(s.Conversation.Rewind(context.Background(), "talk",
		history.MainBranch, r.ID, conversation.RewindOptions{}))
	v := storetest.View(t, s).Get(history.RefName("talk", history.MainBranch))
	for _, shown := range storetest.Must[[]*history.Shown](t)(
		s.Recall.Log(v.ID, recall.LogOptions{})) {
		if len(shown.Entry.Calls) > 0 {
			t.Errorf("message %d still calls %v, its result was rewound", shown.Entry.Seq,
				shown.Entry.Calls)
		}
	}
}

// A member of a summarized cluster is amended: the cluster stays clean, and compact never puts the
// new text where the old one was.
func TestAmendOfMemberLeavesClusterClean(t *testing.T) {
	s := storetest.Create(t, "window.graduate_at=1", "window.evict_at=2",
		"forest.merge_threshold=1")
	tail :=
		". The weather is fine. The train was late. We had coffee and a long talk about nothing."
	storetest.AppendOne(t, s, "talk",
		storetest.Sourced("user", "The postgres port is unknown"+tail, "1"))
	storetest.Talk(t, s, "talk", 5, 1)
	storetest.Compact(t, s, "talk")
	storetest.AppendOne(t, s, "talk",
		storetest.Sourced("user", "The postgres port is xyzzy5433"+tail, "1"))
	storetest.Talk(t, s, "talk", 5, 2)
	storetest.Compact(t, s, "talk")
	out := string(storetest.Render(t, s, "talk", 0).Bytes)
	if strings.Contains(out, "port is unknown") {
		t.Errorf("rendered:\n%s", out)
	}
}

// A batch that is longer than the window leaves in the operation that appends it.
func TestBatchCrossesEvictAt(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	r := rand.New(rand.NewPCG(1, 1))
	var batch []conversation.Message
	for range 40 {
		batch = append(batch, conversation.Message{Role: "user", Text: storetest.Chatter(r)})
	}
	for range 4 {
		if _, _, err := s.Conversation.Append(context.Background(), "talk", history.MainBranch,
			batch, conversation.AppendOptions{}); err != nil {
			t.Fatal(err)
		}
		storetest.Check(t, s)
	}
}

// What redo brings back had graduated in a later operation, which is not brought back yet.
func TestRedoOfWhatGraduatedLater(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	ctx := context.Background()
	storetest.Talk(t, s, "talk", 14, 1)
	for range 12 {
		storetest.Must[conversation.Undone](t)(s.Conversation.Undo(ctx, "talk"))
		storetest.Check(t, s)
	}
	for range 6 {
		storetest.Must[conversation.Undone](t)(s.Conversation.Redo(ctx, "talk"))
		storetest.Check(t, s)
	}
	storetest.Talk(t, s, "talk", 14, 2)
	storetest.Check(t, s)
}

// A result that comes after its call has graduated, and graduates with the batch it comes in, is
// not on the disk yet when its call is looked for.
func TestLateResultGraduatesWithItsBatch(t *testing.T) {
	s := storetest.Create(t, "window.graduate_at=2", "window.evict_at=4")
	call := conversation.Message{Role: "model", Text: "look",
		Calls: []format.Call{{ID: "c1", Tool: "ls"}}}
	result := conversation.Message{Role: "tool", Text: "found", Results: []string{"c1"}}
	talk := func(n int) (list []conversation.Message) {
		for i := range n {
			list = append(list, conversation.Message{Role: "user", Text: fmt.Sprint("more ", i)})
		}
		return list
	}
	for _, batch := range [][]conversation.Message{{call}, talk(6),
		append([]conversation.Message{result}, talk(5)...)} {
		if _, _, err := s.Conversation.Append(context.Background(), "s", history.MainBranch, batch,
			conversation.AppendOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if v := storetest.View(t, s).Get(history.RefName("s", history.MainBranch)); v.Frontier < 8 {
		t.Errorf("frontier %d: the result has not graduated", v.Frontier)
	}
	storetest.Check(t, s)
}

// A10: undo is about one session, whatever others do, and never rolls the shared forest back.
func TestA10UndoIsOfOneSession(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	mine := storetest.Talk(t, s, "mine", 20, 1)
	storetest.Talk(t, s, "other", 20, 2)
	if _, err := s.Conversation.Rewind(context.Background(), "mine", history.MainBranch, mine[5],
		conversation.RewindOptions{}); err != nil {
		t.Fatal(err)
	}
	storetest.Talk(t, s, "other", 9, 3) // the forest has moved on
	undone := storetest.Must[conversation.Undone](t)(
		s.Conversation.Undo(context.Background(), "mine"))
	if undone.Verb != "rewind" || undone.Restored == 0 {
		t.Errorf("undone: %+v", undone)
	}
	storetest.Check(t, s)
	if n := len(storetest.Texts(t, s)[history.RefName("mine", history.MainBranch)]); n != 20 {
		t.Errorf("%d messages after undo", n)
	}
	if n := len(storetest.Texts(t, s)[history.RefName("other", history.MainBranch)]); n != 29 {
		t.Errorf("the other session has %d messages", n)
	}
	redone := storetest.Must[conversation.Undone](t)(
		s.Conversation.Redo(context.Background(), "mine"))
	if redone.Operation != undone.Operation {
		t.Errorf("redone: %+v", redone)
	}
	storetest.Check(t, s)
}

// A11: an answer that lands after its question was rewound away is refused, if the agent says which
// tip it answers, or if it is a result without its call.
func TestA11AppendAfterRewind(t *testing.T) {
	s := storetest.Create(t)
	ctx := context.Background()
	storetest.Say(t, s, "talk", "user", "first")
	question := storetest.Say(t, s, "talk", "user", "second")
	call := conversation.Message{Role: "model",
		Parts: []byte(`[{"functionCall":{"id":"c1","name":"ls","args":{}}}]`)}
	if _, _, err := s.Conversation.Append(ctx, "talk", history.MainBranch,
		[]conversation.Message{call}, conversation.AppendOptions{}); err != nil {
		t.Fatal(err)
	}
	storetest.Must[conversation.Rewound](t)(s.Conversation.Rewind(ctx, "talk", history.MainBranch,
		question, conversation.RewindOptions{}))
	_, _, err := s.Conversation.Append(ctx, "talk", history.MainBranch,
		[]conversation.Message{{Role: "model", Text: "answer"}},
		conversation.AppendOptions{Expect: question})
	if !errors.Is(err, history.ErrStale) {
		t.Errorf("an expected tip that is gone: %v", err)
	}
	result := conversation.Message{Role: "tool",
		Parts: []byte(`[{"functionResponse":{"id":"c1","name":"ls","response":{"output":"a"}}}]`)}
	if _, _, err = s.Conversation.Append(ctx, "talk", history.MainBranch,
		[]conversation.Message{result}, conversation.AppendOptions{}); !errors.Is(err,
		history.ErrStale) {
		t.Errorf("a result without its call: %v", err)
	}
	if _, _, err = s.Conversation.Append(ctx, "talk", history.MainBranch,
		[]conversation.Message{result}, conversation.AppendOptions{Orphan: true}); err != nil {
		t.Errorf("an orphan that was asked for: %v", err)
	}
}

// standing is what a rewind and its undo must agree on: what the branch has, shows and was told.
func standing(t testing.TB, s *session.Store) []string {
	t.Helper()
	var list []string
	tip := storetest.Tip(t, s)
	for _, shown := range storetest.Must[[]*history.Shown](t)(
		s.Recall.Log(tip.ID, recall.LogOptions{})) {
		list = append(list, fmt.Sprint(shown.Entry.Seq, shown.ID, shown.Version))
	}
	for _, m := range storetest.Tail(t, s) {
		if len(m.Masked) > 0 {
			list = append(list, fmt.Sprint("masked ", m.ID))
		}
	}
	told := storetest.Must[recall.EpochShown](t)(s.Recall.EpochAt(tip.ID))
	for _, k := range told.Current {
		list = append(list, fmt.Sprintf("told %s %s", k.Key, k.Value))
	}
	for _, b := range storetest.Must[[]conversation.OpenBranch](t)(
		s.Conversation.Branches(storetest.View(t, s), "s")) {
		list = append(list, fmt.Sprint("branch ", b.Name))
	}
	return list
}

// TestC6_06_rewindThenSend: what is left is the prefix, with the ids it had, and what is said then
// follows it.
func TestC6_06_rewindThenSend(t *testing.T) {
	s := storetest.Create(t)
	first := storetest.Say(t, s, "s", "user", "one")
	second := storetest.Say(t, s, "s", "model", "two")
	third := storetest.Say(t, s, "s", "user", "three")
	storetest.Say(t, s, "s", "model", "four")
	if _, err := s.Conversation.Rewind(context.Background(), "s", history.MainBranch, third,
		conversation.RewindOptions{}); err != nil {
		t.Fatal(err)
	}
	fresh := storetest.Say(t, s, "s", "user", "otherwise")
	var got []format.ID
	for _, shown := range storetest.Must[[]*history.Shown](t)(s.Recall.Log(storetest.Tip(t, s).ID,
		recall.LogOptions{})) {
		got = append(got, shown.ID)
	}
	if want := []format.ID{first, second, fresh}; !slices.Equal(got, want) {
		t.Errorf("the branch has %v, want %v", got, want)
	}
}

// TestC6_11_rewindAcrossEverything goes back over a mask, a fork and its join, an epoch update, a
// compaction and an eviction, to before each in turn: what stood there stands again (the epoch is
// restored, not cleared), undo and redo go over all of it, and no word is lost.
func TestC6_11_rewindAcrossEverything(t *testing.T) {
	s := storetest.Create(t,
		append(slices.Clone(storetest.LowGate), "window.graduate_at=4", "window.evict_at=8")...)
	ctx := context.Background()
	tell := func(date string) {
		t.Helper()
		set := storetest.Must[*epoch.Set](t)(epoch.Read([]byte(storetest.Value("core/date", date))))
		storetest.Must[epochs.Observed](t)(s.Epochs.Observe(ctx, "s", history.MainBranch, set,
			epochs.ObserveOptions{}))
	}
	type mark struct {
		next format.ID // the message that was said first after it
		as   []string
	}
	var marks []mark
	note := func(text string) {
		as := standing(t, s)
		marks = append(marks, mark{storetest.Say(t, s, "s", "user", text), as})
	}
	storetest.Say(t, s, "s", "user", "begin")
	tell(`"monday"`)
	for i := range 12 {
		storetest.Say(t, s, "s", "model", fmt.Sprintf("talk about parser line %d", i))
	}
	_, output := storetest.CallTool(t, s, 1, storetest.LongOutput(1))
	storetest.CallTool(t, s, 2, storetest.LongOutput(2))
	note("before the mask")
	storetest.MaskAll(t, s)
	if !storetest.IsMasked(t, s, output) {
		t.Fatal("nothing was masked")
	}
	note("before the fork")
	if _, err := s.Conversation.Fork(ctx, "s", history.MainBranch, []string{"a", "b"},
		conversation.ForkOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, branch := range []string{"a", "b", "a"} {
		if _, _, err := s.Conversation.Append(ctx, "s", branch,
			[]conversation.Message{{Role: "model", Text: "done in " + branch}},
			conversation.AppendOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Conversation.Join(ctx, "s", history.MainBranch, []string{"a", "b"},
		conversation.JoinOptions{}); err != nil {
		t.Fatal(err)
	}
	note("before the update")
	tell(`"tuesday"`)
	note("before the compaction")
	storetest.Must[summaries.Compaction](t)(
		s.Compaction.Compact(ctx,
			compaction.CompactOptions{Branches: []history.BranchName{{Session: "s",
				Branch: history.MainBranch}}}))
	clusters := storetest.Must[[]clusters.ClusterInfo](t)(s.Recall.Clusters(storetest.View(t, s)))
	if len(clusters) == 0 {
		t.Fatal("no clusters")
	}
	storetest.Must[summaries.Evicted](t)(s.Summaries.Evict(ctx, clusters[0].ID))
	storetest.Say(t, s, "s", "user", "and on")
	storetest.Check(t, s)

	whole := standing(t, s)
	for i, m := range slices.Backward(marks) {
		if _, err := s.Conversation.Rewind(ctx, "s", history.MainBranch, m.next,
			conversation.RewindOptions{}); err != nil {
			t.Fatalf("mark %d: %v", i, err)
		}
		storetest.Check(t, s)
		rewound := standing(t, s)
		for _, shown := range storetest.Tail(t, s) {
			if masked := len(shown.Masked) > 0; shown.ID == output &&
				masked != (m.next != marks[0].next) {
				t.Errorf("mark %d: masked %v", i, masked)
			}
		}
		if !sameStanding(rewound, m.as) {
			t.Errorf("mark %d: after the rewind\n%q\nwas\n%q", i, rewound, m.as)
		}
		if _, err := s.Conversation.Undo(ctx, "s"); err != nil {
			t.Fatalf("mark %d: undo: %v", i, err)
		}
		storetest.Check(t, s)
		if got := standing(t, s); !sameStanding(got, whole) {
			t.Errorf("mark %d: after the undo\n%q\nwant\n%q", i, got, whole)
		}
		if _, err := s.Conversation.Redo(ctx, "s"); err != nil {
			t.Fatalf("mark %d: redo: %v", i, err)
		}
		storetest.Check(t, s)
		if got := standing(t, s); !sameStanding(got, rewound) {
			t.Errorf("mark %d: after the redo\n%q\nwant\n%q", i, got, rewound)
		}
		if _, err := s.Conversation.Undo(ctx, "s"); err != nil {
			t.Fatalf("mark %d: undo of the redo: %v", i, err)
		}
	}
	if storetest.ExpandedText(t, s, output) != storetest.LongOutput(1) {
		t.Error("the original of what was masked is lost")
	}
}

// sameStanding compares all but which masks show: a mask of what has left the tail is nothing that
// is shown.
func sameStanding(a, b []string) bool {
	drop := func(list []string) []string {
		return slices.DeleteFunc(slices.Clone(list),
			func(s string) bool { return len(s) > 6 && s[:6] == "masked" })
	}
	return slices.Equal(drop(a), drop(b))
}
