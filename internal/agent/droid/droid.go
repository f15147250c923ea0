// Package droid reads the transcripts of Factory Droid: JSON lines, first one about the session,
// then one for each message, in blocks of the Anthropic API. It is a shape.Form.
// docs/agents/droid.md lists what becomes of a record.
package droid

import (
	"github.com/gemini-ctx/ctx/internal/agent/shape"
	"github.com/gemini-ctx/ctx/internal/agent/voice"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Agent is the agent in the source of a message that Droid wrote, and the member of a part with the
// fields that only Droid has.
const Agent = "droid"

// Form is that of a transcript.
func Form() *shape.Form {
	return &shape.Form{
		Starts: []string{`{"type":"`, `{"id":"`, `{"message":`},
		Kinds: []shape.Kind{
			{Type: "session_start", Does: shape.Heads},
			{Type: "message", Does: shape.Says},
			{Type: "compaction_state", Does: shape.Tells, Text: []string{"summaryText", "summary"}},
			{Type: "todo_state", Does: shape.Waits},
			{Type: "session_end", Does: shape.Waits},
		},
		Marks: marks, Hidden: hidden,
	}
}

// hidden tells what only the model or only the person is shown.
func hidden(o, message jsonvalue.Object) bool {
	visible := o.Text("visibility")
	if visible == "" {
		visible = message.Text("visibility")
	}
	return visible != "" && visible != "both"
}

// marks are what Droid writes into texts of the user. docs/agents/droid.md has the table.
func marks() *voice.Table {
	return &voice.Table{
		Elements: []string{"system-reminder", "system-notification", "task-notification"},
		Leads:    []voice.Lead{{Open: "[Request interrupted by user", Close: "]"}},
	}
}
