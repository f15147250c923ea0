package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
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

// A prompt has the time before it, if that names a day.
func TestCursorTimes(t *testing.T) {
	for at, want := range map[string]string{
		"Tuesday, Feb 3, 2026, 8:00 AM (UTC+1)":     "2026-02-03T07:00:00Z",
		"Tuesday, Feb 3, 2026, 12:30 PM (UTC-3:30)": "2026-02-03T16:00:00Z",
		"Tuesday, Feb 3, 2026, 8:00 AM (UTC)":       "2026-02-03T08:00:00Z",
		"8:00":                                      "0001-01-01T00:00:00Z",
	} {
		steps, _, _ := cursors.Steps(t, []byte(`{"role":"user","message":{"content":[{"type":"text",`+
			`"text":"<timestamp>`+at+`</timestamp>\n<user_query>\npaint it\n</user_query>"}]}}`))
		if got := steps[0].Message.Time.Format(time.RFC3339); got != want {
			t.Errorf("%s: %s, want %s", at, got, want)
		}
	}
}

// Who said what in a composer is what another reader finds, and what it says when it has grown and
// has another name.
func TestCursorEditor(t *testing.T) {
	for name, data := range composers.Fixtures(t) {
		var doc struct {
			Bubbles  []json.RawMessage
			Composer map[string]any
		}
		if err := json.Unmarshal(data, &doc); err != nil {
			t.Fatal(err)
		}
		older, _ := doc.Composer["conversation"].([]any)
		for _, b := range older {
			doc.Bubbles = append(doc.Bubbles, jsonvalue.Encode(b))
		}
		var want []string
		for _, raw := range doc.Bubbles {
			want = append(want, bubbleSays(t, raw)...)
		}
		steps, _, stats := composers.Steps(t, data)
		if got := whoSaid(steps); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: got\n%s\nwant\n%s", name, strings.Join(got, "\n"),
				strings.Join(want, "\n"))
		}
		if gone := stats.Passed["bubble that is gone"]; (name == "composer.json") != (gone == 1) {
			t.Errorf("%s: %d bubbles are gone", name, gone)
		}
		if at := steps[3].Message.Time; name == "inline.json" && !at.Equal(steps[1].Message.Time) {
			t.Errorf("a time without a date is %v", at)
		}
		delete(doc.Composer, "conversation")
		doc.Composer["name"], doc.Composer["lastUpdatedAt"] = "Low water", 1
		early, err := json.Marshal(map[string]any{"composer": doc.Composer,
			"bubbles": doc.Bubbles[:len(doc.Bubbles)/2]})
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := composers.Steps(t, early)
		if len(first) == 0 || Trace(first) != Trace(steps[:len(first)]) {
			t.Errorf("%s: at first\n%s", name, Trace(first))
		}
	}
}

// bubbleSays says who said what in a bubble, without the reader.
func bubbleSays(t *testing.T, raw json.RawMessage) (list []string) {
	t.Helper()
	var b struct {
		Type     int
		ID       string `json:"bubbleId"`
		Text     string
		Does     int `json:"capabilityType"`
		Thinking any
		Call     *struct {
			ID     string `json:"toolCallId"`
			Status string
		} `json:"toolFormerData"`
		Wrong struct {
			Error struct {
				Details struct{ Title, Detail string }
			}
		} `json:"errorDetails"`
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		t.Fatal(err)
	}
	who := map[int]string{1: "user", 2: "model"}[b.Type]
	if who == "" || b.Does == 22 {
		who = "note"
	}
	if of, ok := b.Thinking.(map[string]any); ok {
		b.Thinking = of["text"]
	}
	if b.Thinking != nil {
		list = append(list, fmt.Sprint(who, ": thought: ", b.Thinking))
	}
	if b.Text != "" {
		list = append(list, who+": "+b.Text)
	}
	if b.Call != nil {
		id := b.Call.ID
		if id == "" {
			id = b.ID
		}
		list = append(list, who+": call: "+id)
		if b.Call.Status != "loading" {
			list = append(list, "tool: result: "+id)
		}
	}
	if d := b.Wrong.Error.Details; d.Title != "" {
		list = append(list, "note: "+d.Title+": "+d.Detail)
	}
	return list
}

// How a call ended, and what it gave.
func TestCursorEditorCalls(t *testing.T) {
	for _, c := range []struct{ name, call, want string }{
		{"a command", `"result":"{\"output\":\"on\",\"exitCodeV2\":0}","status":"completed"`, "on"},
		{"one that failed", `"result":"{\"output\":\"on\\n\",\"exitCode\":2}","status":"completed"`,
			"on\nexit status: 2 failed"},
		{"a file", `"result":"{\"contents\":\"north: on\"}","status":"completed"`, "north: on"},
		{"another value", `"result":"{\"files\":[\"a\"]}","status":"completed"`, `{"files":["a"]}`},
		{"no text of JSON", `"result":"done","status":"completed"`, "done"},
		{"an object", `"result":{"text":"done"},"status":"completed"`, "done"},
		{"nothing", `"status":"completed"`, ""},
		{"an error", `"error":"{\"clientVisibleErrorMessage\":\"no\"}","status":"error"`, "no failed"},
		{"an error as a text", `"error":"no","status":"error"`, "no failed"},
		{"refused", `"status":"completed","userDecision":"rejected"`, "rejected by the user failed"},
		{"refused in the result", `"result":"{\"rejected\":true}","status":"completed"`,
			"rejected by the user failed"},
		{"refused in what comes with it", `"result":"{\"output\":\"\"}","status":"completed",` +
			`"additionalData":{"userDecision":"rejected"}`, "rejected by the user failed"},
		{"accepted", `"result":"{\"output\":\"on\"}","status":"completed","userDecision":"accepted"`,
			"on"},
		{"stopped", `"status":"cancelled"`, "cancelled failed"},
		{"running", `"status":"loading"`, "none"},
	} {
		steps, _, _ := composers.Steps(t, []byte(`{"composer":{"composerId":"c"},"bubbles":[{"type":2,`+
			`"bubbleId":"b","toolFormerData":{"name":"t","toolCallId":"i","rawArgs":"{}",`+c.call+`}}]}`))
		got := "none"
		for _, st := range steps {
			for _, p := range transcript.PartsOf(&st.Message) {
				if said, failed := p.Said(); p.Kind == transcript.PartResult {
					if got = said; failed {
						got += " failed"
					}
				}
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Who said what in a bubble of the user.
func TestCursorEditorVoices(t *testing.T) {
	typed := func(more string) string {
		return `{"bubbles":[{"type":1,"bubbleId":"b",` + more + `}],"composer":{"composerId":"c"}}`
	}
	composers.CheckVoices(t, []Voice{
		{"words", typed(`"text":"paint it"`), "user: paint it"},
		{"code that is attached", typed(`"text":"paint it","attachedCodeChunks":[{"lines":["run it"]}],` +
			`"context":{"selections":[{"text":"User: run it"}]}`), "user: paint it"},
		{"rules", typed(`"text":"<user_rules>\nUser: run it\n</user_rules>\npaint it"`),
			"user: paint it"},
		{"rules alone", typed(`"text":"<user_rules>\nrun it\n</user_rules>"`),
			"note: <user_rules>\nrun it\n</user_rules>"},
	})
}
