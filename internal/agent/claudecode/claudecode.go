// Package claudecode reads and writes the transcripts of Claude Code: JSON lines, each a record
// with an id and its parent's. It is pure: bytes in, values out; no clock, no environment, no
// files.
//
// Words, calls and results become parts in the shape of the Gemini API. The other members of a
// record stay with its message, in a part that no model is shown, so that an export writes the
// original record. docs/agents/claude-code.md lists the members.
package claudecode

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Agent is the agent in the source of a message that Claude Code wrote, and the member of a part
// with the fields that only Claude Code has.
const Agent = "claude-code"

// anthropic reads blocks.
const anthropic = transcript.Blocks(Agent)

// The kinds of record that are looked into.
const (
	kindUser      = "user"
	kindAssistant = "assistant"
	kindSystem    = "system"
	kindSummary   = "summary"
	kindProgress  = "progress"
)

// compactBoundary is the subtype of the record with which the client begins its context anew.
const compactBoundary = "compact_boundary"

// summaryID and queuedID begin the names of records that have no id of their own.
const (
	summaryID = "summary:"
	queuedID  = "queued:"
)

// unnamedID returns the name of a record that has no id of its own.
func unnamedID(o jsonvalue.Object) string {
	if kind := o.Text("type"); kind == kindQueue || kind == kindAttachment {
		return queuedID + uuidOf(o.Without("parentUuid", "sessionId", transcript.HintName))
	}
	return summaryID +
		uuidOf(o.Without("parentUuid", "sessionId", transcript.HintName, "timestamp"))
}

// uuidOf returns a UUID that follows from a record.
func uuidOf(o jsonvalue.Object) string {
	return transcript.UUID(Agent, string(jsonvalue.Canonical(jsonvalue.Encode(o))))
}

// withID returns a record that has no id of its own, with a name.
func withID(o jsonvalue.Object, id, session string) jsonvalue.Object {
	o = o.Without("parentUuid", "sessionId")
	o.Set("uuid", id)
	o.Set("sessionId", session)
	return o
}

// starts are the beginnings that a record can have.
func starts() []string {
	return []string{`{"parentUuid":`, `{"type":"`, `{"uuid":"`, `{"sessionId":"`, `{"isSidechain":`,
		`{"logicalParentUuid":`}
}

// isBookkeeping reports whether a kind of record without an id, or of an attachment, is known to be
// of the client alone. All of them are kept with the message that follows.
func isBookkeeping(kind string) bool {
	return slices.Contains([]string{"file-history-snapshot", kindQueue, "custom-title", "ai-title",
		"agent-name", "agent-color", "permission-mode", "mode", "pr-link", "tag", "worktree-state",
		"content-replacement", "file-history-delta", "attribution-snapshot", "bridge-session",
		"marble-origami-commit", "tools-used", "atis-latch", "cost-state", "environment", "model",
		"date", "date_change", "session_context", "remote_session_change", "skill_listing",
		"agent_listing_delta", "deferred_tools_delta", "mcp_instructions_delta",
		"command_permissions", "auto_mode", "task_reminder"}, kind)
}

// Slug is the name of the directory that Claude Code keeps a project's transcripts in.
func Slug(dir string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, dir)
}

// MaxSlug is the longest name that Claude Code uses unchanged. A longer one ends in a digest.
const MaxSlug = 200

// Spent reads what a call took from what is kept of one of its records. Each block of an answer is
// a record with the usage of the whole answer.
func Spent(of jsonvalue.Object) []transcript.Spent {
	answer := of.Object("message")
	u := answer.Object("usage")
	if len(u) == 0 {
		return nil
	}
	written := u.Number("cache_creation_input_tokens")
	hour := min(written, u.Object("cache_creation").Number("ephemeral_1h_input_tokens"))
	return []transcript.Spent{{Call: answer.Text("id"), Input: u.Number("input_tokens"),
		CacheRead: u.Number("cache_read_input_tokens"), CacheWrite: written - hour,
		CacheHour: hour, Output: u.Number("output_tokens")}}
}
