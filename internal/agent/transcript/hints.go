package transcript

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/lists"
)

// HintName is the member of a record under which ctx writes what the record has no field for.
// Agents pass over it.
const HintName = "ctx"

// Hints are the fields of a message that do not follow from the record that it is written as.
type Hints struct {
	V    int   `json:"v,omitempty"`
	Home *Home `json:"home,omitempty"` // in the first record
	// The record is no message: an agent wants one in its place
	Added bool `json:"added,omitempty"`
	// Alone says that an export made the other fields of the record, so that they are not kept.
	Alone      bool            `json:"alone,omitempty"`
	From       *Origin         `json:"from,omitempty"`
	Note       *bool           `json:"note,omitempty"`
	Role       *string         `json:"role,omitempty"`
	Author     *string         `json:"author,omitempty"`
	Time       *int64          `json:"time,omitempty"` // milliseconds
	Invocation *string         `json:"invocation,omitempty"`
	Hidden     []Placed        `json:"hidden,omitempty"` // parts that no model is shown
	Listed     bool            `json:"listed,omitempty"` // one plain text, but as a part
	Text       *string         `json:"text,omitempty"`   // instead of the words of the record
	Parts      json.RawMessage `json:"parts,omitempty"`  // likewise
	Calls      *[]format.Call  `json:"calls,omitempty"`
	Results    *[]string       `json:"results,omitempty"`
	Tokens     *uint64         `json:"tokens,omitempty"`
	Gone       string          `json:"gone,omitempty"`
	Of         []Hints         `json:"of,omitempty"` // of a record that has several messages
}

// Placed is a part, and where among the parts of its message it was.
type Placed struct {
	At   int             `json:"at"`
	Part json.RawMessage `json:"part"`
}

// ReadHints returns the hints in a record; nil for none that can be used.
func ReadHints(raw json.RawMessage) *Hints {
	if _, ok := jsonvalue.ParseObject(raw); !ok {
		return nil
	}
	var h Hints
	most := MaxListed
	if json.Unmarshal(raw, &h) != nil || h.V != 1 || !h.Usable(&most) {
		return nil
	}
	return &h
}

// MaxListed is the most parts, calls and results that the hints of a record list: each costs time
// that grows with their number.
const MaxListed = 10000

// Usable reports whether hints can be used, and takes what they list from the most that may be
// listed.
func (h *Hints) Usable(most *int) bool {
	list, _ := jsonvalue.Elements(h.Parts)
	*most -= len(list) + len(h.Hidden)
	if h.Calls != nil {
		*most -= len(*h.Calls)
	}
	if h.Results != nil {
		*most -= len(*h.Results)
	}
	for i := range h.Of {
		if *most--; !h.Of[i].Usable(most) {
			return false
		}
	}
	return *most >= 0 && (h.Role == nil || format.IsRole(*h.Role))
}

// Diff returns the hints that turn got into want. For equal messages only V is set. The hints of a
// message whose words are gone say so.
func Diff(want, got *Message) Hints {
	h := Hints{V: 1, Gone: want.Gone, From: change(want.Origin, got.Origin),
		Note: change(want.Note, got.Note), Role: change(want.Role, got.Role),
		Author: change(want.Author, got.Author), Tokens: change(want.Tokens, got.Tokens),
		Invocation: change(want.Invocation, got.Invocation)}
	if !want.Time.Equal(got.Time) {
		ms := want.Time.UnixMilli()
		h.Time = &ms
	}
	if want.Gone != "" {
		return h
	}
	back := *got
	if !sameWords(want, got) {
		h.words(want, got)
		h.applyWords(&back)
		if !sameWords(want, &back) {
			h.Hidden, h.Listed = nil, false
			if h.Text, h.Parts = nil, want.Parts; want.Parts == nil {
				h.Text = &want.Text
			}
			back = *got
			h.applyWords(&back)
		}
	}
	if !slices.Equal(want.Calls, back.Calls) {
		list := append([]format.Call{}, want.Calls...)
		h.Calls = &list
	}
	if !slices.Equal(want.Results, back.Results) {
		list := append([]string{}, want.Results...)
		h.Results = &list
	}
	return h
}

