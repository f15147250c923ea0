// Package codex reads and writes the rollouts of Codex CLI: JSON lines, each an envelope with a
// time, a type and a payload. It is pure: bytes in, values out; no clock, no environment, no files.
//
// Words, calls and results become parts in the shape of the Gemini API. The other members of a
// record stay with its message, in a part that no model is shown. Records that say nothing stay
// with the message after them. docs/agents/codex.md lists the members.
package codex

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Agent is the agent in the source of a message that Codex wrote, and the member of a part with the
// fields that only Codex has.
const Agent = "codex"

// The types of an envelope.
const (
	typeMeta      = "session_meta"
	typeItem      = "response_item"
	typeEvent     = "event_msg"
	typeContext   = "turn_context"
	typeCompacted = "compacted"
)

// The types of a response item that are taken apart.
const (
	itemMessage    = "message"
	itemReasoning  = "reasoning"
	itemCall       = "function_call"
	itemOutput     = "function_call_output"
	itemCustom     = "custom_tool_call"
	itemCustomOut  = "custom_tool_call_output"
	itemLocalShell = "local_shell_call"

	itemAgentMessage = "agent_message"
	itemWebSearch    = "web_search_call"
	itemToolSearch   = "tool_search_call"
)

func starts() []string {
	return []string{`{"timestamp":"`, `{"type":"`, `{"id":"`, `{"record_type":"`}
}

// isOld reports whether a record without an envelope is a response item. Rollouts were written so
// before September 2025.
func isOld(o jsonvalue.Object) bool {
	return slices.Contains([]string{itemMessage, itemReasoning, itemCall, itemOutput, itemCustom,
		itemCustomOut, itemLocalShell, itemWebSearch}, o.Text("type"))
}

// clientMarks are what Codex writes in the user's name. docs/agents/codex.md has the table.
var clientMarks = transcript.Voices{
	Elements: []string{
		"environment_context", "user_instructions", "INSTRUCTIONS", "turn_aborted", "skill",
		"collaboration_mode", "subagent_notification", "user_action", "user_shell_command",
		"recommended_plugins", "hook_prompt", "goal_context",
	},
	Leads: []transcript.Lead{
		{Open: "# AGENTS.md instructions"},
		{Open: "<permissions instructions>"},
		{Open: "Another language model started to solve this problem"},
		{Open: "Warning: apply_patch was requested via "},
		{Open: "Warning: The maximum number of unified exec processes"},
		{Open: "<image", Close: ">"}, // also without a name
		{Open: "</image>"},
		// What an editor and the app tell before the words of a person
		{Open: "# Context from my IDE setup:", Close: requestMark},
		{Open: "# Files mentioned by the user:", Close: requestMark},
	},
	Opens: func(line string, first bool) int {
		if first && strings.HasSuffix(line, reviewEnd) && slices.ContainsFunc(reviewLeads[:],
			func(lead string) bool { return strings.HasPrefix(line, lead) }) {
			return len(line)
		}
		return 0
	},
}

// reviewLeads and reviewEnd stand around what Codex asks for whoever chose from /review.
var reviewLeads = [...]string{"Review the current code changes (staged, ",
	"Review the code changes against the base branch '",
	"Review the code changes introduced by commit "}

const reviewEnd = " findings."

const requestMark = "## My request for Codex:"

// planLeads begin a plan that the model wrote, and that the person accepted.
var planLeads = [...]string{"PLEASE IMPLEMENT THIS PLAN:",
	"A previous agent produced the plan below"}

func isPlan(parts []json.RawMessage) bool {
	return len(parts) > 0 && slices.ContainsFunc(planLeads[:], func(lead string) bool {
		return strings.HasPrefix(transcript.ReadPart(parts[0]).Text, lead)
	})
}

// Spent reads the events token_count that are kept before a message. Codex writes one after each
// call, writes it again with new limits, and copies it into the rollout of a fork: the sums of the
// session name the call.
func Spent(of jsonvalue.Object) []transcript.Spent {
	return transcript.SpentBefore(of, func(record jsonvalue.Object) []transcript.Spent {
		info := record.Object("payload").Object("info")
		u := info.Object("last_token_usage")
		if len(u) == 0 {
			return nil
		}
		cached := min(u.Number("cached_input_tokens"), u.Number("input_tokens"))
		return []transcript.Spent{{Call: string(info["total_token_usage"]), Sums: true,
			Input:     u.Number("input_tokens") - cached,
			CacheRead: cached, Output: u.Number("output_tokens")}}
	})
}
