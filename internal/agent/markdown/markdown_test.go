package markdown

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/agent/transcript/transcripttest"
)

var update = flag.Bool("update", false, "write the traces of the fixtures")

// readers are those of this package, by the fixture that each is tested with.
var readers = map[string]transcripttest.Format{
	"aider.md":         kitOf(ReadAider),
	"specstory.md":     kitOf(ReadSpecStory),
	"specstory-old.md": kitOf(ReadSpecStory),
}

func kitOf(
	read func(string, io.Reader, func(transcript.Step) error) (transcript.Stats, error),
) transcripttest.Format {
	return transcripttest.Format{Whole: true,
		Read: func(r io.Reader, emit func(transcript.Step) error) (transcript.Stats, error) {
			return read("s-1", r, emit)
		}}
}

func fixture(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestTraces(t *testing.T) {
	for name, kit := range readers {
		steps, _, stats := kit.Steps(t, []byte(fixture(t, name)))
		golden := filepath.Join("testdata", strings.TrimSuffix(name, ".md")+".trace")
		got := transcripttest.Trace(steps)
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(golden); err != nil || got != string(want) ||
			len(stats.Skipped) > 0 {
			t.Errorf("%s: got\n%s\nwant\n%s%v %+v", name, got, want, err, stats)
		}
	}
}

// A transcript with other ends of lines, or a mark in front, says the same, and one that is cut off
// says as much as it has: what was said before the last turn, which is a message and perhaps one
// with results, stays as it was.
func TestForms(t *testing.T) {
	for name, kit := range readers {
		text := fixture(t, name)
		whole, _, _ := kit.Steps(t, []byte(text))
		for _, in := range []string{strings.ReplaceAll(text, "\n", "\r\n"), "\xef\xbb\xbf" + text} {
			if other, _, _ := kit.Steps(t,
				[]byte(in)); transcripttest.Trace(other) != transcripttest.Trace(whole) {
				t.Errorf("%s: %q… says\n%s", name, in[:40], transcripttest.Trace(other))
			}
		}
		for at := range strings.Count(text, "\n") {
			lines := slices.Collect(strings.Lines(text))
			short, _, _ := kit.Steps(t, []byte(strings.Join(lines[:at], "")))
			n := max(0, len(short)-2)
			if n > len(whole) ||
				transcripttest.Trace(short[:n]) != transcripttest.Trace(whole[:n]) {
				t.Fatalf("%s up to line %d says\n%s", name, at, transcripttest.Trace(short))
			}
		}
	}
}

// What is no transcript says nothing, and that is counted.
func TestNone(t *testing.T) {
	for name, kit := range readers {
		for in, n := range map[string]int{"": 0, " \n": 0, "# Notes\n\n#### of mine  \n": 1} {
			steps, _, stats := kit.Steps(t, []byte(in))
			if len(steps) > 0 || stats.Skipped[transcript.SkipUnknown] != n {
				t.Errorf("%s: %q gives %d steps, %v", name, in, len(steps), stats.Skipped)
			}
		}
		kit.CheckErrors(t, fixture(t, name))
	}
}

func FuzzRead(f *testing.F) {
	for name := range readers {
		f.Add(fixture(f, name))
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, kit := range readers {
			kit.Check(t, []byte(text), 0)
		}
	})
}
