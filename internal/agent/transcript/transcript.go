// Package transcript is what the readers and writers of agents' transcripts have in common: steps
// and messages, lines that a crash has damaged, JSON objects with fields that nobody knows yet, and
// the hints with which a message that was written in another agent's form is read back as it was;
// whose words a text is (marks.go), and what an agent says of a session (titles.go). It is pure:
// bytes in, values out; no clock, no environment, no files.
package transcript

import (
	"encoding/json"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
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
	// A JSON array of parts in the shape of the Gemini API, without white space between tokens
	Parts   json.RawMessage
	Calls   []format.Call
	Results []string
	Tokens  uint64
	Gone    string // why there are no words any more; "" where there are
	// Record is the content in one spelling, equal for versions that say the same. A reader that
	// sets it names its messages itself: nothing is added to their origins. nil leaves the
	// comparison to the caller.
	Record []byte
	// Secrets are values in the words that are secrets by what was said before.
	Secrets []string
}

// Kind says what a step is.
type Kind int

// The kinds of step.
const (
	// A message or a note; one whose origin came before is a newer version of it
	KindMessage Kind = iota
	KindRewind       // RewindTo and all later messages leave the conversation
)

// Step is one thing that happened in a conversation, or in one of its threads.
type Step struct {
	Kind    Kind
	Message Message // of a rewind: its origin and time only
	// Session is what the transcript calls itself, and Home the session of a store that it was
	// exported from; nil for none.
	Session string
	Home    *Home
	// Owner tells whose session it is, for an agent that has ids of sessions for each owner.
	Owner string
	// Thread names the conversation of a subagent; "" is the main one.
	Thread string
	// RewindTo, of a rewind, is the first message that leaves, with every later one. The zero
	// Origin stands for all messages.
	RewindTo Origin
	// Begins is the session that this one may begin with a copy of; "" for none. Given says that the
	// copy is what a subagent was given, not the history of a fork.
	Begins string
	Given  bool
	// Tree is set by readers whose transcripts are trees. Each message follows the end of the line
	// that the steps before it have made, wherever a store has the message. nil if messages follow
	// each other as they come.
	Tree *Tree
	// Number is that of a message's step in its thread, of a tree.
	Number int
	// Loose says that the transcript does not name the message that this one follows.
	Loose bool
}

// Tree is a transcript that says of each message what it follows.
type Tree struct {
	Agent string // that wrote the records
	// Number returns the Step.Number of a message; ok is false for a message that the transcript
	// does not have.
	Number func(Origin) (number int, ok bool)
	// Follows reports whether both messages are the transcript's, and late is said after early on
	// the same line.
	Follows func(late, early Origin) bool
}

// Read is a reader of one agent's transcripts. It calls emit for each step, in the order of the
// bytes, and returns when r ends or fails, or when emit returns an error, which it returns as it
// is. The same bytes give the same steps. A transcript that has grown begins with the steps that it
// gave before, but for one that is a tree, whose messages keep what they follow.
type Read func(emit func(Step) error) (Stats, error)

// Spawn says that a call began the conversation of a subagent.
type Spawn struct {
	Call   string
	Thread string // the thread of the step, or the session of its own that the agent gave it
}

// Stats says what a reader saw. The maps are never nil.
type Stats struct {
	Session string // the first session that the transcript names
	// The session of a store that the transcript was exported from; nil for none
	Home    *Home
	Parent  string            // the session that this one works for, where the transcript says it
	Spawned []Spawn           // in order
	Records int               // whole records, of whatever kind
	Skipped map[string]int    // what could not be used, by reason
	Passed  map[string]int    // what says nothing new, by kind
	Unknown int               // rewinds to a message that the transcript does not have
	Kept    map[string]int    // records of kinds that the reader does not know, kept as they are
	Bytes   int64             // up to the end of the last whole record
	Version string            // of the agent, the newest that the transcript names; "" for none
	After   []json.RawMessage // records that no message follows yet
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
func (s *Stats) Pass(kind string) { s.PassN(kind, 1) }

// PassN is Pass for n things.
func (s *Stats) PassN(kind string, n int) {
	if n > 0 {
		s.Passed[kind] += n
	}
}

// Rewind returns a rewind to a message, which a record of an agent tells that has this name.
func (s *Stats) Rewind(agent, name string, when time.Time, to Origin) Step {
	return Step{Kind: KindRewind, Session: s.Session, Home: s.Home, RewindTo: to,
		Message: Message{Time: when,
			Origin: Origin{Agent: agent, Session: Fit(s.Session), Message: Fit(name)}}}
}

// ReadHome takes from the hints of a record the session of a store that the transcript was exported
// from. The first record that names one counts. h may be nil.
func (s *Stats) ReadHome(h *Hints) {
	if h != nil && s.Home == nil {
		s.Home = h.Home
	}
}

// Home is the session of a store that a transcript was exported from.
type Home struct {
	Store   string `json:"store"`
	Session string `json:"session"`
	// As is the session that the export is for its agent, if the agent copies hints into others; ""
	// if it does not.
	As string `json:"as,omitempty"`
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

// Spent is what an agent reports that a call of a model took. Numbers are tokens, and each token is
// in one of them only.
type Spent struct {
	// Call names the call: records with one name are of one call, and the newest of them counts.
	Call string
	// Sums says that Call is made of sums of a session: another session may come to the same.
	Sums       bool
	Model      string // "" where the author of the message is the model
	Input      uint64 // that no cache had
	CacheRead  uint64
	CacheWrite uint64 // for minutes
	CacheHour  uint64 // written for an hour
	Output     uint64 // thoughts included
}

// SpentAsGemini reads the usageMetadata of Gemini's API.
func SpentAsGemini(of jsonvalue.Object) []Spent {
	u := of.Object("usageMetadata")
	if len(u) == 0 {
		return nil
	}
	cached := u.Number("cachedContentTokenCount")
	return []Spent{{Input: less(u.Number("promptTokenCount"), cached), CacheRead: cached,
		Output: u.Number("candidatesTokenCount") + u.Number("thoughtsTokenCount")}}
}

// SpentBefore reads what records say that are kept before the one of a message.
func SpentBefore(of jsonvalue.Object, read func(record jsonvalue.Object) []Spent) []Spent {
	list, _ := of.Array(BeforeName)
	var all []Spent
	for _, raw := range list {
		all = append(all, read(jsonvalue.AsObject(raw))...)
	}
	return all
}

// less returns how much more all is than a part of it.
func less(all, part uint64) uint64 { return all - min(all, part) }
