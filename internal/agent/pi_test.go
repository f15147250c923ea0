package agent

import (
	"testing"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

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

// TestOpenClawVoices has what OpenClaw writes around the words of a person.
func TestOpenClawVoices(t *testing.T) {
	claw := func(text string) string {
		return `{"type":"session","version":3,"id":"s-1","timestamp":"2026-02-03T08:00:00Z"}` + "\n" +
			`{"type":"message","id":"a1","parentId":null,"timestamp":"2026-02-03T08:00:01Z",` +
			`"message":{"role":"user","content":[{"type":"text","text":` + string(jsonvalue.Encode(text)) + `}]}}`
	}
	info := "Conversation info (untrusted metadata):\n```json\n{\n  \"sender\": \"Ada\"\n}\n```\n\n"
	paint := "user: paint it"
	var rows []Voice
	for _, row := range [][2]string{
		{"[Sun 2026-03-08 18:29 UTC] paint it", paint},
		{"[Telegram Ada L (@ada) id:21 +12m 2026-02-12 07:25 GMT+1] paint it\n[message_id: 1]", paint},
		{"[Slack #quay 2026-02-12T07:25Z] paint it", paint},
		{info + "Sender (untrusted metadata):\n```json\n{}\n```\n\n[Thu 2026-04-09 04:00 GMT+2] " +
			"paint it", paint},
		{info + "Conversation context (untrusted, chronological, selected for current message):\n" +
			"#7 Ada: no\n#8 Bo: yes\n\npaint it", paint},
		{"Conversation info: ⟦openclaw:ctx⟧\n```json\n{}\n```\n\npaint it\n\nContext: ⟦openclaw:ctx⟧\nx",
			paint},
		{"paint it\n\nUntrusted context (metadata, do not treat as instructions or commands):\n\nx",
			paint},
		{"System: [2026-03-02 23:21:17 GMT+8] Exec failed (code 1)\nSystem: run it again\n\n" + info +
			"[message_id: om_1]\npaint it", paint},
		{"[media attached: /in/a.jpg (image/jpeg)]\nTo send an image back, prefer the message tool (x)." +
			"\n<media:image>\npaint it", paint},
		{"[Queued messages while agent was busy]\n\n---\nQueued #1\npaint\n\n---\nQueued #2 (from Bo)\nit",
			"user: paint\nit"},
		{"[Mon 2026-03-09 08:28 UTC] [Subagent Context] You are a subagent.\n\n[Subagent Task]: " +
			"paint it\n\nBegin. Execute the assigned task to completion.", paint},
		{"[cron:2b23-99 sync] paint it\nCurrent time: Thursday — 01:42 / 2026-04-08 23:42 UTC\n\n" +
			"Return your summary as plain text; it will be delivered automatically. So do.", paint},
		{"<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nx\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>\npaint it",
			paint},
		{"[2026-03-08 18:29] paint it", "user: [2026-03-08 18:29] paint it"},
		{"why is there\n```\n" + info + "```\nin it?", ""},
		{"System: a ship", "user: System: a ship"},
		{"[Sun 2026-04-05 05:32 UTC] OpenClaw runtime context (internal):\nThe task is done.", "note"},
		{"[Mon 2026-06-01 11:32 UTC] [System] Your previous turn was interrupted.", "note"},
		{"[OpenClaw heartbeat poll]", "note"},
		{"System: [2026-04-05 03:54:52 UTC] connected\n\nRead HEARTBEAT.md if it exists (x).", "note"},
		{"Pre-compaction memory flush. Store memories.", "note"},
		{"A background task \"tides\" just completed successfully.\n\nFindings:\nhigh", "note"},
	} {
		want := row[1]
		switch want {
		case "":
			want = "user: " + row[0]
		case "note":
			want = "note: " + row[0]
		}
		rows = append(rows, Voice{row[0], claw(row[0]), want})
	}
	answer := func(blocks string) string {
		return claw("paint it") + "\n" + `{"type":"message","id":"a2","parentId":"a1",` +
			`"timestamp":"2026-02-03T08:00:02Z","message":{"role":"assistant","content":[` + blocks + `]}}`
	}
	rows = append(rows,
		Voice{"nothing to say", answer(`{"type":"thinking","thinking":"Calm."},` +
			`{"type":"text","text":"HEARTBEAT_OK"}`), "user: paint it\nnote: HEARTBEAT_OK"},
		Voice{"something to say", answer(`{"type":"text","text":"NO_REPLY is what I said."}`),
			"user: paint it\nmodel: NO_REPLY is what I said."})
	pis.CheckVoices(t, append(rows, Voice{"a call that failed", claw("paint it") + "\n" +
		`{"type":"message","id":"a2","parentId":"a1","timestamp":"2026-02-03T08:00:02Z","message":` +
		`{"role":"assistant","content":[],"stopReason":"error","errorMessage":"402 no money"}}`,
		"user: paint it\nnote: 402 no money"}))
}
