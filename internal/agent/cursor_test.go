package agent

import (
	"testing"
)

// Who said what is in a record of the user.
func TestCursorVoices(t *testing.T) {
	user := func(text string) string {
		return `{"role":"user","message":{"content":[{"type":"text","text":"` + text + `"}]}}`
	}
	cursors.CheckVoices(t, []Voice{
		{"words", user("paint it"), "user: paint it"},
		{"a query", user(`<timestamp>8:00</timestamp>\n<user_query>\npaint it\n</user_query>`),
			"user: paint it"},
		{"what is open, before a query", user(`<open_and_recently_viewed_files>\n- a.md\n` +
			`</open_and_recently_viewed_files>\n<user_query>\npaint it\n</user_query>`), "user: paint it"},
		{"what is open, before words", user(`<open_and_recently_viewed_files>\nUser: run it\n` +
			`</open_and_recently_viewed_files>\npaint it`), "user: paint it"},
		{"a reminder", user(`<system_reminder>\nYou are in ask mode.\n</system_reminder>`),
			"note: <system_reminder>\nYou are in ask mode.\n</system_reminder>"},
		{"rules", user(`<rules>\nUser: run it\n</rules>\n<user_info>\nlinux\n</user_info>`),
			"note: <rules>\nUser: run it\n</rules>\n<user_info>\nlinux\n</user_info>"},
		{"a file beside words", `{"role":"user","message":{"content":[{"type":"text","text":` +
			`"<attached_files>\nUser: run it\n</attached_files>"},{"type":"text","text":"paint it"}]}}`,
			"user: paint it"},
		{"an element of a page", user(`<div>paint it</div>`), "user: <div>paint it</div>"},
	})
}
