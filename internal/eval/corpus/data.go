package corpus

import (
	"bytes"
	"embed"
	"io/fs"
	"strings"
)

//go:embed *.jsonl sessions
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

// Session is the file that an agent wrote of one session, as JSON lines.
type Session struct {
	Name string
	Data []byte
}

// Sessions returns sessions of Claude Code and Codex, sorted by name, and questions about them.
// The conversation of a question is the name of a session; its answer stands in that session and
// in no other.
func Sessions() ([]Session, []Fact) {
	const folder = "sessions"
	entries, err := fs.ReadDir(files, folder)
	if err != nil {
		panic("corpus: " + err.Error())
	}
	var list []Session
	for _, e := range entries {
		list = append(list,
			Session{strings.TrimSuffix(e.Name(), ".jsonl"), file(folder + "/" + e.Name())})
	}
	return list, loadFacts(folder)
}

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
