package shape

import (
	"cmp"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// This file reads the transcripts of Factory Droid: JSON lines, first one about the session, then
// one for each message, in blocks of the Anthropic API. docs/agents/droid.md lists what becomes of
// a record.

// Droid is the Form of a transcript.
func Droid() *Form {
	return &Form{
		Starts: []string{`{"type":"`, `{"id":"`, `{"message":`},
		Kinds: []Kind{
			{Type: "session_start", Does: Heads},
			{Type: "message", Does: Says},
			{Type: "compaction_state", Does: Tells, Text: []string{"summaryText", "summary"}},
			{Type: "todo_state", Does: Waits},
			{Type: "session_end", Does: Waits},
		},
		Marks: droidMarks, Hidden: droidHidden,
	}
}

// droidHidden tells what only the model or only the person is shown.
func droidHidden(o, message jsonvalue.Object) bool {
	visible := cmp.Or(o.Text("visibility"), message.Text("visibility"))
	return visible != "" && visible != "both"
}

// droidMarks are what Droid writes into texts of the user. docs/agents/droid.md has the table.
func droidMarks() *transcript.Voices {
	return &transcript.Voices{
		Elements: []string{"system-reminder", "system-notification", "task-notification"},
		Leads:    []transcript.Lead{{Open: "[Request interrupted by user", Close: "]"}},
	}
}