// change returns what is wanted; nil if that is what there is.
func change[T comparable](want, got T) *T {
	if want == got {
		return nil
	}
	return &want
}

func sameWords(a, b *Message) bool {
	return a.Text == b.Text && (a.Parts == nil) == (b.Parts == nil) && bytes.Equal(a.Parts, b.Parts)
}

// words describes the words of want by their difference from those of got, if that is possible.
func (h *Hints) words(want, got *Message) {
	if want.Parts == nil {
		return
	}
	list, _ := jsonvalue.Elements(want.Parts)
	shown := 0
	for i, raw := range list {
		if p := ReadPart(raw); p.Kind == PartHidden {
			h.Hidden = append(h.Hidden, Placed{i, raw})
		} else {
			shown++
		}
	}
	h.Listed = got.Parts == nil && shown == 1 && len(h.Hidden) == 0
}

func (h *Hints) applyWords(m *Message) {
	switch list, err := jsonvalue.Elements(h.Parts); {
	case h.Text != nil:
		m.Text, m.Parts, m.Calls, m.Results = *h.Text, nil, nil, nil
	case err == nil:
		m.SetParts(CompactAll(list))
		m.Text, m.Parts = "", jsonvalue.Array(CompactAll(list))
	case len(h.Hidden) > 0 || h.Listed:
		parts, _ := jsonvalue.Elements(m.Parts)
		if m.Parts == nil {
			parts = []json.RawMessage{TextPart(m.Text, nil)}
		}
		var kept []json.RawMessage
		for _, raw := range parts {
			if ReadPart(raw).Kind != PartHidden {
				kept = append(kept, raw)
			}
		}
		for _, x := range h.Hidden {
			kept = slices.Insert(kept, min(max(x.At, 0), len(kept)), jsonvalue.Compact(x.Part))
		}
		calls, results := m.Calls, m.Results
		m.Text, m.Parts, m.Calls, m.Results = "", jsonvalue.Array(kept), calls, results
	}
}

// CompactAll returns a list of values without white space between tokens.
func CompactAll(list []json.RawMessage) []json.RawMessage {
	return lists.Map(list,
		func(value json.RawMessage) json.RawMessage { return jsonvalue.Compact(value) })
}

// Apply changes a message as the hints say.
func (h *Hints) Apply(m *Message) {
	if h.From != nil && h.From.Agent != "" && h.From.Message != "" {
		m.Origin = Origin{Agent: Fit(h.From.Agent), Session: Fit(h.From.Session),
			Message: Fit(h.From.Message)}
	}
	if h.Note != nil {
		m.Note = *h.Note
	}
	if h.Role != nil {
		m.Role = *h.Role
	}
	if h.Author != nil {
		m.Author = Fit(*h.Author)
	}
	if h.Time != nil {
		m.Time = time.UnixMilli(*h.Time).UTC()
		if m.Time.Year() < 0 || m.Time.Year() > 9999 {
			m.Time = time.Time{}
		}
	}
	if h.Invocation != nil {
		m.Invocation = Fit(*h.Invocation)
	}
	if h.Tokens != nil {
		m.Tokens = *h.Tokens
	}
	h.applyWords(m)
	if h.Calls != nil {
		m.Calls = nil
		for _, c := range *h.Calls {
			m.Calls = append(m.Calls, format.Call{ID: Fit(c.ID), Tool: Fit(c.Tool)})
		}
	}
	if h.Results != nil {
		m.Results = nil
		for _, r := range *h.Results {
			m.Results = append(m.Results, Fit(r))
		}
	}
	m.Gone = h.Gone
}

// Empty reports whether the hints say nothing.
func (h *Hints) Empty() bool {
	return h == nil || string(jsonvalue.Encode(h)) == `{"v":1}`
}
