package cline

import (
	"io"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/agent/transcript/transcripttest"
)

var kit = transcripttest.Format{
	Read: func(r io.Reader, emit func(transcript.Step) error) (transcript.Stats, error) {
		return Read(Agent, "1770105600000", r, emit)
	},
}

// A task that is cut off gives the messages that are whole.
func TestCutOff(t *testing.T) {
	for name, data := range transcripttest.Fixtures(t) {
		whole, _, _ := kit.Steps(t, data)
		for cut := 1; cut < len(data)-2; cut += 97 {
			steps, _, stats := kit.Steps(t, data[:cut])
			if len(steps) > len(whole) || len(stats.Skipped) != 1 ||
				transcripttest.Trace(steps) != transcripttest.Trace(whole[:len(steps)]) {
				t.Fatalf("%s up to %d: %d steps, %v", name, cut, len(steps), stats.Skipped)
			}
		}
	}
}

func FuzzRead(f *testing.F) { kit.FuzzFixtures(f) }

func TestTraces(t *testing.T) {
	kit.CheckTraces(t, map[string]transcripttest.Expected{
		"task.json": {Session: "1770105600000", Kept: map[string]int{"role pilot": 1}},
	}, "user", "assistant", "text", "tool_use", "tool_result", "thinking", "image", "base64")
}
