package geminicli

import "github.com/gemini-ctx/ctx/agent/transcript"

// The keys of Stats.Skipped.
const (
	SkipBadJSON       = "bad json"      // a line, or the rest of one, that is not JSON
	SkipLongLine      = "line too long" // a line over MaxLine
	SkipLongDocument  = "document too long"
	SkipTornTail      = "torn tail"      // bytes after the last line feed, or a document that breaks off
	SkipUnknownRecord = "unknown record" // JSON of no known kind
	SkipNULRun        = "nul run"        // a run of NUL bytes, as a crash leaves; what is around it was read
)

// Stats says what Read saw. Counts are of this reading; nothing in it depends on a clock.
type Stats struct {
	Lines    int // lines that were not blank, a leading JSON document as one
	Messages int // Message steps emitted, newer versions included
	Notes    int // Note steps emitted
	Rewinds  int // Rewind steps emitted, unknown ones included
	Unknown  int // Rewind steps with RewindUnknown

	Repeated       int // copies of a known message that said nothing new
	MaskedCopies   int // copies of a known tool result that the agent had shortened
	Empty          int // message records without content: the agent writes them again
	SessionContext int // the agent's description of its environment, dropped
	HookContext    int // texts that hooks had injected, dropped

	// Skipped counts what could not be used, by the Skip constants. It is never nil.
	Skipped map[string]int

	Session     string             // the first session id, "" if there is none
	ProjectHash string             // the first project hash: lower-case hex SHA-256 of the project's root path
	Kind        string             // the last kind: "main", "subagent" or "" in old transcripts
	Summary     string             // the last summary the agent wrote, one line
	Spawned     []transcript.Spawn // calls that a subagent worked for, and its session's id, each once
	Document    bool               // the transcript began as one JSON document, which the agent rewrites as a whole

	// Bytes is the number of input bytes up to the last line feed, or the end of a document if that is later. A second
	// reading of a transcript that has grown gives the same steps up to here.
	Bytes int64
}
