// Package transcripts holds invented agent sessions as scripts, and writes them as the agents
// would have written them. The same scripts give the same bytes on every platform.
package transcripts

import (
	"embed"
	"strings"

	"github.com/gemini-ctx/ctx/internal/eval/corpus"
)

//go:embed scripts
var scripts embed.FS

// Transcript is the file of one session.
type Transcript struct {
	Name  string // of the script
	Agent string // claude-code or codex
	Data  []byte // JSON lines
}

// All returns the sessions, sorted by name: work on two projects that do not exist, tidewatch in
// Go and papercrane in TypeScript.
func All() []Transcript {
	entries, err := scripts.ReadDir("scripts")
	if err != nil {
		panic("transcripts: " + err.Error()) // the scripts are part of the program
	}
	var list []Transcript
	for _, e := range entries {
		name, isScript := strings.CutSuffix(e.Name(), ".txt")
		if !isScript {
			continue
		}
		s, err := parse(file(e.Name()))
		if err != nil {
			panic("transcripts: " + e.Name() + ": " + err.Error())
		}
		t := Transcript{Name: name, Agent: s.agent}
		if s.agent == "codex" {
			t.Data = writeCodex(s)
		} else {
			t.Data = writeClaude(s)
		}
		list = append(list, t)
	}
	return list
}

// Facts returns questions about the sessions. Their conversation is the name of a session, and
// their answer stands in it and in no other.
func Facts() []corpus.Fact {
	facts, err := corpus.ReadFacts(strings.NewReader(file("facts.jsonl")))
	if err != nil {
		panic("transcripts: facts.jsonl: " + err.Error())
	}
	return facts
}

func file(name string) string {
	b, err := scripts.ReadFile("scripts/" + name)
	if err != nil {
		panic("transcripts: " + err.Error())
	}
	return string(b)
}
