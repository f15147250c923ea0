package upkeep

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/sanitize"
	"github.com/gemini-ctx/ctx/session"
)

// faultsOf are the faults of a store as it is on disk.
func faultsOf(t testing.TB, s *session.Store) []Fault {
	t.Helper()
	return must[FsckReport](t)(Fsck(context.Background(), fresh(t, s), FsckOptions{})).Faults
}

// tipOf is the newest entry of a session.
func tipOf(t testing.TB, s *session.Store, name string) format.ID {
	t.Helper()
	return must[*viewOf](t)(read(s)).Get(session.RefName(name, session.MainBranch)).ID
}

// takeOut removes the body of a loose object by hand, and writes a record that it was forgotten.
func takeOut(t testing.TB, s *session.Store, id format.ID) {
	t.Helper()
	path := loosePath(s, id)
	header, _, whole := bytes.Cut(must[[]byte](t)(os.ReadFile(path)), []byte("\n\n"))
	record := format.Absent{Object: id, Reason: format.ReasonForgotten, Time: start}
	if err := os.MkdirAll(filepath.Dir(absentPath(s, id)), 0o700); err != nil || !whole {
		t.Fatal(whole, err)
	}
	err := errors.Join(os.WriteFile(path, append(header, '\n'), 0o600), os.WriteFile(absentPath(s, id), must[[]byte](t)(record.Encode()), 0o600))
	if err != nil {
		t.Fatal(err)
	}
}

// The operation of a forget is in the log, and its file is gone: that is a fault, and a repair says
// what is lost by it.
func TestFsckOfAForgetWithoutItsFile(t *testing.T) {
	s := create(t)
	say(t, s, "talk", "a first message", "a secret", "a third message")
	must[ForgetReport](t)(Forget(context.Background(), s, ForgetOptions{Text: "a secret"}))
	say(t, s, "late", "a secret of old") // stored without its words
	clean(t, fresh(t, s))
	numbers := must[[]uint64](t)(s.Forgets())
	if len(numbers) != 1 {
		t.Fatal(numbers)
	}
	path := filepath.Join(s.Dir, filepath.FromSlash(session.ForgottenName(numbers[0])))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	faults := faultsOf(t, s)
	if len(faults) != 1 || faults[0].Kind != "absent" || faults[0].Path != path {
		t.Fatalf("got %v", faults)
	}

	report := must[RepairReport](t)(Repair(context.Background(), env(s.Dir, nil), RepairOptions{}))
	if len(report.Left) != 0 || len(report.Lost) != 1 || !strings.Contains(report.Lost[0], "may be said again") {
		t.Errorf("lost %q, left %v", report.Lost, report.Left)
	}
	clean(t, fresh(t, s))
	var gone *objects.GoneError
	if _, err := fresh(t, s).Objects.Get(tipOf(t, s, "late")); !errors.As(err, &gone) {
		t.Errorf("what was forgotten is back, or is lost: %v", err)
	}
	if known := must[*format.Forgotten](t)(fresh(t, s).Forgotten(numbers[0])); len(known.Objects) != 2 {
		t.Errorf("the file lists %d objects", len(known.Objects))
	}
}

