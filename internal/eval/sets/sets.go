// Package sets has what is measured: conversations and transcripts, with questions about them. They
// come with ctx, from files, or from a session of a store.
package sets

import (
	"github.com/gemini-ctx/ctx/internal/eval/corpus"
)

// Set is what is measured together: conversations or transcripts, and questions about them.
type Set struct {
	Name     string
	Messages []corpus.Message // in order within a conversation, conversations one after the other
	Facts    []corpus.Fact
	Parts    []string // the parts that are measured; nil for all

	// Transcripts are sessions of agents. A set has messages or transcripts, not both.
	Transcripts []Transcript
}

// The spliced set has 6 conversations, each made of 6 short sessions.
const (
	splices       = 6
	splicedAtOnce = 6
)

// Own returns the sets that come with ctx: a long conversation with planted facts, conversations
// with rewinds, agent sessions that are spliced, conversations about work with facts that no
// setting was tuned for, and transcripts of coding agents. The seed decides how sessions are
// spliced.
func Own(seed uint64) []Set {
	planted, facts := corpus.Planted()
	rewound, after := corpus.Rewound()
	spliced := Set{Name: "spliced"}
	sessions := corpus.Conversations(corpus.Agents())
	for i := range uint64(splices) {
		spliced.Messages = append(spliced.Messages,
			corpus.Splice(sessions, seed+i, splicedAtOnce)...)
	}
	// Its other messages are no requests of a user, and no tool is used.
	working := Set{Name: "working",
		Parts: []string{"facts", "query", "reach", "recovery", "summaries"}}
	working.Messages, working.Facts = corpus.Working()
	agents := Set{Name: "agent-sessions"}
	sessionFiles, questions := corpus.Sessions()
	agents.Facts = questions
	for _, s := range sessionFiles {
		agents.Transcripts = append(agents.Transcripts,
			Transcript{s.Name, AgentOf(s.Data), s.Data})
	}
	return []Set{
		{Name: "planted", Messages: planted, Facts: facts}, {Name: "rewound", Messages: rewound,
			Facts: after}, spliced, working, agents,
	}
}
