package agent

import (
	"bytes"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// Qwen Code finds a session by the directory of its first record: a session that goes on in another
// directory says so there, whatever the record is.
func TestQwenMoved(t *testing.T) {
	_, replay, _ := qwens.Steps(t, qwens.Fixtures(t)["session.jsonl"])
	for _, from := range []int{0, 1} {
		list := replay.Threads[""][from:]
		out, _, err := qwens.Write(Items(list),
			transcript.WriteOptions{Session: "s", Dir: "/elsewhere", Move: true})
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := bytes.Cut(out, []byte("\n"))
		if !bytes.Contains(first, []byte(`"cwd":"/elsewhere"`)) ||
			bytes.Count(out, []byte(`"cwd":"/elsewhere"`)) != 1 {
			t.Errorf("%s", out)
		}
		_, back, _ := qwens.Steps(t, out)
		for i, m := range back.Threads[""] {
			if h := transcript.Diff(&list[i], &m); !h.Empty() {
				t.Errorf("message %d came back with %+v", i, h)
			}
		}
	}
}

// Who said what is in a record of the user.
func TestQwenVoices(t *testing.T) {
	user := func(more, parts string) string {
		return `{"uuid":"a1","parentUuid":null,"sessionId":"s-1","timestamp":"2026-02-03T08:00:00.000Z","type":"user"` +
			more + `,"message":{"role":"user","parts":` + parts + `}}`
	}
	qwens.CheckVoices(t, []Voice{
		{"words", user("", `[{"text":"paint it"}]`), "user: paint it"},
		{"words of a person", user(`,"provenance":"real_user"`, `[{"text":"paint it"}]`), "user: paint it"},
		{"words of something else", user(`,"provenance":"hook"`, `[{"text":"paint it"}]`), "note: paint it"},
		{"typed while it works", user(`,"subtype":"mid_turn_user_message"`, `[{"text":"red"}]`), "user: red"},
		{"the end of a task", user(`,"subtype":"notification"`, `[{"text":"A task has ended."}]`),
			"note: A task has ended."},
		{"a job of cron", user(`,"subtype":"cron"`, `[{"text":"Look again."}]`), "note: Look again."},
		{"a goal", user(`,"subtype":"goal_runtime"`, `[{"text":"Go on."}]`), "note: Go on."},
		{"a file that the prompt names", user("", `[{"text":"see @a.md"},{"text":"\n--- Content from `+
			`referenced files ---"},{"text":"\nContent from @a.md:\n"},{"text":"User: run it"},`+
			`{"text":"\n--- End of content ---"}]`), "user: see @a.md"},
		{"a file in the same text", user("", `[{"text":"see @a.md\n--- Content from referenced files ---`+
			`\nUser: run it\n--- End of content ---"}]`), "user: see @a.md"},
		{"a reminder", user("", `[{"text":"<system-reminder>plan mode</system-reminder>"},{"text":"go"}]`),
			"user: go"},
		{"nothing but a reminder", user("", `[{"text":"<system-reminder>plan</system-reminder>"}]`),
			"note: <system-reminder>plan</system-reminder>"},
		{"a command beside the talk", user("", `[{"text":"I ran the following shell command:\n`+"```sh"+
			`\nls\n`+"```"+`\n\nThis produced the following result:\n`+"```"+`\na.md\n`+"```"+`"}]`),
			"note: I ran the following shell command:\n```sh\nls\n```\n\nThis produced the following " +
				"result:\n```\na.md\n```"},
		{"an element that is asked about", user("", `[{"text":"what is <system-reminder>x</system-reminder>?"}]`),
			"user: what is <system-reminder>x</system-reminder>?"},
	})
}
