package session

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/session/view"
)

// hotWindow is small enough for a few dozen messages, and large enough to tell a tail from none.
var hotWindow = []string{"window.graduate_at=8", "window.evict_at=12", "forest.max_cold_clusters=9"}

func tailOf(t testing.TB, s *Store, session, branch string) []view.Message {
	t.Helper()
	return must[view.Input](t)(s.RenderInput(s.mustView(t), session, branch, view.Options{})).Tail
}

// After a rewind behind the frontier, or to just before it, the newest messages that are left are word for word; they stay so while the session goes on,
// and with calls and their results whole. An undo is no different.
func TestRewindKeepsTheNewestMessages(t *testing.T) {
	for _, to := range []int{58, 55, 50, 49, 36, 21, 12, 8, 3} {
		t.Run(fmt.Sprint(to), func(t *testing.T) {
			s := create(t, hotWindow...)
			c := context.Background()
			r := rand.New(rand.NewPCG(1, uint64(to)))
			var ids []format.ID
			for range 60 {
				ids = append(ids, say(t, s, "talk", "user", chatter(r)))
			}
			compact(t, s, "talk")
			must[Rewound](t)(s.Rewind(c, "talk", MainBranch, ids[to], RewindOptions{}))
			hot := func(left int) {
				t.Helper()
				tail := tailOf(t, s, "talk", MainBranch)
				if least := min(left, 6); len(tail) < least || len(tail) > 12 {
					t.Fatalf("%d of %d messages are word for word, want %d to 12", len(tail), left, least)
				}
				check(t, s)
				everythingOnce(t, s, "talk", must[format.Value](t)(Tip(s.mustView(t), "talk", MainBranch)))
			}
			hot(to)
			compact(t, s, "talk")
			hot(to)
			for i := range 30 {
				say(t, s, "talk", "user", chatter(r))
				hot(to + i + 1)
			}
			must[Undone](t)(s.Undo(c, "talk"))
			compact(t, s, "talk")
			hot(to + 29)
		})
	}
}

// A rewind of one prompt of an agent, which takes many messages away, leaves a tail that begins with no result whose call is before it.
func TestRewindOfAnAgentsPrompt(t *testing.T) {
	s := create(t, hotWindow...)
	var prompts []format.ID
	for p := range 6 {
		prompts = append(prompts, say(t, s, "zoo", "user", fmt.Sprint("prompt ", p)))
		for i := range 9 {
			id := fmt.Sprint(p, "-", i)
			call := fmt.Sprintf(`[{"functionCall":{"id":%q,"name":"read_file","args":{"path":"f%d"}}}]`, id, i)
			result := fmt.Sprintf(`[{"functionResponse":{"id":%q,"name":"read_file","response":{"output":"content %s"}}}]`, id, id)
			must[Appended](t)(sayParts(t, s, "model", call))
			must[Appended](t)(sayParts(t, s, "tool", result))
		}
	}
	must[Rewound](t)(s.Rewind(context.Background(), "zoo", MainBranch, prompts[5], RewindOptions{}))
	tail := tailOf(t, s, "zoo", MainBranch)
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

// A pin that has members of the tail is given up when they are rewound: none of their words is rendered.
func TestRewoundTailLeavesThePin(t *testing.T) {
	s := create(t, hotWindow...)
	c := context.Background()
	var ids []format.ID
	for i := range 40 {
		ids = append(ids, say(t, s, "talk", "user", fmt.Sprintf("component%d value%d", i, i)))
	}
	compact(t, s, "talk")
	must[Rewound](t)(s.Rewind(c, "talk", MainBranch, ids[28], RewindOptions{}))
	must[Rewound](t)(s.Rewind(c, "talk", MainBranch, ids[27], RewindOptions{}))
	out := string(render(t, s, "talk", 0).Bytes)
	for i := 27; i < 40; i++ {
		if strings.Contains(out, fmt.Sprintf("component%d value", i)) {
			t.Errorf("message %d was rewound and is rendered", i)
		}
	}
	everythingOnce(t, s, "talk", must[format.Value](t)(Tip(s.mustView(t), "talk", MainBranch)))
}

// What batches append leaves the window as what is appended one by one does, in one go or a few messages at a time.
func TestBatchesCutTheTail(t *testing.T) {
	for _, size := range []int{1, 7, 60} {
		s := create(t, hotWindow...)
		var batch []Message
		for i := range 60 {
			batch = append(batch, Message{Role: "user", Text: fmt.Sprintf("component%d value%d", i, i)})
			if len(batch) < size && i < 59 {
				continue
			}
			if _, _, err := s.Append(context.Background(), "talk", MainBranch, batch, AppendOptions{NoGraduation: true}); err != nil {
				t.Fatal(err)
			}
			must[Graduation](t)(s.GraduateAndLeave(context.Background(), "talk", MainBranch))
			if n := len(tailOf(t, s, "talk", MainBranch)); n > 12 {
				t.Fatalf("batches of %d: %d messages are word for word after %d", size, n, i+1)
			}
			batch = nil
		}
		check(t, s)
		everythingOnce(t, s, "talk", must[format.Value](t)(Tip(s.mustView(t), "talk", MainBranch)))
	}
}
