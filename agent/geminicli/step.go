// Package geminicli reads the chat transcripts of Gemini CLI and turns each into a stream of steps, in the order the
// bytes were written. It is pure: bytes in, values out; no clock, no environment, no files.
//
// A transcript is a log of JSON lines (headers, messages, "$set" updates, "$rewindTo" records), or, before April 2026,
// one JSON document. The agent shortens its own view of a conversation by writing the whole list again; this reader
// keeps what was said before, and takes from such a list only what it did not know.
package geminicli

import "encoding/json"

// StepKind says what a step is.
type StepKind int

// The kinds of step.
const (
	KindMessage StepKind = iota // something said or answered: by the user, the model or a tool
	KindNote                    // a notice of the agent, or a summary it wrote of older messages
	KindRewind                  // the person went back: messages leave the conversation
)

// String returns "message", "note" or "rewind".
func (k StepKind) String() string {
	switch k {
	case KindMessage:
		return "message"
	case KindNote:
		return "note"
	case KindRewind:
		return "rewind"
	}
	return "unknown"
}

// The values of Message.Role.
const (
	RoleUser   = "user"
	RoleModel  = "model"
	RoleTool   = "tool"
	RoleSystem = "system"
)

// Step is one thing that happened in a conversation.
//
// A Message or Note whose Key was emitted before is a newer version of it and takes the first one's place. After a Rewind
// that made a key leave, the same key emitted again, changed or not, is back in the conversation, at its end.
type Step struct {
	Kind    StepKind
	Message Message // for KindMessage and KindNote

	// RewindTo, for KindRewind, is the key of the first step that leaves: it and every step emitted after it, newer
	// versions of earlier messages included. "" means that everything leaves.
	RewindTo string

	// RewindUnknown marks a rewind to an id that the transcript does not know, or no longer has; the agent then clears
	// the conversation, so RewindTo is "".
	RewindUnknown bool

	// Offset is the number of input bytes up to the end of the step's record: past its line feed for a line, past the
	// message's last byte in a JSON document. Steps of one record share it.
	Offset int64
}

// Message is what a Message or Note step carries. Text and Parts are never both set, and never both empty.
type Message struct {
	// Key names the message inside its session: the agent's message id; "derived:" and 16 hex digits if it has none;
	// "result:<call id>" for a tool's result, followed by "@<message id>" if an earlier message used the call id too.
	Key     string
	Session string // the first session id in the transcript; "" before one was read
	Role    string // RoleUser, RoleModel, RoleTool or RoleSystem
	Author  string // the model's name, for RoleModel
	Time    string // as written, RFC 3339 from the agent itself; may be anything, or ""

	// Text is the content if it is exactly one plain text; then Parts is nil.
	Text string

	// Parts is a JSON array of parts in the shape of the Gemini API, otherwise: keys sorted, no white space, nothing
	// escaped that need not be, numbers as written.
	Parts json.RawMessage

	Calls   []Call   // the tool calls that Parts holds, in order
	Results []string // the call ids that Parts answers; one for RoleTool, else none
	Tokens  int64    // output tokens as the model reported them; 0 if it did not

	// Normal is the content in one spelling: equal for equal content, whether it was written as a string or as parts, in
	// whatever order of keys, with or without the model's opaque signatures. It tells versions of a key apart.
	Normal []byte

	// Display is what the person saw or typed where that differs from what the model was sent, as a slash command and
	// the prompt it stands for; else "".
	Display string
}

// Call is a tool call: the id its result names, and the tool.
type Call struct {
	ID   string
	Tool string
}
