package geminicli

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// readAll returns the steps of data.
func readAll(t testing.TB, data []byte) ([]Step, Stats) {
	t.Helper()
	var steps []Step
	stats, err := Read(bytes.NewReader(data), func(s Step) error {
		steps = append(steps, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return steps, stats
}

// trace prints steps for people, one a line, with everything that rules decide.
func trace(steps []Step) string {
	var b strings.Builder
	for _, s := range steps {
		if s.Kind == KindRewind {
			fmt.Fprintf(&b, "rewind %q", s.RewindTo)
			if s.RewindUnknown {
				b.WriteString(" unknown")
			}
			b.WriteByte('\n')
			continue
		}
		m := s.Message
		fmt.Fprintf(&b, "%s %s %s", s.Kind, m.Role, m.Key)
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
		if m.Display != "" {
			fmt.Fprintf(&b, " display=%q", m.Display)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// traceAll adds what a golden file shows besides.
func traceAll(steps []Step, stats Stats) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteString(trace([]Step{s}))
		fmt.Fprintf(&b, "\toffset %d", s.Offset)
		if s.Kind != KindRewind {
			m := s.Message
			fmt.Fprintf(&b, " session %s author %q time %q tokens %d normal %s", m.Session, m.Author, m.Time, m.Tokens, m.Normal)
		}
		b.WriteByte('\n')
	}
	skipped := stats.Skipped
	stats.Skipped = nil
	fmt.Fprintf(&b, "%+v\n", stats)
	var reasons []string
	for reason := range skipped {
		reasons = append(reasons, reason)
	}
	sort.Strings(reasons)
	for _, reason := range reasons {
		fmt.Fprintf(&b, "skipped %q: %d\n", reason, skipped[reason])
	}
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
func checkMessage(t testing.TB, m Message) {
	t.Helper()
	if (m.Text == "") == (m.Parts == nil) {
		t.Errorf("message %q: text %q and parts %s", m.Key, m.Text, m.Parts)
	}
	if m.Key == "" || m.Role == "" {
		t.Errorf("message without key or role: %+v", m)
	}
	var list []map[string]any
	if m.Parts != nil {
		if err := json.Unmarshal(m.Parts, &list); err != nil || len(list) == 0 {
			t.Errorf("message %q: parts %s: %v", m.Key, m.Parts, err)
		}
	}
	if err := json.Unmarshal(m.Normal, &list); err != nil {
		t.Errorf("message %q: normal %s: %v", m.Key, m.Normal, err)
	}
	if m.Role == RoleTool && len(m.Results) != 1 {
		t.Errorf("result %q answers %q", m.Key, m.Results)
	}
}
