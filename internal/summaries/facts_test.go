package summaries_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/summaries"
)

// callPart is a message of a model that calls a tool.
func callPart(id, name, args string) conversation.Message {
	parts := fmt.Sprintf(`[{"functionCall":{"id":%q,"name":%q,"args":%s}}]`, id, name, args)
	return conversation.Message{Role: "model", Parts: json.RawMessage(parts)}
}

// resultPart is the message that answers it.
func resultPart(id, name, output string) conversation.Message {
	parts := fmt.Sprintf(`[{"functionResponse":{"id":%q,"name":%q,"response":{"output":%q}}}]`,
		id, name, output)
	return conversation.Message{Role: "tool", Parts: json.RawMessage(parts)}
}

// exchangeOf is an exchange in which a file is read and changed, and a test fails.
func exchangeOf(goal, file string) []conversation.Message {
	return []conversation.Message{
		{Role: "user", Text: goal},
		callPart("1"+file, "Read", fmt.Sprintf(`{"file_path":%q,"offset":509,"limit":200}`, file)),
		resultPart("1"+file, "Read", "   714- }\n   715- secretOfTheOutput := limit\n"),
		callPart("2"+file, "Edit",
			fmt.Sprintf(`{"file_path":%q,"old_string":"a","new_string":"func backoffDelay() {}"}`,
				file)),
		resultPart("2"+file, "Edit", "ok"),
		callPart("3"+file, "Bash", `{"command":"go test ./upload"}`),
		resultPart("3"+file, "Bash", "--- FAIL: TestRetry (0.01s)\nexit status 1"),
		{Role: "model", Text: "The retry waits now."},
	}
}

func appendAll(t *testing.T, s *session.Store, session string, list []conversation.Message) {
	t.Helper()
	for _, m := range list {
		if _, _, err := s.Conversation.Append(context.Background(), session, history.MainBranch,
			[]conversation.Message{m}, conversation.AppendOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// messagesOf are the messages of a session's main branch.
func messagesOf(t *testing.T, s *session.Store, session string) (ids []format.ID) {
	t.Helper()
	tip := storetest.Must[format.Value](t)(history.Tip(storetest.View(t, s), session,
		history.MainBranch))
	for _, shown := range storetest.Must[[]*history.Shown](t)(
		s.Recall.Log(tip.ID, recall.LogOptions{})) {
		ids = append(ids, shown.ID)
	}
	return ids
}

// TestSourcesAreFacts: where a tool is called, messages say to a summarizer what was done.
func TestSourcesAreFacts(t *testing.T) {
	s := storetest.Create(t)
	appendAll(t, s, "agent", exchangeOf("Make the upload retry on 503.", "/app/upload/retry.go"))
	appendAll(t, s, "chat", []conversation.Message{
		{Role: "user", Text: "line 1\n  714- }"},
		{Role: "model",
			Parts: json.RawMessage(`[{"text":"a"},{"thought":true,"text":"hm"},{"text":"b"}]`)},
	})
	appendAll(t, s, "mixed",
		append(exchangeOf("Go on.", "x.go")[:3],
			conversation.Message{Role: "tool", Text: "nobody called me"},
			conversation.Message{Role: "system", Text: "be brief"}))
	for _, tt := range []struct {
		session string
		want    []string
	}{
		{"agent", []string{
			"user|Make the upload retry on 503.", "model|read /app/upload/retry.go", "tool|",
			"model|edited /app/upload/retry.go: backoffDelay", "tool|",
			"model|ran go test ./upload: ", "tool|--- FAIL: TestRetry",
			"model|The retry waits now.",
		}},
		{"chat", []string{"user|line 1\n  714- }", "model|a\nb"}},
		{"mixed",
			[]string{"user|Go on.", "model|read x.go", "tool|", "tool|nobody called me",
				"system|be brief"}},
	} {
		got := storetest.Must[[]summarize.Source](t)(s.Summaries.Sources(storetest.View(t, s),
			messagesOf(t, s, tt.session)))
		if len(got) != len(tt.want) {
			t.Fatalf("%s: %d sources, want %d", tt.session, len(got), len(tt.want))
		}
		for i, w := range tt.want {
			said := got[i].Role + "|" + got[i].Text
			exact := strings.HasSuffix(w, "|") ||
				!strings.Contains(w, "go test") && !strings.Contains(w, "FAIL")
			if exact && said != w ||
				!strings.HasPrefix(said, w) && !strings.HasPrefix(w, "tool|---") {
				t.Errorf("%s: source %d is %q, want %q", tt.session, i, said, w)
			}
		}
	}
}

// recorder keeps what it is asked.
type recorder struct{ asks []summarize.Request }

func (a *recorder) Summarize(_ context.Context, ask summarize.Request) (summarize.Response, error) {
	a.asks = append(a.asks, ask)
	return summarize.Response{Text: "The upload retries.", Summarizer: "test", Version: "1"}, nil
}

func (a *recorder) Limit() int { return 10_000 }

// TestModelIsAskedAboutFacts: no output of a tool reaches a summarizer that words, nor the claims
// of a worker.
func TestModelIsAskedAboutFacts(t *testing.T) {
	s := storetest.Create(t, "window.graduate_at=1", "window.evict_at=1")
	appendAll(t, s, "agent", exchangeOf("Make the upload retry on 503.", "/app/upload/retry.go"))
	appendAll(t, s, "agent",
		[]conversation.Message{{Role: "user", Text: "Thanks."}, {Role: "user", Text: "Bye."}})
	var claimed []summarize.Input
	storetest.Must[clusters.Graduation](t)(s.Conversation.Graduate(context.Background(), "agent",
		history.MainBranch))
	err := s.Compaction.Claims(context.Background(), storetest.View(t, s), 0,
		func(c compaction.Claim) error { claimed = append(claimed, c.Inputs...); return nil })
	if err != nil {
		t.Fatal(err)
	}
	a := &recorder{}
	o := compaction.CompactOptions{
		Branches:   []history.BranchName{{Session: "agent", Branch: history.MainBranch}},
		Summarizer: a,
	}
	if done := storetest.Must[summaries.Compaction](t)(s.Compaction.Compact(context.Background(),
		o)); done.Settled == 0 {
		t.Fatalf("nothing was settled: %+v", done)
	}
	var said []summarize.Input
	for _, ask := range a.asks {
		said = append(said, ask.Inputs...)
	}
	for name, list := range map[string][]summarize.Input{"the summarizer": said,
		"the worker": claimed} {
		all := ""
		for _, p := range list {
			all += p.Text + "\n"
		}
		if strings.Contains(all, "secretOfTheOutput") || strings.Contains(all, "509") ||
			!strings.Contains(all, "edited /app/upload/retry.go") {
			t.Errorf("%s is told %q", name, all)
		}
	}
}
