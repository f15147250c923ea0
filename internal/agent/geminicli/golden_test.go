package geminicli

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

var update = flag.Bool("update", false, "write the golden files")

// readAll returns the steps of data.
func readAll(t testing.TB, data []byte) ([]transcript.Step, transcript.Stats) {
	t.Helper()
	var steps []transcript.Step
	stats, err := ReadAs("", bytes.NewReader(data), func(s transcript.Step) error {
		steps = append(steps, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return steps, stats
}

// trace prints steps for people, one a line, with everything that rules decide.
func trace(steps []transcript.Step) string {
	var b strings.Builder
	for _, s := range steps {
		if s.Kind == transcript.KindRewind {
			fmt.Fprintf(&b, "rewind %q\n", s.RewindTo.Message)
			continue
		}
		m := s.Message
		kind := "message"
		if m.Note {
			kind = "note"
		}
		fmt.Fprintf(&b, "%s %s %s", kind, m.Role, m.Origin.Message)
		if m.Parts != nil {
			fmt.Fprintf(&b, " parts=%s", m.Parts)
		} else {
			fmt.Fprintf(&b, " text=%q", m.Text)
		}
		for _, c := range m.Calls {
			fmt.Fprintf(&b, " call=%s/%s", c.ID, c.Tool)
		}
		for _, id := range m.Results {
			fmt.Fprintf(&b, " answers=%s", id)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// traceAll adds what a golden file shows besides.
func traceAll(steps []transcript.Step, stats transcript.Stats) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteString(trace([]transcript.Step{s}))
		m := s.Message
		fmt.Fprintf(&b, "\tsession %s %s author %q time %s tokens %d record %s\n", s.Session,
			m.Origin.Session, m.Author, transcript.Stamp(m.Time), m.Tokens, m.Record)
	}
	fmt.Fprintf(&b, "%+v\n", stats)
	return b.String()
}

func transcripts(t testing.TB) []string {
	t.Helper()
	lines, err := filepath.Glob("testdata/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	documents, err := filepath.Glob("testdata/*.json")
	files := append(lines, documents...)
	if err != nil || len(files) < 3 {
		t.Fatalf("transcripts in testdata: %v, %v", files, err)
	}
	return files
}

func TestGolden(t *testing.T) {
	for _, file := range transcripts(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
			got := traceAll(readAll(t, data))
			golden := file + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != strings.ReplaceAll(string(want), "\r\n", "\n") {
				t.Errorf("steps differ from %s; got:\n%s", golden, got)
			}
		})
	}
}

// checkMessage tests what every message promises, whatever the input.
func checkMessage(t testing.TB, m transcript.Message) {
	t.Helper()
	if (m.Text == "") == (m.Parts == nil) {
		t.Errorf("message %q: text %q and parts %s", m.Origin.Message, m.Text, m.Parts)
	}
	if m.Origin.Message == "" || m.Role == "" {
		t.Errorf("message without key or role: %+v", m)
	}
	var list []map[string]any
	if m.Parts != nil {
		if err := json.Unmarshal(m.Parts, &list); err != nil || len(list) == 0 {
			t.Errorf("message %q: parts %s: %v", m.Origin.Message, m.Parts, err)
		}
	}
	if err := json.Unmarshal(m.Record, &list); err != nil {
		t.Errorf("message %q: normal %s: %v", m.Origin.Message, m.Record, err)
	}
	if m.Role == transcript.RoleTool && len(m.Results) != 1 {
		t.Errorf("result %q answers %q", m.Origin.Message, m.Results)
	}
}
