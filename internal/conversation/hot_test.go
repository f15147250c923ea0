package conversation_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/storetest/thirds"
	"github.com/gemini-ctx/ctx/internal/view"
)

// hotWindow is small enough for a few dozen messages, and large enough to tell a tail from none.
var hotWindow = []string{"window.graduate_at=8", "window.evict_at=12", "forest.max_cold_clusters=9"}

func tailOf(t testing.TB, s *session.Store, session, branch string) []view.Message {
	t.Helper()
	return storetest.Must[view.Input](t)(s.Recall.RenderInput(storetest.View(t, s), session, branch,
		view.Options{})).Tail
}

// After a rewind behind the frontier, or to just before it, the newest messages that are left are
// word for word; they stay so while the session goes on, and with calls and their results whole. An
// undo is no different.
func TestRewindKeepsTheNewestMessages(t *testing.T) {
	for _, to := range thirds.Of(t, []int{58, 55, 50, 49, 36, 21, 12, 8, 3}) {
		t.Run(fmt.Sprint(to), func(t *testing.T) {
			s := storetest.Create(t, hotWindow...)
			c := context.Background()
			r := rand.New(rand.NewPCG(1, uint64(to)))
			var ids []format.ID
			for range 60 {
				ids = append(ids, storetest.Say(t, s, "talk", "user", storetest.Chatter(r)))
			}
			storetest.Compact(t, s, "talk")
			storetest.Must[conversation.Rewound](t)(
				s.Conversation.Rewind(c, "talk", history.MainBranch, ids[to],
					conversation.RewindOptions{}))
			hot := func(left int) {
				t.Helper()
				tail := tailOf(t, s, "talk", history.MainBranch)
				if least := min(left, 6); len(tail) < least || len(tail) > 12 {
					t.Fatalf("%d of %d messages are word for word, want %d to 12",
						len(tail), left, least)
				}
				storetest.Check(t, s)
				storetest.CheckEverythingOnce(t, s, "talk",
					storetest.Must[format.Value](t)(history.Tip(storetest.View(t, s), "talk",
						history.MainBranch)))
			}
			hot(to)
			storetest.Compact(t, s, "talk")
			hot(to)
			for i := range 30 {
				storetest.Say(t, s, "talk", "user", storetest.Chatter(r))
				hot(to + i + 1)
			}
			storetest.Must[conversation.Undone](t)(s.Conversation.Undo(c, "talk"))
			storetest.Compact(t, s, "talk")
			hot(to + 29)
		})
	}
}

// A rewind of one prompt of an agent, which takes many messages away, leaves a tail that begins
// with no result whose call is before it.
func TestRewindOfAnAgentsPrompt(t *testing.T) {
	s := storetest.Create(t, hotWindow...)
	var prompts []format.ID
	for p := range 6 {
		prompts = append(prompts, storetest.Say(t, s, "zoo", "user", fmt.Sprint("prompt ", p)))
		for i := range 9 {
			id := fmt.Sprint(p, "-", i)
			call := fmt.Sprintf(
				`[{"functionCall":{"id":%q,"name":"read_file","args":{"path":"f%d"}}}]`, id, i)
			result := fmt.Sprintf(
				`[{"functionResponse":{"id":%q,"name":"read_file","response":{"output":"content %s"}}}]`, id, id)
			storetest.Must[conversation.Appended](t)(sayParts(t, s, "model", call))
			storetest.Must[conversation.Appended](t)(sayParts(t, s, "tool", result))
		}
	}
	storetest.Must[conversation.Rewound](t)(s.Conversation.Rewind(context.Background(), "zoo",
		history.MainBranch, prompts[5], conversation.RewindOptions{}))
	tail := tailOf(t, s, "zoo", history.MainBranch)
	if len(tail) < 6 {
		t.Fatalf("%d messages are word for word", len(tail))
	}
	called := map[string]bool{}
	for _, m := range tail {
		for _, c := range m.Calls {
			called[c.ID] = true
		}
		for _, r := range m.Results {
			if !called[r] {
				t.Errorf("the tail begins after the call %s, whose result it has", r)
			}
		}
	}
}

// A pin that has members of the tail is given up when they are rewound: none of their words is
// rendered.
func TestRewoundTailLeavesThePin(t *testing.T) {
	s := storetest.Create(t, hotWindow...)
	c := context.Background()
	var ids []format.ID
	for i := range 40 {
		ids = append(ids,
			storetest.Say(t, s, "talk", "user", fmt.Sprintf("component%d value%d", i, i)))
	}
	storetest.Compact(t, s, "talk")
	storetest.Must[conversation.Rewound](t)(s.Conversation.Rewind(c, "talk", history.MainBranch,
		ids[28], conversation.RewindOptions{}))
	storetest.Must[conversation.Rewound](t)(s.Conversation.Rewind(c, "talk", history.MainBranch,
		ids[27], conversation.RewindOptions{}))
	out := string(storetest.Render(t, s, "talk", 0).Bytes)
	for i := 27; i < 40; i++ {
		if strings.Contains(out, fmt.Sprintf("component%d value", i)) {
			t.Errorf("message %d was rewound and is rendered", i)
		}
	}
	storetest.CheckEverythingOnce(t, s, "talk",
		storetest.Must[format.Value](t)(history.Tip(storetest.View(t, s), "talk",
			history.MainBranch)))
}

// What batches append leaves the window as what is appended one by one does, in one go or a few
// messages at a time.
func TestBatchesCutTheTail(t *testing.T) {
	for _, size := range []int{1, 7, 60} {
		s := storetest.Create(t, hotWindow...)
		var batch []conversation.Message
		for i := range 60 {
			batch = append(batch,
				conversation.Message{Role: "user", Text: fmt.Sprintf("component%d value%d", i, i)})
			if len(batch) < size && i < 59 {
				continue
			}
			if _, _, err := s.Conversation.Append(context.Background(), "talk", history.MainBranch,
				batch, conversation.AppendOptions{NoGraduation: true}); err != nil {
				t.Fatal(err)
			}
			storetest.Must[clusters.Graduation](t)(
				s.Conversation.GraduateAndAdopt(context.Background(), "talk", history.MainBranch))
			if n := len(tailOf(t, s, "talk", history.MainBranch)); n > 12 {
				t.Fatalf("batches of %d: %d messages are word for word after %d", size, n, i+1)
			}
			batch = nil
		}
		storetest.Check(t, s)
		storetest.CheckEverythingOnce(t, s, "talk",
			storetest.Must[format.Value](t)(history.Tip(storetest.View(t, s), "talk",
				history.MainBranch)))
	}
}
