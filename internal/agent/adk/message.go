// Package adk reads and writes the events of a session of the Agent Development Kit (ADK), and
// turns them into messages and back. It is pure: bytes in, values out; no clock, no environment, no
// files.
//
// Fields of a message that an event does not have go into the event's customMetadata, under the
// name ctx. Fields of an event that a message does not have stay with the message, in a part that
// no model is shown. So nothing is lost in either direction. docs/agents/adk.md lists the fields.
package adk

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Agent is the agent in the source of a message that ADK said first.
const Agent = "adk"

// Normal returns the content of a message in one spelling, to tell versions of it apart. A text
// equals one part with that text. The order of keys and the model's opaque signatures do not count.
func Normal(m *transcript.Message) []byte {
	if m.Parts != nil {
		return transcript.NormalJSON(m.Parts)
	}
	out := append(make([]byte, 0, len(m.Text)+len(m.Text)/16+16), `[{"text":`...)
	return append(jsonvalue.AppendText(out, m.Text), '}', ']')
}

// WithoutBranch returns a message without the branch that an export added.
func WithoutBranch(m *transcript.Message) transcript.Message {
	said, rest := wordsOf(m)
	out := *m
	if rest.Has("branch") {
		setParts(&out, said, rest.Without("branch"))
	}
	return out
}

// Wall returns what keeps an event apart from others: its branch, and its isolation scope. ADK
// shows a reader in a branch what was said in that branch and in those that it is below, and what
// was said in a scope only to a reader in that scope.
func Wall(m *transcript.Message) (branch, scope string) {
	if !bytes.Contains(m.Parts, []byte(carriedName)) {
		return "", ""
	}
	_, rest := wordsOf(m)
	return rest.Text("branch"), cmp.Or(rest.Text("isolation_scope"), rest.Text("isolationScope"))
}

// InvocationID returns the id of an invocation that no message names, from the session and the
// user's message that opens it. It is the same in every export.
func InvocationID(session, message string) string {
	sum := sha256.Sum256([]byte("invocation\x00" + session + "\x00" + message))
	return "inv-" + hex.EncodeToString(sum[:8])
}
