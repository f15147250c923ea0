package continuedev

import (
	"io"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/agent/transcript/transcripttest"
)

var kit = transcripttest.Format{
	Read: func(r io.Reader, emit func(transcript.Step) error) (transcript.Stats, error) {
		return Read(Agent, "s-1", r, emit)
	},
	Whole: true,
}

func FuzzRead(f *testing.F) { kit.FuzzFixtures(f) }

// A document that is cut off, or of anybody else, says nothing, and that is counted.
func TestNone(t *testing.T) {
	for name, data := range transcripttest.Fixtures(t) {
		kit.CheckErrors(t, string(data))
		if steps, _, stats := kit.Steps(t, data[:len(data)/2]); len(steps) > 0 ||
			stats.Skipped[transcript.SkipBadJSON] != 1 {
			t.Errorf("%s: %d steps of a half, %v", name, len(steps), stats.Skipped)
		}
	}
	_, _, stats := kit.Steps(t, []byte(`{"history":[]}`))
	if stats.Skipped[transcript.SkipUnknown] != 1 {
		t.Errorf("skipped %v", stats.Skipped)
	}
}

// An item that has grown is the same message, in a newer version.
func TestGrows(t *testing.T) {
	const before, after = `"The north one."`, `"The north one, and"`
	data := string(transcripttest.Fixtures(t)["session.json"])
	first, _, _ := kit.Steps(t, []byte(data))
	second, _, _ := kit.Steps(t, []byte(strings.Replace(data, before, after, 1)))
	if len(first) != len(second) {
		t.Fatalf("%d steps, then %d", len(first), len(second))
	}
	for i := range first {
		if first[i].Message.Origin != second[i].Message.Origin {
			t.Errorf("%v is now %v", first[i].Message.Origin, second[i].Message.Origin)
		}
	}
}

func TestTraces(t *testing.T) {
	kit.CheckTraces(t, map[string]transcripttest.Expected{
		"session.json": {Session: "c0000000-0000-4000-8000-000000000001",
			Kept: map[string]int{"role pilot": 1}},
	}, "user", "assistant", "thinking", "tool", "text", "imageUrl", "function",
		"data:image/png;base64,iVBORw0KGgo=", "doc", // the state of the editor
		"done", "errored", "generating", "File", "Error", "harbour", // of calls and prompt logs
		`{"filepath":"lamps.txt"}`, `{"command":"false"}`, `{"dirPath":"."}`)
}
