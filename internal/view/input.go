package view

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/brief"
	"github.com/gemini-ctx/ctx/internal/digest"
)

// Input is everything that a rendering is made from.
type Input struct {
	Session, Branch string
	EpochID         format.ID   // of the epoch in force; zero if there is none
	Epoch           []EpochPart // its initial block, never escaped and never cut
	Clusters        []Cluster   // the live clusters of the pin, in order of arrival
	Tombstones      []Tombstone // newest first
	OlderTombstones int         // the number of older tombstones
	// Evicted are evicted clusters with their summaries, newest first, among which a rendering under a
	// budget chooses. They include those of Tombstones.
	Evicted []Cluster
	Tail    []Message // every message after Through, oldest first
	Query   string    // the question that Matches answer
	Matches []Match   // the messages that answer it, best first
	Work    *Work     // the work of an agent; nil if no tools are called
	// Unread is the number of messages between the prefix and the tail that were not read.
	Unread int

	Growth *Growth // of a stable rendering, under a budget; nil for none

	Pin     format.ID // the forest; zero before the first adoption
	Through uint64    // seq of the last message for which the pin stands
}

func (in *Input) prefixShare() int {
	if in.Work != nil {
		return agentShare
	}
	return prefixShare
}

// EpochPart is the text of the initial block for one key. A blank line separates two parts.
type EpochPart struct{ Key, Text string }

// Cluster is a live cluster of the pin.
type Cluster struct {
	ID          format.ID // of its node, as `ctx expand` takes it
	Members     int
	First, Last time.Time // of its members; zero if unknown
	Parts       []Part    // in order
	// Distinguishes it from the others, at most 70 columns; "" if no tools are called
	Label      string
	Sessions   []string // other sessions of which it has messages, sorted; nil for none
	OthersOnly bool     // all its messages are of Sessions
}

// Part is one summary of a cluster: a ranked extract, or the text of a model.
type Part struct {
	Summary format.ID
	Interim bool // provisional, made at an adoption
	// The best, as many as Options.Reads asks for; nil if Text is set
	Sentences []summarize.Sentence
	Unread    int // the number of sentences after them
	Text      string
}

// Tombstone is an evicted cluster, of which one line remains.
type Tombstone struct {
	ID      format.ID // of its node
	Line    string
	Members int
}

// Match is a message that answers the question.
type Match struct {
	Message
	Score   float64   // of the search; comparable within one search
	Cluster format.ID // the cluster of the message; zero if it is in none
}

// Message is one message of the branch.
type Message struct {
	ID      format.ID
	Seq     uint64
	Role    string // user, model, tool or system
	Author  string
	Time    time.Time // zero if unknown
	Text    string
	Parts   json.RawMessage // an array of Gemini parts; nil for plain text
	Calls   []format.Call
	Results []string // ids of the calls it answers
	Gone    bool     // forgotten: the text is no longer stored

	Masked    []int           // indexes of parts that are shortened
	Replaced  []ReplacedPart  // parts that a replacement stands for
	StandsFor []format.Target // not nil for a replacement: what it stands for
	// Of a replacement: for how many messages it stands, directly or through other replacements
	Replaces int
	// No message: Text tells the model what has changed here, without its wrapper
	Update bool
}

// ReplacedPart is a part of a message that a replacement stands for.
type ReplacedPart struct {
	Part int
	By   format.ID // the replace entry
}

// isReplacement reports whether a message stands for others.
func (m Message) isReplacement() bool { return len(m.StandsFor) > 0 }

// ReplacementLead returns the line before a text that stands for n of what. It says how to print
// the exact words.
func ReplacementLead(n int, what string, by format.ID) string {
	return fmt.Sprintf("[%s in other words; `ctx expand %s` gives the exact ones]\n",
		count(n, what), by.Short(shortID))
}

// Work is the work of an agent on a branch. The prefix then has lines about these facts in place of
// the ranked extracts; the summaries of models stay.
type Work struct {
	Facts []digest.Fact // of the history before the tail, oldest first
	Tail  []digest.Fact // of the tail, oldest first
	// Whole are the facts of both. An act before the tail whose result is in the tail has its outcome
	// only here, because Facts do not change while the branch grows.
	Whole []digest.Fact
	Root  brief.Root // of the session
	// Earlier are the newest messages of the history before the tail. They are printed if room is left
	// after all facts.
	Earlier []Message
	// Others are lines about other sessions of the project, the best first.
	Others []OtherLine
}

// OtherLine is a line about another session.
type OtherLine struct {
	Session string
	Entry   format.ID
	Text    string
}

// Size returns about how many bytes all facts take.
func (w *Work) Size() int {
	const heading = 16
	n := 0
	for _, f := range w.Facts {
		n += len(f.Text) + heading
	}
	return n
}

func (w *Work) hasFacts() bool { return w != nil && len(w.Facts) > 0 }

// TailSize returns the cost of the texts of messages, in quarters of a token.
func TailSize(tail []Message) int {
	n := 0
	for _, m := range tail {
		n += cost(m.Text)
	}
	return n
}
