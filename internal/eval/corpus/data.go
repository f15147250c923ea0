package corpus

import (
	"bytes"
	"embed"
)

//go:embed *.jsonl
var files embed.FS

// Planted returns the long conversation and its facts. It is linear: nothing in it is rewound.
func Planted() ([]Message, []Fact) { return load("planted"), loadFacts("planted") }

// Rewound returns the conversations in which a message has a RewindTo, and their facts.
func Rewound() ([]Message, []Fact) { return load("rewound"), loadFacts("rewound") }

// Agents returns the short sessions, one conversation each, one after the other. Their topic is
// their conversation.
func Agents() []Message { return load("agents") }

// Working returns conversations between a user and a model about everyday work, and their facts.
func Working() ([]Message, []Fact) { return load("working"), loadFacts("working") }

// load reads an embedded set. The files are part of the program and the tests read them, so that
// one which cannot be read is a mistake of whoever built it.
func load(set string) []Message {
	messages, err := Read(bytes.NewReader(file(set + ".messages.jsonl")))
	if err != nil {
		panic("corpus: " + set + ".messages.jsonl: " + err.Error())
	}
	return messages
}

func loadFacts(set string) []Fact {
	facts, err := ReadFacts(bytes.NewReader(file(set + ".facts.jsonl")))
	if err != nil {
		panic("corpus: " + set + ".facts.jsonl: " + err.Error())
	}
	return facts
}

func file(name string) []byte {
	b, err := files.ReadFile(name)
	if err != nil {
		panic("corpus: " + err.Error())
	}
	return b
}

// Fact is one line of a facts file: something that a conversation tells, with a question about it.
// In the sets of this package the answer occurs word for word in each message of the evidence and
// in no other message of the conversation.
type Fact struct {
	Conversation string `json:"conversation"`
	// As somebody would ask later, with few of the answer's words
	Query    string `json:"query"`
	Answer   string `json:"answer"`   // a short exact string
	Evidence []int  `json:"evidence"` // the seqs of the messages that tell it, ascending
	Kind     string `json:"kind"`     // one of the kinds below; empty is Plain

	// Other is the answer to the same question about the close topic, on a Contradiction. It is not in
	// the evidence.
	Other string `json:"other,omitempty"`
	// Stale is what was said before, on Superseded, Wrong and TakenBack. It occurs before the end of
	// the evidence and not after it; on TakenBack, only in messages that were taken back.
	Stale string `json:"stale,omitempty"`
	// Never is a string that may not be found anywhere once it was handled, on Secret: because
	// sanitizing takes it out, or, in a conversation that is rewound, because the messages with it
	// were taken back and forgotten.
	Never string `json:"never,omitempty"`
}

// The kinds of facts.
const (
	Plain = "fact"
	// Two close topics have different answers, and the question names its side
	Contradiction = "contradiction"
	Superseded    = "superseded" // a later answer replaced an earlier one
	Wrong         = "wrong"      // an early assumption was put right in the talk
	TakenBack     = "rewound"    // an early assumption was taken back by a rewind
	// Beside the answer there was a credential, which has to be gone
	Secret = "secret"
)
