package agent

import (
	"testing"
)

// Who said what is in a step of the user.
func TestAntigravityVoices(t *testing.T) {
	user := func(source, text string) string {
		return `{"step_index":0,"source":"` + source + `","type":"USER_INPUT","status":"DONE",` +
			`"created_at":"2026-06-20T08:00:00Z","content":"` + text + `"}`
	}
	antigravitys.CheckVoices(t, []Voice{
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
