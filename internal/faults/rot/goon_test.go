package rot

import (
	"context"
	"testing"

	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/session"
)

// goOn appends a message to a branch.
func goOn(s *session.Store, name, branch string) error {
	_, _, err := s.Conversation.Append(context.Background(), name, branch,
		[]conversation.Message{{Role: "user", Text: "it goes on"}}, conversation.AppendOptions{})
	return err
}

func faults(t testing.TB, s *session.Store) []fsck.Fault {
	t.Helper()
	report, err := fsck.Run(context.Background(), s.Opened, fsck.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return report.Faults
}
