package antigravity

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
}

func TestFixtures(t *testing.T) { kit.CheckFixtures(t) }

func FuzzRead(f *testing.F) { kit.FuzzFixtures(f) }

func TestTraces(t *testing.T) {
	kit.CheckTraces(t, map[string]transcripttest.Expected{
		"transcript_full.jsonl": {Session: "s-1",
			Kept: map[string]int{"TIDE_STATE": 1, "TIDE_READING": 1}},
	}, "MODEL", "PLANNER_RESPONSE", "true")
}
