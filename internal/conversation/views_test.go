package conversation_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/when"
)

// listed is what a log shows, as text that two of them can be compared by.
func listed(t testing.TB, s *session.Store, o recall.LogOptions) (lines []string) {
	t.Helper()
	tip := storetest.Must[format.Value](t)(history.Tip(storetest.View(t, s), "talk",
		history.MainBranch))
	for _, shown := range storetest.Must[[]*history.Shown](t)(s.Recall.Log(tip.ID, o)) {
		e, err := shown.Entry.Encode()
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%v %s %q %q", shown.ID, e, shown.Text, shown.Parts))
	}
	return lines
}

func talkOf(t testing.TB, s *session.Store, n int) {
	t.Helper()
	var batch []conversation.Message
	for i := range n {
		m := conversation.Message{Role: "user", Text: fmt.Sprint("message ", i),
			Time: time.Date(2026, 1, 2, 10, 0, i, 0, time.UTC)}
		if i%3 == 1 {
			m.Role, m.Text = "model", ""
			m.Parts = json.RawMessage(fmt.Sprintf(
				`[{"functionCall":{"id":"c%d","name":"ls","args":{}}}]`, i))
		}
		batch = append(batch, m)
	}
	if _, _, err := s.Conversation.Append(context.Background(), "talk", history.MainBranch, batch,
		conversation.AppendOptions{}); err != nil {
		t.Fatal(err)
	}
}

// TestC6_01_AppendAfterGet: what is appended after everything was read is stored once.
func TestC6_01_AppendAfterGet(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	talkOf(t, s, 10)
	before := listed(t, s, recall.LogOptions{})
	storetest.Say(t, s, "talk", "user", "and this")
	after := listed(t, s, recall.LogOptions{})
	if len(after) != 11 || !slices.Equal(after[:10], before) {
		t.Errorf("%d entries after %d", len(after), len(before))
	}
	tip := storetest.Must[format.Value](t)(history.Tip(storetest.View(t, s), "talk",
		history.MainBranch))
	if e := storetest.Must[*history.Shown](t)(s.History.Entry(tip.ID)); e.Entry.Seq != 11 ||
		e.Text != "and this" {
		t.Errorf("the tip is %d %q", e.Entry.Seq, e.Text)
	}
}

// TestC6_02_FilteredViewIsDetached: whatever is done to a view of the last entries, or of those
// after a time, what is stored stays whole, and an append after it adds one.
func TestC6_02_FilteredViewIsDetached(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	talkOf(t, s, 12)
	at := func(second int) time.Time { return time.Date(2026, 1, 2, 10, 0, second, 0, time.UTC) }
	late, never := when.Span{Start: at(8)}, when.Span{Start: at(99)}
	for i, o := range []recall.LogOptions{{}, {Limit: 3}, {Within: late}, {Limit: 3, Within: late},
		{Limit: 9, Within: late}, {Limit: 99}, {Within: never},
		{Limit: 2, NewestFirst: true, All: true}} {
		whole := listed(t, s, recall.LogOptions{})
		tip := storetest.Must[format.Value](t)(history.Tip(storetest.View(t, s), "talk",
			history.MainBranch))
		view := storetest.Must[[]*history.Shown](t)(s.Recall.Log(tip.ID, o))
		want := len(whole)
		if o.Limit > 0 {
			want = min(want, o.Limit)
		}
		if !o.Within.Start.IsZero() {
			want = min(want, max(0, len(whole)-o.Within.Start.Second()))
		}
		if len(view) != want {
			t.Errorf("%+v: %d entries, want %d", o, len(view), want)
		}
		for _, shown := range view {
			for j := range shown.Parts {
				shown.Parts[j] = 'x'
			}
			for j := range shown.Entry.Calls {
				shown.Entry.Calls[j].ID = "other"
			}
			for j := range shown.Entry.Parents {
				shown.Entry.Parents[j] = format.ID{}
			}
			shown.Entry.Role, shown.Entry.Seq, shown.Text = "tool", 0, "changed"
		}
		clear(view)
		if now := listed(t, s, recall.LogOptions{}); !slices.Equal(now, whole) {
			t.Fatalf("%+v: what is stored changed with the view", o)
		}
		talk := conversation.Message{Role: "user", Text: fmt.Sprint("after view ", i),
			Time: at(len(whole))}
		if _, _, err := s.Conversation.Append(context.Background(), "talk", history.MainBranch,
			[]conversation.Message{talk}, conversation.AppendOptions{}); err != nil {
			t.Fatal(err)
		}
		if now := listed(t, s, recall.LogOptions{}); len(now) != len(whole)+1 ||
			!slices.Equal(now[:len(whole)], whole) {
			t.Fatalf("%+v: %d entries after %d", o, len(now), len(whole))
		}
	}
}

