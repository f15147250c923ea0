package shape

import (
	"encoding/json"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// This file reads the transcripts of Pi, and of OpenClaw, which is made of it: JSON lines, the
// first one about the session, then a tree of entries. docs/agents/pi.md lists
// what becomes of an entry.

// Pi is the Form of a transcript of either.
func Pi() *Form {
	return &Form{
		Starts: []string{`{"type":"`},
		Kinds: []Kind{
			{Type: "session", Does: Heads},
			{Type: "message", Does: Says},
			{Type: "compaction", Does: Tells, Text: []string{"summary"}},
			{Type: "branch_summary", Does: Tells, Text: []string{"summary"}},
			{Type: "custom_message", Does: Tells, Text: []string{"content"}},
			{Type: "model_change", Does: Waits},
			{Type: "thinking_level_change", Does: Waits},
			{Type: "session_info", Does: Waits},
			{Type: "label", Does: Waits},
			{Type: "custom", Does: Waits},
		},
		Adapt: piAdapt, Marks: piMarks, Tree: true,
	}
}

// piMarks are what Pi writes before a prompt: the files that the command line names, and the text
// of a skill.
func piMarks() *transcript.Voices {
	return clawMarks(&transcript.Voices{Leads: []transcript.Lead{
		{Open: `<file name="`, Close: "</file>"}, {Open: `<skill name="`, Close: "</skill>"}}})
}

// PiForkOf returns the session that one begins with a copy of, by its first record, which names the
// file of that session; "" for none.
func PiForkOf(head jsonvalue.Object) string {
	file := head.Text("parentSession")
	file = strings.TrimSuffix(file[strings.LastIndexAny(file, `/\`)+1:], ".jsonl")
	return transcript.Fit(file[strings.LastIndexByte(file, '_')+1:])
}

// piAdapt reads the roles and the blocks that Pi has and Anthropic's API has not.
func piAdapt(o jsonvalue.Object, _ []Call) Message {
	said := Plain(o)
	for i, raw := range said.Content {
		said.Content[i] = piBlock(raw, o.Text("stopReason") == "aborted")
	}
	switch o.Text("role") {
	case "toolResult":
		said.Role, said.Unknown = transcript.RoleTool, false
		said.Content = []json.RawMessage{result(o.Text("toolCallId"),
			jsonvalue.Array(said.Content), o.True("isError"))}
		said.Taken = append(said.Taken, "toolCallId", "isError")
	case "bashExecution": // a command that the person ran, and what it printed
		said.Content = []json.RawMessage{o["command"], o["output"]}
		said.Unknown, said.Taken = false, []string{"command", "output"}
	case "assistant": // a call of the model that failed, before it said anything
		if why := o.Text("errorMessage"); why != "" && len(said.Content) == 0 {
			said.Role, said.Content = "", []json.RawMessage{o["errorMessage"]}
			said.Taken = append(said.Taken, "errorMessage")
		} else if isSilent(said.Content) {
			said.Role = ""
		}
	case "custom", "hookMessage": // of an extension
		said.Unknown = false
	}
	return said
}

// piBlock returns a block of content as Anthropic's API has it. No call of a message that was
// aborted has run.
func piBlock(raw json.RawMessage, aborted bool) json.RawMessage {
	b := jsonvalue.AsObject(raw)
	switch {
	case b.Text("type") == "toolCall":
		call := b.Without("arguments")
		call.Set("type", "tool_use")
		call["input"] = b["arguments"]
		if aborted {
			call.Set("aborted", true)
		}
		return jsonvalue.Encode(call)
	case b.Text("type") == "image" && b.Text("data") != "":
		return inlineImage(b)
	}
	return raw
}

// PiSpent reads what a call of the model took, from what is kept of its message.
func PiSpent(of jsonvalue.Object) []transcript.Spent {
	u := of.Object("message").Object("usage")
	if len(u) == 0 {
		return nil
	}
	return []transcript.Spent{{Input: u.Number("input"), CacheRead: u.Number("cacheRead"),
		CacheWrite: u.Number("cacheWrite"), Output: u.Number("output")}}
}
