package edits

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/objects"
)

// Edits are the masks and replacements that hold at the tip of a branch. An edit of a message that
// was amended later does not hold: it was made of other words.
type Edits struct {
	Masks map[format.ID]map[int]string // by message and part, the text that is shown
	list  []replaced                   // oldest first
	void  []replaced                   // those that hold no more
}

// replaced is a replace entry and what it says.
type replaced struct {
	id format.ID
	e  *format.Entry
	*format.Replacement
}

// names reports whether a replacement stands for an entry or a part of it.
func (r *replaced) names(id format.ID) bool {
	return slices.ContainsFunc(r.Targets, func(t format.Target) bool { return t.Entry == id })
}

// editsOf reads edits. controls are those of the branch's own line and the amends of its history,
// oldest first; entries of other kinds are ignored.
func (s *Reader) editsOf(controls []history.Entry) (*Edits, error) {
	es := &Edits{Masks: map[format.ID]map[int]string{}}
	for _, c := range controls {
		switch c.Kind {
		case format.KindAmend:
			es.amended(c.Amends)
		case format.KindMask, format.KindReplace:
			if err := s.addEdit(es, c); err != nil {
				return nil, err
			}
		}
	}
	return es, nil
}

// EditsAt returns the edits that hold at a tip.
func (s *Reader) EditsAt(tip format.ID) (*Edits, error) {
	l, err := s.lineOf(tip)
	if err != nil {
		return nil, err
	}
	return s.editsOn(l)
}

// line collects the entries of a branch that decide what is shown, newest first.
type line struct {
	messages []history.Entry
	controls []history.Entry
	latest   map[format.ID]history.Entry // of an amended message, the latest amend
}

// lineOf reads a whole line.
func (s *Reader) lineOf(tip format.ID) (*line, error) {
	l := &line{}
	for e, err := range s.Walk(tip, history.WithJoined) {
		if err != nil {
			return nil, err
		}
		l.add(e)
	}
	return l, nil
}

// add takes the next older entry.
func (l *line) add(e history.Entry) {
	if isEdit(e) {
		l.controls = append(l.controls, e)
	}
	switch e.Kind {
	case format.KindMessage:
		l.messages = append(l.messages, e)
	case format.KindAmend:
		if _, ok := l.latest[e.Amends]; ok {
			return
		}
		if l.latest == nil {
			l.latest = map[format.ID]history.Entry{}
		}
		l.latest[e.Amends] = e
	}
}

// editsOn returns the edits of a line that has been read.
func (s *Reader) editsOn(l *line) (*Edits, error) {
	controls := slices.Clone(l.controls)
	slices.Reverse(controls)
	return s.editsOf(controls)
}

// isEdit reports whether an entry decides what is shown. Of the entries that a join brought only
// amends do: masks and replacements belong to the branch that they were made on.
func isEdit(e history.Entry) bool {
	return e.Kind == format.KindAmend ||
		!e.Joined && (e.Kind == format.KindMask || e.Kind == format.KindReplace)
}

// addEdit reads a mask or a replacement. It ignores one that was forgotten.
func (s *Reader) addEdit(es *Edits, c history.Entry) error {
	_, body, err := s.Text(c.ID)
	var gone *objects.GoneError
	if errors.As(err, &gone) {
		return nil
	}
	if err != nil {
		return err
	}
	if c.Kind == format.KindReplace {
		r, err := format.DecodeReplacement(body)
		if err != nil {
			return fmt.Errorf("object %v: %w", c.ID, err)
		}
		es.list = append(es.list, replaced{c.ID, c.Entry, r})
		return nil
	}
	m, err := format.DecodeMask(body)
	if err != nil {
		return fmt.Errorf("object %v: %w", c.ID, err)
	}
	for _, p := range m.Parts {
		if es.Masks[p.Entry] == nil {
			es.Masks[p.Entry] = map[int]string{}
		}
		es.Masks[p.Entry][p.Part] = p.Text
	}
	return nil
}

// amended removes the edits of a message that gets a later version, and the replacements of these.
func (es *Edits) amended(message format.ID) {
	delete(es.Masks, message)
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

// by returns the replacement that stands for a target, for all of its entry, or for a part of it;
// nil for none.
func (es *Edits) by(t format.Target) *replaced {
	for i := range es.list {
		for _, have := range es.list[i].Targets {
			if have.Entry == t.Entry &&
				(have.Part == t.Part || have.Part == format.WholeEntry ||
					t.Part == format.WholeEntry) {
				return &es.list[i]
			}
		}
	}
	return nil
}

// hides returns the replacement that stands for all of an entry; nil for none.
func (es *Edits) hides(id format.ID) *replaced {
	for i := range es.list {
		if slices.Contains(es.list[i].Targets, format.Target{Entry: id, Part: format.WholeEntry}) {
			return &es.list[i]
		}
	}
	return nil
}

// behind returns the messages that a replacement stands for, directly or through other
// replacements; with whole, those of which no part is left.
func (es *Edits) behind(r *replaced, whole bool) map[format.ID]bool {
	messages := map[format.ID]bool{}
	for todo := slices.Clone(r.Targets); len(todo) > 0; todo = todo[1:] {
		at := slices.IndexFunc(es.list, func(o replaced) bool { return o.id == todo[0].Entry })
		switch {
		case at >= 0:
			todo = append(todo, es.list[at].Targets...)
		case !whole || todo[0].Part == format.WholeEntry:
			messages[todo[0].Entry] = true
		}
	}
	return messages
}
