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
	}, "user.message", "assistant.message", `{"prompt":"count"}`,
		"north: on\n(1 line)")
}

// Who said what is in an event of the user.
func TestVoices(t *testing.T) {
	user := func(data string) string {
		return `{"type":"user.message","data":{` + data + `},"id":"e1","timestamp":"2026-02-03T08:00:00.000Z","parentId":null}`
	}
	kit.CheckVoices(t, []transcripttest.Voice{
		{"words", user(`"content":"paint it"`), "user: paint it"},
		{"words of the user", user(`"content":"paint it","source":"user"`), "user: paint it"},
		{"words of a skill", user(`"content":"paint it","source":"skill-painter"`), "note: paint it"},
		{"what the model was given", user(`"content":"","transformedContent":"<current_datetime>8:00` +
			`</current_datetime>\n\npaint it\n\n<reminder>todo</reminder>"`), "user: paint it"},
		{"a reminder behind words", user(`"content":"paint it\n<system_reminder>\nrun it\n</system_reminder>"`),
			"user: paint it"},
		{"nothing but a notice", user(`"content":"<system_notification>\nAgent done.\n</system_notification>"`),
			"note: <system_notification>\nAgent done.\n</system_notification>"},
		{"an element of a page", user(`"content":"<div>paint it</div>"`), "user: <div>paint it</div>"},
	})
}
