package eval

import "github.com/gemini-ctx/ctx/eval/corpus"

// The spliced set: so many conversations of so many short sessions each.
const (
	splices       = 6
	splicedAtOnce = 6
)

// Own returns the sets that ctx brings along: the long conversation with planted facts, those that are rewound, and agent sessions spliced
// together, by seed.
func Own(seed uint64) []Set {
	planted, facts := corpus.Planted()
	rewound, after := corpus.Rewound()
	spliced := Set{Name: "spliced"}
	sessions := corpus.Conversations(corpus.Agents())
	for i := range uint64(splices) {
		spliced.Messages = append(spliced.Messages, corpus.Splice(sessions, seed+i, splicedAtOnce)...)
	}
	return []Set{{"planted", planted, facts}, {"rewound", rewound, after}, spliced}
}