// A record says that a body was forgotten, and no operation forgot it: the body was taken out by
// hand.
func TestFsckOfAMadeUpRecord(t *testing.T) {
	const long = "a message that has room for the words which were forgotten"
	for name, do := range map[string]func(s *session.Store) format.ID{
		"nothing was ever forgotten": func(s *session.Store) format.ID {
			say(t, s, "talk", long)
			return tipOf(t, s, "talk")
		},
		"said before something was forgotten": func(s *session.Store) format.ID {
			say(t, s, "talk", long)
			id := tipOf(t, s, "talk")
			say(t, s, "talk", "some long secret", "no more")
			must[ForgetReport](t)(Forget(context.Background(), s, ForgetOptions{Text: "long secret"}))
			return id
		},
		"too short for what was forgotten": func(s *session.Store) format.ID {
			say(t, s, "talk", "some long secret", "no more")
			must[ForgetReport](t)(Forget(context.Background(), s, ForgetOptions{Text: "some long secret"}))
			say(t, s, "talk", "short")
			return tipOf(t, s, "talk")
		},
		"no entry": func(s *session.Store) format.ID {
			say(t, s, "talk", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
			must[ForgetReport](t)(Forget(context.Background(), s, ForgetOptions{Text: "nine"}))
			must[session.Graduation](t)(s.Graduate(context.Background(), "talk", session.MainBranch))
			must[session.Compaction](t)(s.Compact(context.Background(), session.CompactOptions{Branches: []session.BranchName{{Session: "talk", Branch: session.MainBranch}}}))
			st := must[stateOf](t)(s.Forest(must[*viewOf](t)(read(s))))
			return st.Live()[0].Covers[0].Summary
		},
	} {
		s := create(t)
		id := do(s)
		clean(t, fresh(t, s))
		takeOut(t, s, id)
		faults := faultsOf(t, s)
		if len(faults) != 1 || faults[0].Subject != id.String() || faults[0].Path != absentPath(s, id) {
			t.Errorf("%s: got %v", name, faults)
		}
	}
}

// What is said after it was forgotten is stored without its words, and that is no fault: not for a
// phrase, a message, parts or a source, and not when the operations are in the log no more.
func TestFsckOfWhatWasWithheld(t *testing.T) {
	bg := context.Background()
	s := create(t)
	say(t, s, "talk", "the key is under the mat", "no more")
	from := session.Message{Role: "user", Text: "imported words of old", Source: &session.Source{Agent: "test", Session: "x", Message: "1", Record: []byte("one")}}
	must2(t)(s.Append(bg, "talk", session.MainBranch, []session.Message{from}, session.AppendOptions{}))
	forget(t, s, tipOf(t, s, "talk"))
	must[ForgetReport](t)(Forget(bg, s, ForgetOptions{Text: "under the mat"}))
	forgetfulParts := session.Message{Role: "user", Parts: []byte(`[{"text":"under "},{"text":"the mat, in two"},{"text":"it is under the mat"}]`)}
	from.Text, from.Source = "other words from there", &session.Source{Agent: "test", Session: "x", Message: "1", Record: []byte("two")}
	for name, m := range map[string]session.Message{
		"a phrase": {Role: "user", Text: "is it under the mat?"},
		"a text":   {Role: "user", Text: "imported words of old"},
		"parts":    forgetfulParts,
		"a source": from,
	} {
		done := must2(t)(s.Append(bg, "late", session.MainBranch, []session.Message{m}, session.AppendOptions{}))
		if len(done) != 1 || !done[0].Forgotten {
			t.Errorf("%s: %+v", name, done)
		}
	}
	clean(t, fresh(t, s))
	age(t, s, start.Add(-30*day))
	s.Now = clock(start.Add(10 * day))
	s.Objects.Now = s.Now
	must[GCReport](t)(GC(bg, s, GCOptions{}))
	clean(t, fresh(t, s))
}

func must2(t testing.TB) func([]session.Appended, []sanitize.Finding, error) []session.Appended {
	return func(done []session.Appended, _ []sanitize.Finding, err error) []session.Appended {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
}

// A damaged record of an absent body is written again as what it was: forgotten, or lost.
func TestRepairOfAnAbsentRecord(t *testing.T) {
	s := create(t)
	say(t, s, "talk", "one", "two", "three")
	lost := tipOf(t, s, "talk")
	say(t, s, "talk", "four", "five")
	forgotten := tipOf(t, s, "talk")
	forget(t, s, forgotten)
	path := loosePath(s, lost)
	good := must[[]byte](t)(os.ReadFile(path))
	if err := os.WriteFile(path, good[:len(good)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	if report := must[RepairReport](t)(Repair(context.Background(), env(s.Dir, nil), RepairOptions{})); len(report.Left) > 0 {
		t.Fatal(report.Left)
	}
	if report := clean(t, fresh(t, s)); !strings.Contains(strings.Join(report.Notes, "\n"), "1 bodies are lost") {
		t.Errorf("notes: %q", report.Notes)
	}
	for id, want := range map[format.ID]string{lost: format.ReasonLost, forgotten: format.ReasonForgotten} {
		if err := os.WriteFile(absentPath(s, id), []byte("absent"), 0o600); err != nil {
			t.Fatal(err)
		}
		report := must[RepairReport](t)(Repair(context.Background(), env(s.Dir, nil), RepairOptions{Copy: filepath.Join(tempDir(t), "copy")}))
		a, err := readAbsent(id, absentPath(s, id))
		if err != nil || a.Reason != want || len(report.Left) > 0 {
			t.Errorf("%s: %+v, %v; left %v", want, a, err, report.Left)
		}
	}
}
