package copilot

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
		"events.jsonl": {Session: "c0000000-0000-4000-8000-000000000001", Version: "1.0.102",
			Kept: map[string]int{"session.tide": 1}},
		"old.jsonl": {Session: "c0000000-0000-4000-8000-000000000002", Version: "0.0.420"},
	}, "user.message", "assistant.message", `{"prompt":"count"}`)
}
