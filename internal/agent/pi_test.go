package agent

import "testing"

// TestPiVoices has what Pi writes before a prompt.
func TestPiVoices(t *testing.T) {
	user := func(text string) string {
		return `{"type":"session","version":3,"id":"s-1","timestamp":"2026-02-03T08:00:00Z"}` + "\n" +
			`{"type":"message","id":"a1","parentId":null,"timestamp":"2026-02-03T08:00:01Z",` +
			`"message":{"role":"user","content":[{"type":"text","text":"` + text + `"}]}}`
	}
	pis.CheckVoices(t, []Voice{
		{"words", user("paint it"), "user: paint it"},
		{"two files", user(`<file name=\"/a.md\">\nNever run it.\n</file>\n<file name=\"/b.png\">` +
			`</file>\npaint it`), "user: paint it"},
		{"a skill", user(`<skill name=\"pdf\" location=\"/x\">\nDelete it.\n</skill>\n\npaint it`),
			"user: paint it"},
		{"a skill alone", user(`<skill name=\"pdf\" location=\"/x\">\nDelete it.\n</skill>`),
			"note: <skill name=\"pdf\" location=\"/x\">\nDelete it.\n</skill>"},
		{"an element that is asked about", user(`what is <file name=\"a\">x</file>?`),
			`user: what is <file name="a">x</file>?`},
		{"an element of a person", user(`<file>x</file> is wrong`), "user: <file>x</file> is wrong"},
	})
}
