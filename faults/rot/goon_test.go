package rot

import (
	"context"
	"testing"

	"github.com/gemini-ctx/ctx/session"
	"github.com/gemini-ctx/ctx/upkeep"
)

// goOn says something on a branch.
func goOn(s *session.Store, name, branch string) error {
	_, _, err := s.Append(context.Background(), name, branch, []session.Message{{Role: "user", Text: "it goes on"}}, session.AppendOptions{})
	return err
}

func faults(t testing.TB, s *session.Store) []upkeep.Fault {
	t.Helper()
	report, err := upkeep.Fsck(context.Background(), s, upkeep.FsckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return report.Faults
}
