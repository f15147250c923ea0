package agent

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/markdown"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// markdowns are those of this package, by the fixture that each is tested with.
var markdowns = map[string]Format{
	"aider.md":         kitOf(markdown.ReadAider),
	"specstory.md":     kitOf(markdown.ReadSpecStory),
	"specstory-old.md": kitOf(markdown.ReadSpecStory),
}

func kitOf(
	read func(string, io.Reader, func(transcript.Step) error) (transcript.Stats, error),
) Format {
	return Format{Whole: true,
		Read: func(r io.Reader, emit func(transcript.Step) error) (transcript.Stats, error) {
			return read("s-1", r, emit)
		}}
}

func markdownFixture(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("markdown/testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestMarkdownTraces(t *testing.T) {
	for name, kit := range markdowns {
		steps, _, stats := kit.Steps(t, []byte(markdownFixture(t, name)))
		golden := filepath.Join("markdown/testdata", strings.TrimSuffix(name, ".md")+".trace")
		got := Trace(steps)
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

// A transcript with other "  " of lines, or a mark in front, says the same, and one that is cut off
// says as much as it has: what was said before the last turn, which is a message and perhaps one
// with results, stays as it was.
func TestMarkdownForms(t *testing.T) {
	for name, kit := range markdowns {
		text := markdownFixture(t, name)
		whole, _, _ := kit.Steps(t, []byte(text))
		for _, in := range []string{strings.ReplaceAll(text, "\n", "\r\n"), "\xef\xbb\xbf" + text} {
			if other, _, _ := kit.Steps(t,
				[]byte(in)); Trace(other) != Trace(whole) {
				t.Errorf("%s: %q… says\n%s", name, in[:40], Trace(other))
			}
		}
		for at := range strings.Count(text, "\n") {
			lines := slices.Collect(strings.Lines(text))
			short, _, _ := kit.Steps(t, []byte(strings.Join(lines[:at], "")))
			n := max(0, len(short)-2)
			if n > len(whole) ||
				Trace(short[:n]) != Trace(whole[:n]) {
				t.Fatalf("%s up to line %d says\n%s", name, at, Trace(short))
			}
		}
	}
}

// What is no transcript says nothing, and that is counted.
func TestMarkdownNone(t *testing.T) {
	for name, kit := range markdowns {
		for in, n := range map[string]int{"": 0, " \n": 0, "# Notes\n\n#### of mine  \n": 1} {
			steps, _, stats := kit.Steps(t, []byte(in))
			if len(steps) > 0 || stats.Skipped[transcript.SkipUnknown] != n {
				t.Errorf("%s: %q gives %d steps, %v", name, in, len(steps), stats.Skipped)
			}
		}
		kit.CheckErrors(t, markdownFixture(t, name))
	}
}

func FuzzMarkdown(f *testing.F) {
	for name := range markdowns {
		f.Add(markdownFixture(f, name))
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, kit := range markdowns {
			kit.Check(t, []byte(text), 0)
		}
	})
}

// allWords returns the words of a message with those that no model is shown, as transcript.Words
// does those that one is: texts, thoughts, arguments of calls and results, in order.
func allWords(m *transcript.Message) string {
	var all []string
	for _, p := range transcript.PartsOf(m) {
		text := p.Text
		switch p.Kind {
		case transcript.PartCall:
			text = string(p.Args)
		case transcript.PartResult:
			text, _ = p.Said()
		}
		all = append(all, text)
	}
	return strings.Join(all, "\n")
}
