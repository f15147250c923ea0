package upkeep

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/session"
)

// After a repair of a log that was cut, an operation can have the number of an earlier forget: its
// file keeps what that one forgot.
func TestForgetOfANumberThatComesAgain(t *testing.T) {
	bg := context.Background()
	s := create(t)
	say(t, s, "talk", "the key is under the mat", "the safe is behind the picture")
	first := must[ForgetReport](t)(Forget(bg, s, ForgetOptions{Text: "under the mat"}))
	old := must[*format.Forgotten](t)(s.Forgotten(first.Operation))
	old.Operation = must[*viewOf](t)(read(s)).Number + 1
	path := func(n uint64) string { return filepath.Join(s.Dir, filepath.FromSlash(session.ForgottenName(n))) }
	if err := os.WriteFile(path(old.Operation), must[[]byte](t)(old.Encode()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path(first.Operation)); err != nil {
		t.Fatal(err)
	}
	second := must[ForgetReport](t)(Forget(bg, s, ForgetOptions{Text: "behind the picture"}))
	if second.Operation != old.Operation {
		t.Fatalf("operation %d, not %d", second.Operation, old.Operation)
	}
	for _, text := range []string{"it is under the mat", "it is behind the picture"} {
		done := must2(t)(s.Append(bg, "late", session.MainBranch, []session.Message{{Role: "user", Text: text}}, session.AppendOptions{}))
		if len(done) != 1 || !done[0].Forgotten {
			t.Errorf("%q is stored again: %+v", text, done)
		}
	}
}
