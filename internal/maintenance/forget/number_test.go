package forget_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/internal/maintenance/kit"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/objects"
)

// After a repair of a log that was cut, an operation can have the number of an earlier forget: its
// file keeps what that one forgot.
func TestForgetOfANumberThatComesAgain(t *testing.T) {
	bg := context.Background()
	s := kit.Create(t)
	kit.Say(t, s, "talk", "the key is under the mat", "the safe is behind the picture")
	first := storetest.Must[forget.Report](t)(
		forget.Run(bg, s.Opened, forget.Options{Text: "under the mat"}))
	old := storetest.Must[*format.Forgotten](t)(s.History.Forgotten(first.Operation))
	old.Operation = storetest.View(t, s).Number + 1
	path := func(n uint64) string {
		return filepath.Join(s.Dir, filepath.FromSlash(objects.ForgottenName(n)))
	}
	if err := os.WriteFile(path(old.Operation), storetest.Must[[]byte](t)(old.Encode()),
		0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path(first.Operation)); err != nil {
		t.Fatal(err)
	}
	second := storetest.Must[forget.Report](t)(
		forget.Run(bg, s.Opened, forget.Options{Text: "behind the picture"}))
	if second.Operation != old.Operation {
		t.Fatalf("operation %d, not %d", second.Operation, old.Operation)
	}
	for _, text := range []string{"it is under the mat", "it is behind the picture"} {
		done := kit.Must2(t)(s.Conversation.Append(bg, "late", history.MainBranch,
			[]conversation.Message{{Role: "user", Text: text}}, conversation.AppendOptions{}))
		if len(done) != 1 || !done[0].Forgotten {
			t.Errorf("%q is stored again: %+v", text, done)
		}
	}
}
