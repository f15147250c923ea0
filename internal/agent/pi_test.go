package agent

import "testing"

// Who goes back to before the first prompt takes all back.
func TestPiTree(t *testing.T) {
	say := func(id, parent, role string) string {
		return `{"type":"message","id":"` + id + `","parentId":` + parent + `,"message":{"role":"` +
			role + `","content":[{"type":"text","text":"` + id + `"}]}}`
	}
	steps, _, _ := pis.Steps(t, []byte(lines(`{"type":"session","version":3,"id":"s-1"}`,
		say("a", "null", "user"), say("b", `"a"`, "assistant"), say("c", "null", "user"))))
	want := "message user a \"a\"\nmessage model b \"b\"\nrewind to a\nmessage user c \"c\"\n"
	if got := Trace(steps); got != want {
		t.Errorf("%s, not\n%s", got, want)
	}
}

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
