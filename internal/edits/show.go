package edits

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/edits/mask"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/view"
)

// MessageOf returns an entry in the form that a view renders.
func MessageOf(s *history.Shown) view.Message {
	return view.Message{
		ID: s.ID, Seq: s.Entry.Seq, Role: s.Entry.Role, Author: s.Entry.Author, Time: s.Entry.Time,
		Text: s.Text, Parts: s.Parts, Calls: s.Entry.Calls, Results: s.Entry.Results,
		Gone: s.Gone != "",
	}
}

// Overlay applies the edits and epoch updates of a branch to its verbatim tail. tail has the
// messages after through, controls the masks, replacements, amends and epoch entries there, both
// oldest first.
func (s *Reader) Overlay(tail []view.Message, controls []history.Entry) ([]view.Message, error) {
	var edits, epochs []history.Entry
	for _, c := range controls {
		if c.Kind == format.KindEpoch {
			epochs = append(epochs, c)
		} else {
			edits = append(edits, c)
		}
	}
	es, err := s.editsOf(edits)
	if err != nil {
		return nil, err
	}
	return s.epochs.WithUpdates(es.edited(tail), epochs)
}

// edited returns messages as they are shown, oldest first: it applies masks, then replacements in
// the order in which they were made.
func (es *Edits) edited(list []view.Message) []view.Message {
	for i := range list {
		if m := &list[i]; !m.Gone {
			m.Text, m.Parts, m.Masked = es.masked(m.ID, m.Text, m.Parts)
		}
	}
	for i := range es.list {
		list = es.list[i].apply(list, len(es.behind(&es.list[i], false)))
	}
	return list
}

// masked returns what is shown of the words of a message, and which of its parts are shortened.
func (es *Edits) masked(id format.ID, text string, parts []byte) (string, []byte, []int) {
	short := es.Masks[id]
	if len(short) == 0 {
		return text, parts, nil
	}
	if parts == nil {
		if t, ok := short[0]; ok {
			return t, nil, []int{0}
		}
		return text, parts, nil
	}
	var done []int
	raws := mask.Split(parts)
	for i := range raws {
		if t, ok := short[i]; ok {
			raws[i] = mask.Replace(raws[i], t)
			done = append(done, i)
		}
	}
	if done == nil {
		return text, parts, nil
	}
	parts = jsonvalue.Array(raws)
	return history.Words(parts), parts, done
}

// MaskedShown returns an entry as it is shown with the masks.
func (es *Edits) MaskedShown(shown *history.Shown) *history.Shown {
	if shown.Gone != "" || len(es.Masks[shown.ID]) == 0 {
		return shown
	}
	out := *shown
	out.Text, out.Parts, out.Masked = es.masked(shown.ID, shown.Text, shown.Parts)
	return &out
}

// apply puts a replacement in the place of its first target in list and removes the others.
// messages is the number of messages that it stands for.
func (r *replaced) apply(list []view.Message, messages int) []view.Message {
	parts := map[format.ID][]int{}
	for _, t := range r.Targets {
		if t.Part == format.WholeEntry {
			parts[t.Entry] = nil
		} else {
			parts[t.Entry] = append(parts[t.Entry], t.Part)
		}
	}
	said := false
	out := make([]view.Message, 0, len(list))
	for _, m := range list {
		indexes, ok := parts[m.ID]
		switch {
		case !ok:
			out = append(out, m)
		case indexes != nil:
			out = append(out, r.inParts(m, indexes, &said))
		case !said:
			said = true
			out = append(out, r.message(m, messages))
		}
	}
	return out
}

// message returns the replacement of a message. Its role is user, as of everything that no model
// said.
func (r *replaced) message(first view.Message, messages int) view.Message {
	return view.Message{ID: r.id, Seq: first.Seq, Role: "user", Time: r.e.Time, Text: r.Text,
		StandsFor: r.Targets, Replaces: messages}
}

// inParts returns a message with parts replaced. The first replaced part of all has the text, the
// others refer to it; said tells whether that part has come.
func (r *replaced) inParts(m view.Message, indexes []int, said *bool) view.Message {
	next := func(part int) string {
		m.Replaced = slices.DeleteFunc(slices.Clone(m.Replaced),
			func(p view.ReplacedPart) bool { return p.Part == part })
		m.Replaced = append(m.Replaced, view.ReplacedPart{Part: part, By: r.id})
		if *said {
			return fmt.Sprintf("[replaced: `ctx expand %v` gives the exact words]", r.id)
		}
		*said = true
		return view.ReplacementLead(1, "part", r.id) + r.Text
	}
	if m.Gone {
		return m
	}
	if m.Parts == nil {
		m.Text = next(0)
		return m
	}
	raws := mask.Split(m.Parts)
	for i := range raws {
		if !slices.Contains(indexes, i) {
			continue
		}
		text := next(i)
		switch k, _, _ := mask.KindOf(raws[i]); k {
		case mask.Result, mask.Text:
			raws[i] = mask.Replace(raws[i], text)
		default:
			raws[i] = mask.Replace(json.RawMessage(`{"text":""}`), text)
		}
	}
	m.Parts = jsonvalue.Array(raws)
	m.Text = history.Words(m.Parts)
	return m
}
