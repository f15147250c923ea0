package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/session/mask"
	"github.com/gemini-ctx/ctx/session/view"
)

// edits is how a branch's messages are shown otherwise than they were said: what its masks and replacements say that hold at its tip. One that was
// made before its message was amended holds no more: it was made of other words.
type edits struct {
	masks map[format.ID]map[int]string // by message and part, the text that is shown
	list  []replaced                   // oldest first
	void  []replaced                   // those that hold no more
}

// replaced is a replace entry with what it says.
type replaced struct {
	id format.ID
	e  *format.Entry
	*format.Replacement
}

// names reports whether a replacement stands for an entry or a part of it.
func (r *replaced) names(id format.ID) bool {
	return slices.ContainsFunc(r.Targets, func(t format.Target) bool { return t.Entry == id })
}

// editsOf reads what control entries say. controls are those of a branch's own line and the amends of its history, oldest first; others among them
// are passed over.
func (s *Store) editsOf(controls []entryAt) (*edits, error) {
	es := &edits{masks: map[format.ID]map[int]string{}}
	for _, c := range controls {
		switch c.e.Kind {
		case format.KindAmend:
			es.amended(c.e.Amends)
		case format.KindMask, format.KindReplace:
			if err := s.addEdit(es, c); err != nil {
				return nil, err
			}
		}
	}
	return es, nil
}

// editsAt is editsOf for all of a tip's history.
func (s *Store) editsAt(tip format.ID) (*edits, error) {
	var controls []entryAt
	err := s.backSides(tip, func(id format.ID, e *format.Entry, side bool) bool {
		if isEdit(e, side) {
			controls = append(controls, entryAt{id, e})
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	slices.Reverse(controls)
	return s.editsOf(controls)
}

// isEdit reports whether an entry has a say in how messages are shown. Of what a join brought only the amends have: masks and replacements are of
// the branch that they were made on.
func isEdit(e *format.Entry, side bool) bool {
	return e.Kind == format.KindAmend || !side && (e.Kind == format.KindMask || e.Kind == format.KindReplace)
}

// addEdit reads a mask or a replacement. Of one whose words were forgotten nothing is left that could be shown.
func (s *Store) addEdit(es *edits, c entryAt) error {
	_, body, err := s.text(c.id)
	var gone *objects.GoneError
	if errors.As(err, &gone) {
		return nil
	}
	if err != nil {
		return err
	}
	if c.e.Kind == format.KindReplace {
		r, err := format.DecodeReplacement(body)
		if err != nil {
			return fmt.Errorf("object %v: %w", c.id, err)
		}
		es.list = append(es.list, replaced{c.id, c.e, r})
		return nil
	}
	m, err := format.DecodeMask(body)
	if err != nil {
		return fmt.Errorf("object %v: %w", c.id, err)
	}
	for _, p := range m.Parts {
		if es.masks[p.Entry] == nil {
			es.masks[p.Entry] = map[int]string{}
		}
		es.masks[p.Entry][p.Part] = p.Text
	}
	return nil
}

// amended takes away what was made of a message's older words, and what was made of that.
func (es *edits) amended(message format.ID) {
	delete(es.masks, message)
	for todo := []format.ID{message}; len(todo) > 0; todo = todo[1:] {
		es.list = slices.DeleteFunc(es.list, func(r replaced) bool {
			if !r.names(todo[0]) {
				return false
			}
			es.void = append(es.void, r)
			todo = append(todo, r.id)
			return true
		})
	}
}

// by returns the replacement that stands for a target, or for all of its entry, in whole or in part; nil for none.
func (es *edits) by(t format.Target) *replaced {
	for i := range es.list {
		for _, have := range es.list[i].Targets {
			if have.Entry == t.Entry && (have.Part == t.Part || have.Part == format.WholeEntry || t.Part == format.WholeEntry) {
				return &es.list[i]
			}
		}
	}
	return nil
}

// hides returns the replacement that an entry is not shown for; nil where it is shown.
func (es *edits) hides(id format.ID) *replaced {
	for i := range es.list {
		if slices.Contains(es.list[i].Targets, format.Target{Entry: id, Part: format.WholeEntry}) {
			return &es.list[i]
		}
	}
	return nil
}

// edited is messages as they are shown, oldest first: masks are applied, then replacements in the order in which they were made.
func (es *edits) edited(list []view.Message) []view.Message {
	for i := range list {
		if m := &list[i]; !m.Gone {
			m.Text, m.Parts, m.Masked = es.masked(m.ID, m.Text, m.Parts)
		}
	}
	for i := range es.list {
		list = es.list[i].apply(list, len(es.behind(&es.list[i])))
	}
	return list
}

// behind returns the messages that a replacement stands for, those of a replacement that it stands for among them.
func (es *edits) behind(r *replaced) map[format.ID]bool {
	messages := map[format.ID]bool{}
	for todo := slices.Clone(r.Targets); len(todo) > 0; todo = todo[1:] {
		at := slices.IndexFunc(es.list, func(o replaced) bool { return o.id == todo[0].Entry })
		if at < 0 {
			messages[todo[0].Entry] = true
			continue
		}
		todo = append(todo, es.list[at].Targets...)
	}
	return messages
}

// masked returns what is shown of a message's words, and which of its parts are shortened.
func (es *edits) masked(id format.ID, text string, parts []byte) (string, []byte, []int) {
	short := es.masks[id]
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
	parts = joinParts(raws)
	return Words(parts), parts, done
}

// maskedShown is masked for an entry as log prints it.
func (es *edits) maskedShown(shown *Shown) *Shown {
	if shown.Gone != "" || len(es.masks[shown.ID]) == 0 {
		return shown
	}
	out := *shown
	out.Text, out.Parts, out.Masked = es.masked(shown.ID, shown.Text, shown.Parts)
	return &out
}

func joinParts(raws []json.RawMessage) []byte {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, raw := range raws {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(raw)
	}
	b.WriteByte(']')
	return b.Bytes()
}

// apply puts the replacement in the place of the first of its targets that is in list, and takes the others away. Where none is, list stays as it is.
// messages is how many it stands for.
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

// message is the replacement in the place of a message. It is the user's side that says it, as it says everything that no model did.
func (r *replaced) message(first view.Message, messages int) view.Message {
	return view.Message{ID: r.id, Seq: first.Seq, Role: "user", Time: r.e.Time, Text: r.Text, StandsFor: r.Targets, Replaces: messages}
}

// inParts is a message in which parts are replaced: the first of all has the text, the others say where it is.
func (r *replaced) inParts(m view.Message, indexes []int, said *bool) view.Message {
	next := func(part int) string {
		m.Replaced = slices.DeleteFunc(slices.Clone(m.Replaced), func(p view.ReplacedPart) bool { return p.Part == part })
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
	m.Parts = joinParts(raws)
	m.Text = Words(m.Parts)
	return m
}
