package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
)

// A stable rendering of a session that grows, record by record, only grows at its end, but for a
// few steps at which it is made anew, and keeps to its budget.
func TestStableRendering(t *testing.T) {
	const budget = "1500"
	for _, name := range []string{"alarm-flap", "offline-queue"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, name+".jsonl")
			data, err := os.ReadFile(filepath.Join("testdata", "sessions", name+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			must := func(args ...string) string {
				code, out, errs := runIn(t, dir, "", args...)
				if code != 0 {
					t.Fatalf("ctx %v: exit code %d: %s", args, code, errs)
				}
				return out
			}
			must("init")
			lines := bytes.SplitAfter(data, []byte("\n"))
			grew, anew, before := 0, 0, ""
			for n := 8; n < len(lines); n += 5 {
				if err := os.WriteFile(file, bytes.Join(lines[:n], nil), 0o600); err != nil {
					t.Fatal(err)
				}
				must("import", "claude-code", file)
				now := must("render", "--stable", "--budget", budget)
				if units := len(utf16.Encode([]rune(now))); units > 4*1500+3 {
					t.Fatalf("after %d records: %d units", n, units)
				}
				switch {
				case now == before:
				case strings.HasPrefix(now, before):
					grew++
				default:
					anew++
				}
				before = now
			}
			if t.Logf("grew %d times, made anew %d times", grew, anew); anew == 0 || grew < 3*anew {
				t.Errorf("it grew %d times, and was made anew %d times", grew, anew)
			}
		})
	}
}
