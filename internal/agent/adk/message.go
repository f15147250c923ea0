// Package adk reads and writes the events of a session of the Agent Development Kit (ADK), and
// turns them into messages and back. It is pure: bytes in, values out; no clock, no environment, no
// files.
//
// What a message has that an event has no field for travels in the event's customMetadata, under
// the name ctx; what an event has that a message has no place for stays with the message, in a part
// that no model is shown. So both ways round nothing is lost. docs/agents/adk.md says which is
// where.
package adk

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Agent is what the source of a message names that ADK said first.
const Agent = "adk"

// Normal returns what a message says in one spelling: the same for equal content, whether it is a
// text or one part, in whatever order of keys, with or without the model's opaque signatures. It
// tells versions of a message apart.
func Normal(m *transcript.Message) []byte {
	parts := []any{map[string]any{"text": m.Text}}
	if m.Parts != nil {
		parts, _ = jsonvalue.Decode(m.Parts).([]any)
	}
	return jsonvalue.Encode(append([]any{}, transcript.NormalParts(parts)...))
}

// WithoutBranch is a message as it was before an export wrote down the branches of its fork.
func WithoutBranch(m *transcript.Message) transcript.Message {
	said, rest := wordsOf(m)
	out := *m
	if rest.get("branch") != nil {
		setParts(&out, said, rest.without("branch"), false)
	}
	return out
}

// InvocationID names the invocation that a user's message opens in a session, for messages that
// name none: the same in every export.
func InvocationID(session, message string) string {
	sum := sha256.Sum256([]byte("invocation\x00" + session + "\x00" + message))
	return "inv-" + hex.EncodeToString(sum[:8])
}
