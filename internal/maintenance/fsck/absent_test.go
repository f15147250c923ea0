package fsck_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/internal/maintenance/gc"
	"github.com/gemini-ctx/ctx/internal/maintenance/kit"
	"github.com/gemini-ctx/ctx/internal/maintenance/repair"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/objects"
)

// The operation of a forget is in the log, and its file is gone: that is a fault, and a repair says
// what is lost by it.
func TestFsckOfAForgetWithoutItsFile(t *testing.T) {
	s := kit.Create(t)
	kit.Say(t, s, "talk", "a first message", "a secret", "a third message")
	storetest.Must[forget.Report](t)(forget.Run(context.Background(), s.Opened,
		forget.Options{Text: "a secret"}))
	kit.Say(t, s, "late", "a secret of old") // stored without its words
	kit.Clean(t, kit.Fresh(t, s))
	numbers := storetest.Must[[]uint64](t)(s.History.Forgets())
	if len(numbers) != 1 {
		t.Fatal(numbers)
	}
	path := filepath.Join(s.Dir, filepath.FromSlash(objects.ForgottenName(numbers[0])))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	faults := kit.FaultsOf(t, s)
	if len(faults) != 1 || faults[0].Kind != "absent" || faults[0].Path != path {
		t.Fatalf("got %v", faults)
	}

	report := storetest.Must[repair.Report](t)(
		repair.Run(context.Background(), storetest.Env(s.Dir, nil), repair.Options{}))
	if len(report.Left) != 0 || len(report.Lost) != 1 ||
		!strings.Contains(report.Lost[0], "may be said again") {
		t.Errorf("lost %q, left %v", report.Lost, report.Left)
	}
	kit.Clean(t, kit.Fresh(t, s))
	var gone *objects.GoneError
	if _, err := kit.Fresh(t, s).Objects.Get(kit.TipOf(t, s, "late")); !errors.As(err, &gone) {
		t.Errorf("what was forgotten is back, or is lost: %v", err)
	}
	if known := storetest.Must[*format.Forgotten](t)(
		kit.Fresh(t, s).History.Forgotten(numbers[0])); len(known.Objects) != 2 {
		t.Errorf("the file lists %d objects", len(known.Objects))
	}
}

// A record says that a body was forgotten, and no operation forgot it: the body was taken out by
// hand.
func TestFsckOfAMadeUpRecord(t *testing.T) {
	const long = "a message that has room for the words which were forgotten"
	for name, do := range map[string]func(s *session.Store) format.ID{
		"nothing was ever forgotten": func(s *session.Store) format.ID {
			kit.Say(t, s, "talk", long)
			return kit.TipOf(t, s, "talk")
		},
		"said before something was forgotten": func(s *session.Store) format.ID {
			kit.Say(t, s, "talk", long)
			id := kit.TipOf(t, s, "talk")
			kit.Say(t, s, "talk", "some long secret", "no more")
			storetest.Spread(t, s)
			storetest.Must[forget.Report](t)(forget.Run(context.Background(), s.Opened,
				forget.Options{Text: "long secret"}))
			return id
		},
		"too short for what was forgotten": func(s *session.Store) format.ID {
			kit.Say(t, s, "talk", "some long secret", "no more")
			storetest.Must[forget.Report](t)(forget.Run(context.Background(), s.Opened,
				forget.Options{Text: "some long secret"}))
			kit.Say(t, s, "talk", "short")
			return kit.TipOf(t, s, "talk")
		},
		"no entry": func(s *session.Store) format.ID {
			kit.Say(t, s, "talk", "one", "two", "three", "four", "five", "six", "seven", "eight",
				"nine", "ten")
			storetest.Must[forget.Report](t)(forget.Run(context.Background(), s.Opened,
				forget.Options{Text: "nine"}))
			storetest.Must[clusters.Graduation](t)(s.Conversation.Graduate(context.Background(),
				"talk", history.MainBranch))
			storetest.Must[summaries.Compaction](t)(s.Compaction.Compact(context.Background(),
				compaction.CompactOptions{Branches: []history.BranchName{{Session: "talk",
					Branch: history.MainBranch}}}))
			st := storetest.Must[kit.State](t)(s.History.Forest(storetest.View(t, s)))
			return st.Live()[0].Covers[0].Summary
		},
	} {
		s := kit.Create(t)
		id := do(s)
		kit.Clean(t, kit.Fresh(t, s))
		kit.TakeOut(t, s, id)
		faults := kit.FaultsOf(t, s)
		if len(faults) != 1 || faults[0].Subject != id.String() ||
			faults[0].Path != s.Objects.AbsentPath(id) {
			t.Errorf("%s: got %v", name, faults)
		}
	}
}

// What is said after it was forgotten is stored without its words, and that is no fault: not for a
// phrase, a message, parts or a source, and not when the operations are in the log no more.
func TestFsckOfWhatWasWithheld(t *testing.T) {
	bg := context.Background()
	s := kit.Create(t)
	kit.Say(t, s, "talk", "the key is under the mat", "no more")
	from := conversation.Message{Role: "user", Text: "imported words of old",
		Source: &conversation.Source{Agent: "test", Session: "x", Message: "1",
			Record: []byte("one")}}
	kit.Must2(t)(s.Conversation.Append(bg, "talk", history.MainBranch, []conversation.Message{from},
		conversation.AppendOptions{}))
	kit.ForgetEntry(t, s, kit.TipOf(t, s, "talk"))
	storetest.Must[forget.Report](t)(forget.Run(bg, s.Opened,
		forget.Options{Text: "under the mat"}))
	forgetfulParts := conversation.Message{Role: "user",
		Parts: []byte(
			`[{"text":"under "},{"text":"the mat, in two"},{"text":"it is under the mat"}]`)}
	from.Text, from.Source = "other words from there",
		&conversation.Source{Agent: "test", Session: "x", Message: "1", Record: []byte("two")}
	for name, m := range map[string]conversation.Message{
		"a phrase": {Role: "user", Text: "is it under the mat?"},
		"a text":   {Role: "user", Text: "imported words of old"},
		"parts":    forgetfulParts,
		"a source": from,
	} {
		done := kit.Must2(t)(s.Conversation.Append(bg, "late", history.MainBranch,
			[]conversation.Message{m}, conversation.AppendOptions{}))
		if len(done) != 1 || !done[0].Forgotten {
			t.Errorf("%s: %+v", name, done)
		}
	}
	kit.Clean(t, kit.Fresh(t, s))
	kit.Age(t, s, storetest.Start.Add(-30*kit.Day))
	s.Now = storetest.Clock(storetest.Start.Add(10 * kit.Day))
	s.Objects.Now = s.Now
	storetest.Must[gc.Report](t)(gc.Run(bg, s.Opened, gc.Options{}))
	kit.Clean(t, kit.Fresh(t, s))
}
