package importer_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/importer"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/refs"
)

// claudeTree is a transcript of session, whose records are given with what they follow.
func claudeTree(session string, records ...[2]string) (in string) {
	for _, r := range records {
		id, up := session+"-"+r[0], r[1]
		if up != "" {
			up = session + "-" + up
		}
		in += strings.Replace(claudeRecord(id, up), `"sessionId":"s"`,
			fmt.Sprintf(`"sessionId":%q`, session), 1)
	}
	return in
}

// importTogether imports transcripts in one run, and returns what it told of them, in order.
func importTogether(
	t *testing.T, s *session.Store, as string, list ...transcript.Read,
) (told []importer.ImportedTranscript, errs []error) {
	t.Helper()
	ctx := context.Background()
	r := begin(t, s)
	then := func(done importer.ImportedTranscript, err error) error {
		told, errs = append(told, done), append(errs, err)
		return nil
	}
	for _, read := range list {
		if err := r.Import(ctx, importer.ReadAhead(ctx, read), as, then); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Flush(); err != nil {
		t.Fatal(err)
	}
	return told, errs
}

// operations returns the operations of a verb, oldest first.
func operations(t *testing.T, s *session.Store, verb string) (list []*format.Operation) {
	t.Helper()
	if err := s.Refs.Backward(storetest.View(t, s), func(r refs.Record) bool {
		if r.Op.Verb == verb {
			list = append([]*format.Operation{r.Op}, list...)
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return list
}

// Transcripts that begin sessions are recorded in one operation, with the messages and reports that
// they have where each is imported by itself.
func TestImportTogether(t *testing.T) {
	rollout, _, _ := rollouts()
	list := []transcript.Read{
		readClaude(claudeTree("one", [2]string{"a", ""}, [2]string{"b", "a"})),
		// Ends on the first line
		readClaude(claudeTree("two", [2]string{"a", ""}, [2]string{"b", "a"}, [2]string{"c", "a"},
			[2]string{"d", "b"})),
		readClaude(claudeTree("three", [2]string{"a", ""}, [2]string{"b", "a"}, [2]string{"c", "a"},
			[2]string{"d", "c"})),
		readCodex(strings.ReplaceAll(rollout, `"p"`, `"four"`)),
	}
	sessions := []string{"one", "two", "three", "four"}
	s, alone := storetest.Create(t), storetest.Create(t)
	told, errs := importTogether(t, s, "", list...)
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for i, read := range list {
		want := storetest.Must[importer.ImportedTranscript](t)(
			alone.Importer.ImportTranscript(context.Background(), read, ""))
		if got := told[i]; got.Session != sessions[i] ||
			fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("%s: got\n%+v\nwant\n%+v", sessions[i], got, want)
		}
		if got, want := spokenIn(t, s, sessions[i]),
			spokenIn(t, alone, sessions[i]); !reflect.DeepEqual(got, want) || len(got) == 0 {
			t.Errorf("%s: got %q, want %q", sessions[i], got, want)
		}
	}
	ops := operations(t, s, refs.VerbImport)
	if n := len(ops); n == 0 || n >= len(operations(t, alone, refs.VerbImport)) {
		t.Errorf("%d operations", n)
	}
	if ops[0].Session != "" || len(ops[0].Refs) != len(sessions)+1 { // and HEAD
		t.Errorf("about %q, moves %q", ops[0].Session, ops[0].RefNames())
	}

	number := storetest.View(t, s).Number
	again, _ := importTogether(t, s, "", list...)
	for i := range again {
		if was := told[i]; again[i].Messages+again[i].Notes+again[i].Rewinds != 0 ||
			again[i].Known != was.Messages+was.Notes {
			t.Errorf("imported again: %+v", again[i].Tally)
		}
	}
	if now := storetest.View(t, s).Number; now != number {
		t.Errorf("operation %d after %d, and nothing was new", now, number)
	}
}

// Undo and redo concern one session of several that an operation began.
func TestUndoOneOfSeveral(t *testing.T) {
	ctx := context.Background()
	s := storetest.Create(t)
	importTogether(t, s, "",
		readClaude(claudeTree("one", [2]string{"a", ""})),
		readClaude(claudeTree("two", [2]string{"a", ""}, [2]string{"b", "a"})),
		readClaude(claudeTree("three", [2]string{"a", ""})))
	there := func(want ...bool) {
		t.Helper()
		for i, name := range []string{"one", "two", "three"} {
			if got := storetest.View(t, s).Get(history.RefName(name, history.MainBranch)).
				Exists(); got != want[i] {
				t.Errorf("session %s is there: %v, want %v", name, got, want[i])
			}
		}
	}
	there(true, true, true)
	storetest.Must[conversation.Undone](t)(s.Conversation.Undo(ctx, "two"))
	there(true, false, true)
	storetest.Must[conversation.Undone](t)(s.Conversation.Undo(ctx, "three"))
	there(true, false, false)
	storetest.Must[conversation.Undone](t)(s.Conversation.Redo(ctx, "two"))
	there(true, true, false)
	if said := spokenIn(t, s, "two"); len(said) != 2 {
		t.Errorf("%q", said)
	}
}

// A transcript that goes on with a session that waits, or that fails, lets those before it be
// recorded first. Reports come in order.
func TestImportTogetherInOrder(t *testing.T) {
	s := storetest.Create(t)
	short := claudeTree("one", [2]string{"a", ""})
	broken := errors.New("broken")
	told, errs := importTogether(t, s, "",
		readClaude(short),
		readClaude(claudeTree("two", [2]string{"a", ""})),
		readClaude(short+claudeTree("one", [2]string{"b", "a"})),
		func(func(transcript.Step) error) (transcript.Stats, error) {
			return transcript.NewStats(), broken
		},
		readClaude(claudeTree("three", [2]string{"a", ""})))
	for i, want := range []struct {
		session    string
		new, known int
		err        error
	}{{"one", 1, 0, nil}, {"two", 1, 0, nil}, {"one", 1, 1, nil}, {"", 0, 0, broken},
		{"three", 1, 0, nil}} {
		if got := told[i]; got.Session != want.session || got.Messages != want.new ||
			got.Known != want.known || !errors.Is(errs[i], want.err) {
			t.Errorf("%d: %q %+v %v, want %+v", i, got.Session, got.Tally, errs[i], want)
		}
	}
	if said := spokenIn(t, s, "one"); len(said) != 2 {
		t.Errorf("%q", said)
	}
}

// What a then returns ends the run, and nothing is imported after it.
func TestImportTogetherEnds(t *testing.T) {
	ctx := context.Background()
	s := storetest.Create(t)
	r := begin(t, s)
	full := errors.New("nowhere to print")
	then := func(importer.ImportedTranscript, error) error { return full }
	if err := r.Import(ctx,
		importer.ReadAhead(ctx, readClaude(claudeTree("one", [2]string{"a", ""}))), "",
		then); err != nil {
		t.Fatal(err)
	}
	if err := r.Flush(); !errors.Is(err, full) {
		t.Error(err)
	}
	if err := r.Import(ctx,
		importer.ReadAhead(ctx, readClaude(claudeTree("two", [2]string{"a", ""}))), "",
		then); !errors.Is(err, full) {
		t.Error(err)
	}
	for name, want := range map[string]bool{"one": true, "two": false} {
		if got := storetest.View(t, s).Get(history.RefName(name, history.MainBranch)).
			Exists(); got != want {
			t.Errorf("session %s is there: %v", name, got)
		}
	}
}

func BenchmarkImportMany(b *testing.B) {
	for range b.N {
		b.StopTimer()
		s := storetest.Create(b)
		r := storetest.Must[*importer.Imports](b)(s.Importer.BeginImports("build"))
		ctx := context.Background()
		b.StartTimer()
		for i := range 200 {
			in := claudeTree(fmt.Sprintf("s%d", i), [2]string{"a", ""}, [2]string{"b", "a"},
				[2]string{"c", "b"})
			if err := r.Import(ctx, importer.ReadAhead(ctx, readClaude(in)), "",
				func(_ importer.ImportedTranscript, err error) error { return err }); err != nil {
				b.Fatal(err)
			}
		}
		if err := r.Flush(); err != nil {
			b.Fatal(err)
		}
	}
}
