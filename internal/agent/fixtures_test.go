package agent

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

var update = flag.Bool("traces", false, "write the traces of the fixtures")

// Fixtures returns the transcripts in testdata, by the names of the files: JSON lines or, where
// there are none, JSON documents.
func (f *Format) Fixtures(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(f.Dir + "/*.jsonl")
	if len(files) == 0 {
		files, err = filepath.Glob(f.Dir + "/*.json")
	}
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	all := map[string][]byte{}
	for _, file := range files {
		if all[filepath.Base(file)], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// CheckFixtures holds a reader to its promises for the fixtures: whole, cut, torn, damaged, and
// from an input that breaks.
func (f *Format) CheckFixtures(t *testing.T) {
	t.Helper()
	for name, data := range f.Fixtures(t) {
		for cut := 0; cut < len(data); cut += 97 {
			f.Check(t, data, cut)
		}
		f.CheckErrors(t, string(data))
		whole, _, stats := f.Steps(t, data)
		torn, _, after := f.Steps(t,
			append(bytes.TrimSpace(bytes.Clone(data)), "\n{\"type\":\"mess"...))
		if len(torn) != len(whole) ||
			after.Skipped[transcript.SkipTornTail] != stats.Skipped[transcript.SkipTornTail]+1 {
			t.Errorf("%s, torn: %d steps of %d, %v", name, len(torn), len(whole), after.Skipped)
		}
		odd, _, after := f.Steps(t, append([]byte("7\n{\"x\":1}\n{broken\n\x00\n"), data...))
		if len(odd) != len(whole) || after.Skipped[transcript.SkipUnknown] != 2 ||
			after.Skipped[transcript.SkipBadJSON] != 1 {
			t.Errorf("%s, odd: %d steps of %d, %v", name, len(odd), len(whole), after.Skipped)
		}
	}
}

// FuzzFixtures fuzzes Check with the fixtures, their lines, and more as seeds.
func (f *Format) FuzzFixtures(fuzz *testing.F, more ...string) {
	for _, seed := range more {
		fuzz.Add([]byte(seed), uint(len(seed)/2))
	}
	for _, data := range f.Fixtures(fuzz) {
		fuzz.Add(data, uint(len(data)/2))
		for line := range strings.Lines(string(data)) {
			fuzz.Add([]byte(line), uint(len(line)/2))
		}
	}
	fuzz.Fuzz(func(t *testing.T, data []byte, cut uint) { f.Check(t, data, int(cut%(1<<30))) })
}

// Expected is what a reader says of a fixture.
type Expected struct {
	Session, Version string
	Kept             map[string]int
}

// CheckTraces reads the fixtures and compares their steps with the traces beside them; -traces
// writes these. No string of a fixture is lost: dropped are those that need not come back.
func (f *Format) CheckTraces(t *testing.T, want map[string]Expected, dropped ...string) {
	t.Helper()
	for name, data := range f.Fixtures(t) {
		steps, _, stats := f.Steps(t, data)
		golden := filepath.Join(f.Dir,
			strings.TrimSuffix(name, filepath.Ext(name))+".trace")
		got := Trace(steps)
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		trace, err := os.ReadFile(golden)
		if err != nil || got != string(trace) {
			t.Errorf("%s: got\n%s\nwant\n%s%v", name, got, trace, err)
		}
		w := want[name]
		if !maps.Equal(stats.Kept, w.Kept) || len(stats.Skipped) > 0 ||
			stats.Version != w.Version || stats.Session != w.Session {
			t.Errorf("%s: %+v", name, stats)
		}
		f.CheckKept(t, data, dropped...)
	}
}

// What stands behind a document is counted, and the document is read.
func TestBehindDocument(t *testing.T) {
	each(t, func(f *Format) bool { return f.Whole }, func(t *testing.T, f *Format) {
		for name, data := range f.Fixtures(t) {
			want, _, _ := f.Steps(t, data)
			for _, tail := range []string{"\nSession saved.\n", strings.Repeat("\x00", 500)} {
				got, _, stats := f.Steps(t, append(bytes.Clone(data), tail...))
				if Trace(got) != Trace(want) || len(stats.Skipped) == 0 {
					t.Errorf("%s, and %.9q: %v\n%s", name, tail, stats.Skipped, Trace(got))
				}
			}
		}
	})
}
