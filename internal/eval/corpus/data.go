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
