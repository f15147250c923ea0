// A note is what somebody wanted remembered: a note entry whose text says of what kind it is.
// docs/format/entry.md has the form. Begin with Note and NoteOf.

package message

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// The kinds of notes.
const (
	Rule     = "rule"     // what to do, or not to do, from now on
	Decision = "decision" // what was chosen, and why
	Finding  = "finding"  // what turned out to be so
	Next     = "next"     // what is to be done
)

// Kinds returns all kinds.
func NoteKinds() []string { return []string{Rule, Decision, Finding, Next} }

// Note is what somebody wanted remembered. The role of its entry says whether a person or a model
// did.
type Note struct {
	Kind       string
	Text       string
	Supersedes string   // the id of an older note, which holds no more; "" for none
	Evidence   []string // ids of what it rests on
}

// member is the member of a part that makes its text a note.
const member = "note"

// Parts returns the parts of an entry with the note.
func (n Note) Parts() json.RawMessage {
	of := jsonvalue.NewObject("kind", n.Kind)
	if n.Supersedes != "" {
		of.Set("supersedes", n.Supersedes)
	}
	if len(n.Evidence) > 0 {
		of.Set("evidence", n.Evidence)
	}
	part := jsonvalue.NewObject("text", n.Text)
	part[member] = jsonvalue.Encode(of)
	return jsonvalue.Array([]json.RawMessage{jsonvalue.Encode(part)})
}

// Of returns the note that an entry's parts hold; ok is false for parts that are none.
func NoteOf(parts []byte) (n Note, ok bool) {
	list, err := jsonvalue.Elements(parts)
	if err != nil || len(list) != 1 {
		return n, false
	}
	part := jsonvalue.AsObject(list[0])
	of := part.Object(member)
	n = Note{Kind: of.Text("kind"), Text: strings.TrimSpace(part.Text("text")),
		Supersedes: of.Text("supersedes")}
	evidence, _ := of.Array("evidence")
	for _, raw := range evidence {
		if id, ok := jsonvalue.Text(raw); ok {
			n.Evidence = append(n.Evidence, id)
		}
	}
	return n, slices.Contains(NoteKinds(), n.Kind) && n.Text != ""
}
