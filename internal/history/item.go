package history

import (
	"github.com/gemini-ctx/ctx/forest/score"
	"github.com/gemini-ctx/ctx/format"
)

// Item is a message after the frontier of a branch.
type Item struct {
	ID      format.ID
	Role    string
	Calls   []string // ids of the tool calls it makes
	Results []string // ids of the calls it answers
	// Version is the entry that has its newest text; "" where that is the message itself.
	Version string
	// Features is what the choice of a cluster looks at, as score encodes it; nil where nobody has
	// looked yet.
	Features []byte

	Said *score.Message  // when at hand
	look *score.Features // of said, or decoded
}

// ItemOf returns the item of a message. e is the entry with the text of the message: the message
// itself, or its latest version, whose id is then version.
func ItemOf(id format.ID, e *format.Entry, version format.ID) Item {
	it := Item{ID: id, Role: e.Role, Results: e.Results}
	for _, c := range e.Calls {
		it.Calls = append(it.Calls, c.ID)
	}
	if !version.IsZero() {
		it.Version = version.String()
	}
	return it
}

// Features returns what the choice of a cluster compares of a message in the window: the cached
// features, or those of its latest version. A forgotten message has the features of an empty text.
func (s *Reader) Features(h *Head, it *Item) (score.Features, error) {
	if it.look != nil {
		return *it.look, nil
	}
	if it.Features != nil {
		if f, rest, err := score.DecodeFeatures(it.Features); err == nil && len(rest) == 0 {
			it.look = &f
			return f, nil
		}
	}
	if it.Said == nil {
		id := it.ID
		if it.Version != "" {
			newest, err := format.ParseID(it.Version)
			if err != nil {
				return score.Features{}, err
			}
			id = newest
		}
		shown, err := s.Entry(id)
		if err != nil {
			return score.Features{}, err
		}
		m := ScoreMessage(h.Session, shown.Entry, shown.Text)
		m.Role = it.Role
		it.Said = &m
	}
	f := score.Of(*it.Said)
	it.look, it.Said = &f, nil
	return f, nil
}

// ScoreMessage returns an entry in the form in which a cluster is chosen for it.
func ScoreMessage(conversation string, e *format.Entry, text string) score.Message {
	m := score.Message{Conversation: conversation, Role: e.Role, Author: e.Author,
		Time: e.Time, Text: text}
	for _, c := range e.Calls {
		m.Calls = append(m.Calls, c.Tool)
	}
	return m
}
