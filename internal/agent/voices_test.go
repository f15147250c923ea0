package agent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// Voice has a name, a record, and who said what of it: a line for each message, as "user: words" or
// "note: words".
type Voice [3]string

// CheckVoices reads records by themselves, and compares who said what. Where the agent's
// transcripts are written, too, one that is read and written says the same.
func (f *Format) CheckVoices(t *testing.T, rows []Voice) {
	t.Helper()
	for _, row := range rows {
		name, record, want := row[0], row[1], row[2]
		_, replay, _ := f.Steps(t, []byte(record+"\n"))
		got := voices(replay)
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if f.Write == nil {
			continue
		}
		out, _, err := f.Write(Items(replay.Threads[""]), transcript.WriteOptions{Session: "s-1"})
		if err != nil {
			t.Fatal(err)
		}
		if _, again, _ := f.Steps(t, out); voices(again) != got {
			t.Errorf("%s: %q once it was written: %s", name, voices(again), out)
		}
	}
}

func voices(replay *Replay) string {
	var said []string
	for _, m := range replay.Threads[""] {
		who := m.Role
		if m.Note {
			who = "note"
		}
		said = append(said, fmt.Sprintf("%s: %s", who, transcript.Words(&m)))
	}
	return strings.Join(said, "\n")
}
