package amp

import (
	"io"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/agent/transcript/transcripttest"
)

var kit = transcripttest.Format{
	Read: func(r io.Reader, emit func(transcript.Step) error) (transcript.Stats, error) {
		return Read("s-1", r, emit)
	},
	Whole: true,
}

func FuzzRead(f *testing.F) { kit.FuzzFixtures(f) }

func TestTraces(t *testing.T) {
	for _, data := range transcripttest.Fixtures(t) {
		kit.CheckErrors(t, string(data))
	}
	kit.CheckTraces(t, map[string]transcripttest.Expected{
		"thread.json": {Session: "T-e0000000-0000-4000-8000-000000000001",
			Kept: map[string]int{"role pilot": 1}},
		"export.json": {Session: "T-e0000000-0000-4000-8000-000000000002"},
	}, "user", "assistant", "text", "tool_use", "tool_result", "thinking", "done",
		"/src/quay/lamps.txt", // which file was read is in the call
		"quay", "file:///src/quay", "linux", "lamps.txt:1: on", "log.txt:2: on",
		"local-client", "medium", "2026-02-03T08:00:00.000Z", // of the program
		"file:///src/quay/lamps.txt", "update", "update: lamps.txt (+1/-1)",
		"--- lamps.txt\n+++ lamps.txt\n-south: off\n+south: on\n") // in one text
	if _, _, stats := kit.Steps(t, []byte(`{"messages":[]}`)); len(stats.Skipped) != 1 {
		t.Errorf("skipped %v", stats.Skipped)
	}
}
