package conversation_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// D12: a session may be called anything that is not a path or a control character; case counts, on
// every file system.
func TestD12Names(t *testing.T) {
	s := storetest.Create(t)
	for _, name := range []string{"CON", "con", "a b", "ünï", "ses_7Q", "sés:on*?",
		strings.Repeat("x", 200)} {
		storetest.Say(t, s, name, "user", "in "+name)
	}
	for name, got := range storetest.Texts(t, s) {
		if len(got) != 1 ||
			got[0] != "in "+strings.TrimSuffix(strings.TrimPrefix(name, "sessions/"), "/main") {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, name := range []string{"", ".", "..", "a/b", "a\nb", "a\x00", " a",
		strings.Repeat("x", 201), "\xff"} {
		_, _, err := s.Conversation.Append(context.Background(), name, history.MainBranch,
			[]conversation.Message{{Role: "user", Text: "x"}}, conversation.AppendOptions{})
		if !errors.Is(err, history.ErrInput) {
			t.Errorf("session %q: %v", name, err)
		}
	}
}
