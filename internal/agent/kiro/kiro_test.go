package kiro

import (
	"io"
	"os"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/agent/transcript/transcripttest"
)

var kit = transcripttest.Format{
	Read: func(r io.Reader, emit func(transcript.Step) error) (transcript.Stats, error) {
		return Read("s-1", r, emit)
	},
}

func TestFixtures(t *testing.T) { kit.CheckFixtures(t) }

func FuzzRead(f *testing.F) { kit.FuzzFixtures(f) }

func TestTraces(t *testing.T) {
	kit.CheckTraces(t, map[string]transcripttest.Expected{
		"session.jsonl": {Session: "s-1", Kept: map[string]int{"role TideTable": 1}},
	}, "v1", "Prompt", "AssistantMessage", "ToolResults", "toolResult", "toolUse", "thinking", "text",
		"success", "error", "json", "exit status: 0", "north: on\n", "dim\n")
}

// The editor writes objects.
func TestEditor(t *testing.T) {
	data, err := os.ReadFile("testdata/editor.json")
	if err != nil {
		t.Fatal(err)
	}
	steps, _, stats := kit.Steps(t, data)
	want := "message user m1 \"Which lamps are lit?\"\nmessage model m2 \"The north one.\"\n"
	if got := transcripttest.Trace(steps); got != want || len(stats.Skipped) > 0 ||
		stats.Session != "c0000000-0000-4000-8000-000000000002" {
		t.Errorf("got\n%s%+v", got, stats)
	}
}
