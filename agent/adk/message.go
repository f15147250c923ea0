// Package adk reads and writes the events of a session of the Agent Development Kit (ADK), and turns them into messages and back. It is pure:
// bytes in, values out; no clock, no environment, no files.
//
// What a message has that an event has no field for travels in the event's customMetadata, under the name ctx; what an event has that a message has
// no place for stays with the message, in a part that no model is shown. So both ways round nothing is lost. docs/agents/adk.md says which is where.
package adk

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/gemini-ctx/ctx/format"
)

// Agent is what the source of a message names that ADK said first.
const Agent = "adk"

// Own is what the origin of a message names that a store of ctx had first, under no other name.
const Own = "ctx"

// The values of Message.Role.
const (
	roleUser   = "user"
	roleModel  = "model"
	roleTool   = "tool"
	roleSystem = "system"
)

// Origin names a message where it was said first: an event of an ADK session, an entry of a store, a message of another agent.
type Origin struct {
	Agent   string `json:"agent,omitempty"`
	Session string `json:"session,omitempty"`
	Message string `json:"message,omitempty"`
}

// Message is a message or a note as a session has it. Text and Parts are never both set.
type Message struct {
	Origin     Origin
	Note       bool // said about the conversation, not in it
	Role       string
	Author     string    // a person, an agent or a model by name
	Time       time.Time // whole milliseconds; zero where an event has none that can be read
	Invocation string    // "" where the message itself names none
	Text       string
	Parts      json.RawMessage // a JSON array of parts in the shape of the Gemini API, without white space between tokens
	Calls      []format.Call
	Results    []string
	Tokens     uint64 // output tokens, as the agent reported them
	Gone       string // why there are no words any more; "" where there are
}

// Normal returns what a message says in one spelling: the same for equal content, whether it is a text or one part, in whatever order of keys, with or
// without the model's opaque signatures. It tells versions of a message apart.
func (m *Message) Normal() []byte {
	if m.Parts == nil {
		return normalParts([]json.RawMessage{textPart(m.Text)})
	}
	list, _ := elements(m.Parts)
	return normalParts(list)
}

// WithoutBranch is a message as it was before an export wrote down the branches of its fork.
func (m *Message) WithoutBranch() Message {
	said, rest := wordsOf(m)
	out := *m
	if rest.get("branch") != nil {
		setParts(&out, said, rest.without("branch"), false)
	}
	return out
}

// InvocationID names the invocation that a user's message opens in a session, for messages that name none: the same in every export.
func InvocationID(session, message string) string {
	sum := sha256.Sum256([]byte("invocation\x00" + session + "\x00" + message))
	return "inv-" + hex.EncodeToString(sum[:8])
}
