package sets

import (
	"github.com/gemini-ctx/ctx/internal/eval/corpus"
	"github.com/gemini-ctx/ctx/internal/eval/transcripts"
)

// Set is a corpus under its name.
type Set struct {
	Name     string
	Messages []corpus.Message // in order within a conversation, conversations one after the other
	Facts    []corpus.Fact
	Parts    []string // what is measured of the set; nil for all parts

	// Transcripts are the sessions of agents. A set has messages or transcripts.
	Transcripts []Transcript
}

// The spliced set: so many conversations of so many short sessions each.
const (
	splices       = 6
	splicedAtOnce = 6
)

// WorkingTalks is how many conversations the working set has.
const WorkingTalks = 3

// Own returns the sets that ctx brings along: the long conversation with planted facts, those that
// are rewound, and agent sessions spliced together, by seed; and working talk with facts that
// nothing was tuned on, by seed; and transcripts of coding agents.
func Own(seed uint64) []Set {
	planted, facts := corpus.Planted()
	rewound, after := corpus.Rewound()
	spliced := Set{Name: "spliced"}
	sessions := corpus.Conversations(corpus.Agents())
	for i := range uint64(splices) {
		spliced.Messages = append(spliced.Messages, corpus.Splice(sessions, seed+i, splicedAtOnce)...)
	}
	// Filler is no request of a user, and a talk without tools has no trail.
	working := Set{Name: "working", Parts: []string{"facts", "query", "reach", "recovery", "summaries"}}
	working.Messages, working.Facts = corpus.Working(seed, WorkingTalks)
	agents := Set{Name: "agent-sessions", Facts: transcripts.Facts()}
	for _, t := range transcripts.All() {
		agents.Transcripts = append(agents.Transcripts, Transcript(t))
	}
	return []Set{
		{Name: "planted", Messages: planted, Facts: facts}, {Name: "rewound", Messages: rewound, Facts: after}, spliced, working, agents,
	}
}
