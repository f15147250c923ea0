// Package transcript is what the readers and writers of agents' transcripts have in common: steps and messages, lines that a crash has damaged, JSON
// objects with fields that nobody knows yet, and the hints with which a message that was written in another agent's form is read back as it was.
// It is pure: bytes in, values out; no clock, no environment, no files.
package transcript

import (
	"encoding/json"
	"time"

	"github.com/gemini-ctx/ctx/format"
)

// Own is the agent that an Origin names where a store of ctx had the message first.
const Own = "ctx"

// The values of Message.Role.
const (
	RoleUser   = "user"
	RoleModel  = "model"
	RoleTool   = "tool"
	RoleSystem = "system"
)

// Origin names a message where it was said first.
type Origin struct {
	Agent   string `json:"agent,omitempty"`
	Session string `json:"session,omitempty"`
	Message string `json:"message,omitempty"`
}

// Message is a message or a note. Text and Parts are never both set.
type Message struct {
	Origin     Origin
	Note       bool // said about the conversation, not in it
	Role       string
	Author     string    // of the model: its name
	Time       time.Time // whole milliseconds; zero where nothing says it
	Invocation string
	Text       string
	Parts      json.RawMessage // a JSON array of parts in the shape of the Gemini API, without white space between tokens
	Calls      []format.Call
	Results    []string
	Tokens     uint64
	Gone       string // why there are no words any more; "" where there are
}

// Kind says what a step is.
type Kind int

// The kinds of step.
const (
	KindMessage Kind = iota // a message or a note; one whose origin came before is a newer version of it
	KindRewind              // messages leave the conversation
)

// Step is one thing that happened in a conversation, or in one of its threads.
type Step struct {
	Kind    Kind
	Message Message // of a rewind: its origin and time only
	// Session is what the transcript calls itself, and Home the session of a store that it was exported from; nil for none.
	Session string
	Home    *Home
	// Thread names the conversation of a subagent; "" is the main one.
	Thread string
	// RewindTo, of a rewind, is the first message that leaves; it and every one after it do.
	RewindTo Origin
	// Begins is the session that this one may begin with a copy of; "" for none.
	Begins string
	// Tree is set by readers whose transcripts are trees: the place of each message is the end of the line that the steps before have made, wherever a store has
	// it. nil where messages follow each other as they come.
	Tree *Tree
	// Number is that of a message's step in its thread, of a tree.
	Number int
	// Loose says that the transcript does not tell what the message follows.
	Loose bool
}

// Tree is a transcript that says of each message what it follows.
type Tree struct {
	Agent string // whose records they are
	// Place returns the number that the step of a message has in its thread; ok is false for a message that the transcript does not have.
	Place func(Origin) (number int, ok bool)
	// Follows reports whether both messages are the transcript's, and late is said after early on the same line.
	Follows func(late, early Origin) bool
}

// Read is a reader of one agent's transcripts. It calls emit for each step, in the order of the bytes, and returns when r ends or fails, or when emit
// returns an error, which it returns as it is. The same bytes give the same steps. A transcript that has grown begins with the steps that it gave before, but
// for one that is a tree, whose messages keep what they follow.
type Read func(emit func(Step) error) (Stats, error)

// Spawn says that a call began the conversation of a subagent.
type Spawn struct {
	Call   string
	Thread string // the thread of the step, or the session of its own that the agent gave it
}

// Stats says what a reader saw. The maps are never nil.
type Stats struct {
	Session string         // the first session that the transcript names
	Home    *Home          // the session of a store that the transcript was exported from; nil for none
	Parent  string         // the session that this one works for, where the transcript says it
	Spawned []Spawn        // in order
	Records int            // whole records, of whatever kind
	Skipped map[string]int // what could not be used, by reason
	Passed  map[string]int // what says nothing new, by kind
	Kept    map[string]int // records of kinds that the reader does not know, kept as they are
	Bytes   int64          // up to the end of the last whole record
}

// NewStats returns empty stats.
func NewStats() Stats {
	return Stats{Skipped: map[string]int{}, Passed: map[string]int{}, Kept: map[string]int{}}
}

// Skip counts something that could not be used.
func (s *Stats) Skip(reason string, n int) {
	if n > 0 {
		s.Skipped[reason] += n
	}
}

// Pass counts something that says nothing new.
func (s *Stats) Pass(kind string) { s.Passed[kind]++ }

// Home is the session of a store that a transcript was exported from.
type Home struct {
	Store   string `json:"store"`
	Session string `json:"session"`
}

// The keys of Stats.Skipped.
const (
	SkipBadJSON  = "bad json"       // a line, or a piece of one, that is no JSON
	SkipUnknown  = "unknown record" // JSON that is no record
	SkipLong     = "record too long"
	SkipDeep     = "nested too deep"
	SkipTornTail = "torn tail" // the end of the input is no whole record
	SkipNULRun   = "nul run"   // a run of NUL bytes; what is around it was read
	SkipOrphan   = "parent not found"
	SkipUnread   = "unreadable file"
)

// Item is a message as a writer takes it.
type Item struct {
	Message
	// Entry is the id of the message's entry in the store, in hexadecimal; "" where nothing says it.
	Entry string
	// Open are the calls of it that nobody answers.
	Open []string
	// Orphan says that it answers calls which nobody made.
	Orphan bool
}

// Written is what a writer reports.
type Written struct {
	Records  int
	Messages int
	Notes    int
	Changed  map[string]int // what is there in another form than it was said, by reason
	Left     map[string]int // what is not there, by reason
}

// NewWritten returns an empty report.
func NewWritten() Written { return Written{Changed: map[string]int{}, Left: map[string]int{}} }

// Count counts a message or a note.
func (w *Written) Count(m *Message) {
	if m.Note {
		w.Notes++
	} else {
		w.Messages++
	}
}

// WriteOptions say where a transcript is for.
type WriteOptions struct {
	Session string    // the id that the agent is to know it by
	Home    *Home     // where it comes from; nil says nothing of it
	Dir     string    // the project's directory
	Move    bool      // the session is to be of that directory, wherever it was before
	Title   string    // a line that names it, for agents that show one
	Now     time.Time // of the newest message: when the session was last changed
}
