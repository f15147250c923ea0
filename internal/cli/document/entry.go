package document

import (
	"encoding/json"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
)

// Entry is an entry of a history.
type Entry struct {
	ID         string          `json:"id"`
	Seq        uint64          `json:"seq"`
	Kind       string          `json:"kind"`
	Role       *string         `json:"role"`
	Author     *string         `json:"author"`
	Time       string          `json:"time"`
	Text       *string         `json:"text"` // null where there is none, or it was forgotten
	Parts      json.RawMessage `json:"parts,omitempty"`
	Source     *string         `json:"source"`
	Session    string          `json:"session"` // where it was first said
	Invocation string          `json:"invocation,omitempty"`
	Calls      []Call          `json:"calls,omitempty"`
	Results    []string        `json:"results,omitempty"`
	Tokens     uint64          `json:"tokens,omitempty"`
	Gone       string          `json:"gone,omitempty"`       // why there is no text
	AmendedBy  *string         `json:"amended_by,omitempty"` // the entry that has the text shown
	Amends     *string         `json:"amends,omitempty"`
	Left       *string         `json:"left,omitempty"` // of a rewind: the tip that was left
	// Of an epoch entry: what was told from there on
	Epoch    *string  `json:"epoch,omitempty"`
	Children []string `json:"children,omitempty"`
	Masked   []int    `json:"masked,omitempty"` // parts that are shown shortened
}

// Call is a tool call in an entry.
type Call struct {
	ID   string `json:"id"`
	Tool string `json:"tool"`
}

// EntryOf returns the document of an entry.
func EntryOf(s *history.Shown) Entry {
	e := s.Entry
	d := Entry{
		ID: s.ID.String(), Seq: e.Seq, Kind: e.Kind, Role: OrNull(e.Role), Author: OrNull(e.Author),
		Time:  TimeText(e.Time),
		Parts: s.Parts, Source: OrNull(sourceText(e.Source)), Session: e.Session,
		Invocation: e.Invocation, Results: e.Results,
		Tokens: e.Tokens, Gone: s.Gone, Amends: IDText(e.Amends), Left: IDText(e.Left),
		Epoch: IDText(e.Epoch), Children: e.Children,
		Masked: s.Masked,
	}
	if e.Body != nil && s.Gone == "" || e.Kind == format.KindEpoch && s.Text != "" {
		d.Text = &s.Text
	}
	if s.Version != s.ID {
		d.AmendedBy = IDText(s.Version)
	}
	for _, c := range e.Calls {
		d.Calls = append(d.Calls, Call(c))
	}
	return d
}

// sourceText returns agent, session and message of a source, or the name in the input line of a
// bulk append.
func sourceText(s *format.Source) string {
	switch {
	case s == nil:
		return ""
	case s.Agent == format.JSONLAgent:
		return s.Message
	}
	return s.Agent + ":" + s.Session + ":" + s.Message
}
