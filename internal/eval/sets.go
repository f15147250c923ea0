package eval

import (
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/eval/corpus"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
)

// Set is what is measured together: conversations, and questions about them. Sets come with ctx,
// from files, or from a session of a store.
type Set struct {
	Name     string
	Messages []corpus.Message // in order within a conversation, conversations one after the other
	Facts    []corpus.Fact
	Parts    []string // the parts that are measured; nil for all
}

// The spliced set has 6 conversations, each made of 6 short sessions.
const (
	splices       = 6
	splicedAtOnce = 6
)

// Own returns the sets that come with ctx: a long conversation with planted facts, conversations
// with rewinds, agent sessions that are spliced, and conversations about work with facts that no
// setting was tuned for. The seed decides how sessions are spliced.
func Own(seed uint64) []Set {
	planted, facts := corpus.Planted()
	rewound, after := corpus.Rewound()
	spliced := Set{Name: "spliced"}
	sessions := corpus.Conversations(corpus.Agents())
	for i := range uint64(splices) {
		spliced.Messages = append(spliced.Messages,
			corpus.Splice(sessions, seed+i, splicedAtOnce)...)
	}
	working := Set{Name: "working", Parts: []string{"facts", "query", "reach", "recovery"}}
	working.Messages, working.Facts = corpus.Working()
	return []Set{
		{Name: "planted", Messages: planted, Facts: facts}, {Name: "rewound", Messages: rewound,
			Facts: after}, spliced, working,
	}
}

// FromStore returns the messages of a branch as a set, without topics and questions. It only reads
// the store.
func FromStore(s *session.Store, tip format.ID, name string) (Set, error) {
	set := Set{Name: name}
	err := s.Recall.LogEach(tip, recall.LogOptions{}, func(shown *history.Shown) error {
		if shown.Entry.Kind == format.KindMessage && shown.Gone == "" {
			set.Messages = append(set.Messages, messageOf(shown, name, len(set.Messages)))
		}
		return nil
	})
	return set, err
}

func messageOf(s *history.Shown, conversation string, seq int) corpus.Message {
	m := corpus.Message{
		Conversation: conversation, Seq: seq, Role: s.Entry.Role, Author: s.Entry.Author,
		Time: format.FormatTime(s.Entry.Time), Text: s.Text,
	}
	for _, c := range s.Entry.Calls {
		m.Calls = append(m.Calls, corpus.Call{ID: c.ID, Name: c.Tool})
	}
	for _, id := range s.Entry.Results {
		m.Results = append(m.Results, corpus.Result{ID: id})
	}
	return m
}
