package pi

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
		"session.jsonl": {Session: "e0000000-0000-4000-8000-000000000001", Kept: map[string]int{"tide_state": 1, "role pilot": 1}},
	}, "message", "user", "assistant", "toolResult", "text", "toolCall", "thinking", "image",
		"session", "model_change")
}
