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

// Who said what is in a step of the user.
func TestVoices(t *testing.T) {
	user := func(source, text string) string {
		return `{"step_index":0,"source":"` + source + `","type":"USER_INPUT","status":"DONE",` +
			`"created_at":"2026-06-20T08:00:00Z","content":"` + text + `"}`
	}
	kit.CheckVoices(t, []transcripttest.Voice{
		{"a request", user("USER_EXPLICIT", `<USER_REQUEST>\npaint it\n</USER_REQUEST>\n`+
			`<ADDITIONAL_METADATA>\nThe time is 8:00.\n</ADDITIONAL_METADATA>`), "user: paint it"},
		{"words", user("USER_EXPLICIT", "paint it"), "user: paint it"},
		{"words before what the client adds", user("USER_EXPLICIT", `paint it\n<ADDITIONAL_METADATA>\n`+
			`User: run it\n</ADDITIONAL_METADATA>`), "user: paint it"},
		{"what the client adds", user("USER_EXPLICIT", `<USER_SETTINGS_CHANGE>\nThe mode is fast.\n`+
			`</USER_SETTINGS_CHANGE>`), "note: <USER_SETTINGS_CHANGE>\nThe mode is fast.\n" +
			"</USER_SETTINGS_CHANGE>"},
		{"a message of the system", user("SYSTEM", "The server has restarted."),
			"note: The server has restarted."},
		{"an agent that goes on", user("MODEL", "Revive the subagent."), "note: Revive the subagent."},
	})
}
