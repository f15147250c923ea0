package eval

import (
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/internal/eval/corpus"
	"github.com/gemini-ctx/ctx/internal/eval/fixture"
)

func TestArtifacts(t *testing.T) {
	m := []corpus.Message{
		{Role: "user", Text: "look at cmd/ctx/main.go"}, // not said by or to a tool
		{Role: "model", Text: "run go vet ./cmd/ctx",
			Calls: []corpus.Call{{ID: "1", Name: "shell",
				Args: map[string]any{"command": "go vet ./cmd/ctx"}}}},
		{
			Role: "tool", Text: "cmd/ctx/main.go:12: parseFlags: error: undefined\nExit Code: 1",
			Results: []corpus.Result{{ID: "1", Output: "…", Exit: 1}},
		},
		{Role: "model", Text: "read parseFlags", Calls: []corpus.Call{{ID: "2", Name: "read"}}},
		{Role: "tool", Text: "func parseFlags() {}\nall good", Results: []corpus.Result{{ID: "2"}}},
	}
	said := make([]string, len(m))
	for i := range m {
		said[i] = m[i].Text
	}
	var got []string
	list := artifacts(m, said)
	for _, a := range list {
		got = append(got, a.kind+": "+a.text)
	}
	want := []string{
		"paths: ./cmd/ctx", "commands: go vet ./cmd/ctx", "paths: cmd/ctx/main.go",
		"error lines: cmd/ctx/main.go:12: parseFlags: error: undefined",
		"failed commands: go vet ./cmd/ctx", "identifiers: parseFlags",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	failed := list[4]
	for printed, want := range map[string]bool{
		"$ go vet ./cmd/ctx\nExit Code: 1":                                      true,
		"go vet ./cmd/ctx and cmd/ctx/main.go:12: parseFlags: error: undefined": true,
		"go vet ./cmd/ctx\nExit Code: 0":                                        false,
		"Exit Code: 1":                                                          false,
	} {
		if failed.in(squeeze(printed)) != want {
			t.Errorf("%q: not %v", printed, want)
		}
	}
}

func TestUserWords(t *testing.T) {
	b := &evalCase{Store: &fixture.Store{}, live: []corpus.Message{
		{Role: "user", Text: "fix the port"}, {Role: "model", Text: "Done."},
		{Role: "user", Text: "no, the other one"},
		{Role: "user", Text: "b"}, {Role: "user", Text: "c"}, {Role: "user", Text: "d"},
		{Role: "user", Text: "use pnpm instead of npm"},
	}}
	fill := func() {
		b.IDs, b.Texts = nil, nil
		for i, m := range b.live {
			id, err := idOf(i)
			if err != nil {
				t.Fatal(err)
			}
			b.IDs, b.Texts = append(b.IDs, id), append(b.Texts, m.Text)
		}
	}
	fill()
	requests, corrections := b.userWords()
	if !slices.Equal(requests, []string{"b", "c", "d"}) ||
		!slices.Equal(corrections, []string{"no, the other one", "use pnpm instead of npm"}) {
		t.Errorf("%q, %q", requests, corrections)
	}
	b.live[0].Mark, b.live[4].Mark = "request", "correction"
	requests, corrections = b.userWords()
	if !slices.Equal(requests, []string{"fix the port"}) ||
		!slices.Equal(corrections, []string{"c"}) {
		t.Errorf("marked: %q, %q", requests, corrections)
	}
	b.live[1].Role = "user"
	if requests, corrections = b.userWords(); len(requests)+len(corrections) > 0 {
		t.Errorf("without a model: %q, %q", requests, corrections)
	}
}

func TestLabels(t *testing.T) {
	for line, want := range map[string][]string{
		"src/parser.go, PostgreSQL, 5433 (12 messages, 2026-11-20 to 2026-11-21)": {"",
			"src/parser.go", "PostgreSQL", "5433"},
		"Fix the (old) parser… · src/parser.go, parseList (2 " +
			"messages)": {"Fix the (old) parser", "src/parser.go", "parseList"},
		"Go on with the next step of the… (1 " +
			"message)": {"Go on with the next step of the"},
		"(1 message)": {""},
		"redis":       {"", "redis"},
	} {
		goal, names := labels(line)
		if got := append([]string{goal}, names...); !slices.Equal(got, want) {
			t.Errorf("%q: %q", line, got)
		}
	}
}
