package agent

import (
	"testing"
)

// Who said what is in an event of the user.
func TestCopilotVoices(t *testing.T) {
	user := func(data string) string {
		return `{"type":"user.message","data":{` + data + `},"id":"e1","timestamp":"2026-02-03T08:00:00.000Z","parentId":null}`
	}
	copilots.CheckVoices(t, []Voice{
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