// TestViewsTogether compares both bounds with their plain form, over times that go back.
func TestViewsTogether(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	seconds := []int{5, 6, 3, 7, 7, 2, 8, 9, 9, 8}
	var batch []conversation.Message
	for i, sec := range seconds {
		batch = append(batch,
			conversation.Message{Role: "user", Text: fmt.Sprint(i),
				Time: time.Date(2026, 1, 2, 10, 0, sec, 0, time.UTC)})
	}
	if _, _, err := s.Conversation.Append(context.Background(), "talk", history.MainBranch, batch,
		conversation.AppendOptions{}); err != nil {
		t.Fatal(err)
	}
	tip := storetest.Must[format.Value](t)(history.Tip(storetest.View(t, s), "talk",
		history.MainBranch))
	for limit := range 12 {
		for bound := range 11 {
			var want []string
			for i := len(seconds) - 1; i >= 0 && (limit == 0 || len(want) < limit); i-- {
				if seconds[i] >= bound {
					want = slices.Insert(want, 0, fmt.Sprint(i))
				}
			}
			o := recall.LogOptions{Limit: limit,
				Within: when.Span{Start: time.Date(2026, 1, 2, 10, 0, bound, 0, time.UTC)}}
			var got []string
			for _, shown := range storetest.Must[[]*history.Shown](t)(s.Recall.Log(tip.ID, o)) {
				got = append(got, shown.Text)
			}
			if !slices.Equal(got, want) {
				t.Errorf("last %d since %d: %v, want %v", limit, bound, got, want)
			}
		}
	}
}

// TestC6_10_ChildSession: whatever happens in a session that works for another, the events of that
// one stay as they are. Whose models' health it shares is what the link says.
func TestC6_10_ChildSession(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	bg := context.Background()
	talkOf(t, s, 12)
	before := listed(t, s, recall.LogOptions{All: true})
	tip := storetest.Must[format.Value](t)(history.Tip(storetest.View(t, s), "talk",
		history.MainBranch))
	p := history.Parent{Session: "talk", Call: "c4"}
	if _, _, err := s.Conversation.Append(bg, "child", history.MainBranch,
		[]conversation.Message{{Role: "user", Text: "look"}},
		conversation.AppendOptions{Parent: &p}); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		storetest.Say(t, s, "child", []string{"model", "tool"}[i%2], fmt.Sprint("failed ", i))
	}
	if known := storetest.Must[bool](t)(s.Conversation.Link(bg, "child", p, false)); !known {
		t.Error("linking again is not known")
	}
	storetest.Say(t, s, "apart", "user", "look")
	storetest.Must[bool](t)(
		s.Conversation.Link(bg, "apart",
			history.Parent{Session: "child", Call: "none", Apart: true}, true))
	v := storetest.View(t, s)
	for session, want := range map[string]string{"talk": "", "child": "", "apart": "apart"} {
		if got := storetest.Must[string](t)(s.Conversation.HealthOf(v, session)); got != want {
			t.Errorf("the health of %s is that of %q, want %q", session, got, want)
		}
	}
	storetest.Must[conversation.Undone](t)(s.Conversation.Undo(bg, "child"))
	storetest.Must[int](t)(s.Conversation.RemoveSession(bg, "child"))
	if now := storetest.Must[format.Value](t)(history.Tip(storetest.View(t, s), "talk",
		history.MainBranch)); now.ID != tip.ID {
		t.Error("the parent's tip moved")
	}
	if after := listed(t, s, recall.LogOptions{All: true}); !slices.Equal(after, before) {
		t.Error("the parent's events changed")
	}
}

// TestLinkDepth stops an agent that calls itself for ever.
func TestLinkDepth(t *testing.T) {
	s := storetest.Create(t)
	name := func(i int) string { return fmt.Sprint("s", i) }
	storetest.Say(t, s, name(0), "user", "hello")
	for i := 1; ; i++ {
		storetest.Say(t, s, name(i), "user", "hello")
		_, err := s.Conversation.Link(context.Background(), name(i),
			history.Parent{Session: name(i - 1), Call: "c"}, true)
		if err == nil && i <= conversation.MaxDepth {
			continue
		}
		if err == nil || i <= conversation.MaxDepth {
			t.Errorf("%d deep: %v", i, err)
		}
		return
	}
}
