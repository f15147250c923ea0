package importer_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/importer"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

func importAhead(
	t testing.TB, s *session.Store, read transcript.Read, as string,
) importer.ImportedTranscript {
	t.Helper()
	return storetest.Must[importer.ImportedTranscript](t)(
		tryAhead(context.Background(), t, s, read, as))
}

// tryAhead imports one transcript, which is read in a goroutine of its own.
func tryAhead(
	c context.Context, t testing.TB, s *session.Store, read transcript.Read, as string,
) (done importer.ImportedTranscript, failed error) {
	t.Helper()
	r := storetest.Must[*importer.Imports](t)(s.Importer.BeginImports("build"))
	err := r.Import(c, importer.ReadAhead(c, read), as,
		func(d importer.ImportedTranscript, err error) error {
			done, failed = d, err
			return nil
		})
	return done, errors.Join(failed, err, r.Flush())
}

// A transcript that was read ahead becomes the same messages, and the same report, also when it has
// grown.
func TestReadAhead(t *testing.T) {
	tree := [][2]string{{"a", ""}, {"b", "a"}, {"c", "b"}, {"d", "a"}, {"e", "c"}, {"f", "d"}}
	ahead, plain := storetest.Create(t), storetest.Create(t)
	in := `{"broken":` + "\n"
	for _, r := range tree {
		in += strings.ReplaceAll(claudeRecord(r[0], r[1]), "says ",
			`says password=\"hunter2Zq9x\" \u0007 `)
		got, want := importAhead(t, ahead, readClaude(in), ""), importClaude(t, plain, in, "")
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Fatalf("got\n%+v\nwant\n%+v", got, want)
		}
		if got, want := spokenIn(t, ahead, "s"), spokenIn(t, plain, "s"); !reflect.DeepEqual(got,
			want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	if said := strings.Join(spokenIn(t, ahead, "s"), " "); strings.Contains(said, "hunter2") ||
		strings.Contains(said, "\a") {
		t.Errorf("not cleaned: %s", said)
	}
}

// A reading that nobody imports ends, also where it waits for room.
func TestReadAheadEnds(t *testing.T) {
	said := strings.Repeat("word ", 1<<18)
	steps := 0
	var err error
	read := func(emit func(transcript.Step) error) (stats transcript.Stats, _ error) {
		for err == nil {
			err = emit(
				transcript.Step{Message: transcript.Message{Role: transcript.RoleUser, Text: said}})
			steps++
		}
		return transcript.NewStats(), err
	}
	importer.ReadAhead(context.Background(), read).Close()
	if err == nil || steps > 64 {
		t.Errorf("%d steps, error %v", steps, err)
	}
	c, cancel := context.WithCancel(context.Background())
	cancel()
	err = nil
	_, failed := tryAhead(c, t, storetest.Create(t), read, "s")
	if !errors.Is(failed, context.Canceled) {
		t.Errorf("error %v", failed)
	}
}

// The error of a message is that of the import, and the rest of the transcript is counted.
func TestReadAheadError(t *testing.T) {
	in := strings.ReplaceAll(claudeRecord("a", ""), `"sessionId":"s",`, "") + "{\n"
	s := storetest.Create(t)
	done, err := tryAhead(context.Background(), t, s, readClaude(in), "")
	if !errors.Is(err, history.ErrInput) || done.Stats.Skipped[transcript.SkipBadJSON] != 1 {
		t.Errorf("error %v, %+v", err, done.Stats)
	}
}
