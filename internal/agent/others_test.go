package agent

import (
	"encoding/json"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// Others are messages as other agents and people say them: what a writer may be handed.
func Others() []transcript.Message {
	from := func(agent, id string) transcript.Origin {
		return transcript.Origin{Agent: agent, Session: "s-1", Message: id}
	}
	list := []transcript.Message{
		{Origin: from("gemini-cli", "m1"), Role: "user", Author: "Ada Lovelace",
			Text: "list the files"},
		{Origin: from("gemini-cli", "m2"), Role: "model", Author: "gemini-2.5-flash", Tokens: 4,
			Invocation: "i-1"},
		{Origin: from("gemini-cli", "result:c 1"), Role: "tool"},
		{Origin: from("gemini-cli", "m3"), Note: true, Role: "system", Text: "a notice"},
		{Origin: from(transcript.Own, strings.Repeat("5", 64)), Role: "system", Text: "be brief"},
		{Origin: from(transcript.Own, strings.Repeat("6", 64)), Role: "user", Text: ""},
		{Origin: from("jsonl", "7"), Role: "tool", Text: "lost", Results: []string{"c9"}},
		{Origin: from("jsonl", "8"), Role: "model", Text: "calling",
			Calls: []format.Call{{ID: "c7", Tool: "look up"}}},
		{Origin: from("jsonl", "9"), Role: "user", Text: "gone", Gone: "forgotten"},
		{Origin: from("jsonl", "10"), Role: "user", Text: "on"},
		{Origin: from("codex", "11"), Role: "model", Author: "gpt-x"},
		{Origin: from("codex", "12"), Role: "model", Author: "gpt-x"},
		{Origin: from("codex", "13"), Role: "tool"},
		{Origin: from("codex", "14"), Role: "tool"},
	}
	list[10].SetParts(
		[]json.RawMessage{[]byte(`{"functionCall":{"args":{},"id":"p1","name":"ls"}}`)})
	list[11].SetParts(
		[]json.RawMessage{[]byte(`{"functionCall":{"args":{},"id":"p2","name":"ls"}}`)})
	list[12].SetParts(
		[]json.RawMessage{[]byte(
			`{"functionResponse":{"id":"p1","name":"ls","response":{"output":"1"}}}`)})
	list[13].SetParts(
		[]json.RawMessage{[]byte(
			`{"functionResponse":{"id":"p2","name":"ls","response":{"output":"2"}}}`)})
	list[1].SetParts([]json.RawMessage{
		[]byte(`{"text":"**Plan** look","thought":true}`), []byte(`{"text":"I look."}`),
		[]byte(`{"functionCall":{"args":{"dir":"."},"id":"c 1","name":"ls"}}`),
		[]byte(`{"executableCode":{"code":"1+1"}}`),
	})
	list[2].SetParts(
		[]json.RawMessage{
			[]byte(`{"functionResponse":{"id":"c 1","name":"ls","response":{"files":["a","b"]}}}`),
			[]byte(`{"inlineData":{"data":"AA==","mimeType":"application/pdf"}}`),
		})
	return list
}
