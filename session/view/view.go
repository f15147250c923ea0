// Package view turns what a branch renders into bytes: text for people, one JSON document for programs, or the messages a
// model provider takes. It is pure: values in, bytes out, the same bytes on every platform. It reads no store and no clock.
//
// What is printed has two halves. The prefix is what the model is told first, the initial block of its epoch, and what stands for everything up to
// the branch's pin: one block of topic clusters with their summaries, then tombstones. It depends on the epoch, the pin, the format, the
// budget and what is expanded, and on nothing else, so that a provider's prompt cache stays warm while the branch grows. The tail is every message
// after the pin, word for word, and between them what the model was told to have changed. Text in the block of clusters was said by others and is
// escaped; text in the tail is the conversation itself and is not; an update is escaped, so that nothing in it can end it.
package view

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
)

// Format names what Render writes.
type Format string

// The formats. Gemini, OpenAI and Anthropic are request bodies without a model's name: roles alternate, a user turn comes
// first, every tool call is followed by its result. They may end in a model turn; whoever sends them appends the prompt.
const (
	Text      Format = "text"
	JSON      Format = "json"
	Gemini    Format = "gemini"
	OpenAI    Format = "openai"
	Anthropic Format = "anthropic"
)

// ParseFormat reads the name of a format; any other name is an error.
func ParseFormat(s string) (Format, error) {
	switch f := Format(s); f {
	case Text, JSON, Gemini, OpenAI, Anthropic:
		return f, nil
	}
	return "", fmt.Errorf("unknown format: %.40q", s)
}

// Input is what a branch renders.
type Input struct {
	Session, Branch string
	EpochID         format.ID   // in force; zero where there is none
	Epoch           []EpochPart // its initial block, printed as it is: never escaped, never cut
	Clusters        []Cluster   // the live clusters of the pin, in order of arrival
	Tombstones      []Tombstone // newest first
	OlderTombstones int         // how many there are besides
	// Evicted are evicted clusters with their summaries, newest first, for a rendering under a budget to choose among. Those of Tombstones
	// are among them, if there are any.
	Evicted []Cluster
	Tail    []Message // every message after Through, oldest first
	Query   string    // the question that Matches answer
	Matches []Match   // the messages that answer it, best first
	Work    *Work     // what an agent did; nil where no tools are called
	// Unread is how many messages lie between the prefix and the tail that nobody has read.
	Unread int

	Pin     format.ID // the forest; zero before the first leave
	Through uint64    // seq of the last message the pin stands for
}

// EpochPart is what the initial block says of one key. A blank line is between two parts.
type EpochPart struct{ Key, Text string }

// Cluster is a live cluster of the pin.
type Cluster struct {
	ID          format.ID // of its node: what `ctx expand` takes
	Members     int
	First, Last time.Time // of its members; zero where unknown
	Parts       []Part    // in order
	Label       string    // tells it apart from the others, at most 70 columns; "" in plain talk
	Sessions    []string  // other sessions of which it has messages, sorted; nil where it has none
	Elsewhere   bool      // it is of Sessions alone
}

// Part is one summary of a cluster: a ranked extract, or the text of a summariser that is not ours.
type Part struct {
	Summary   format.ID
	Interim   bool                 // made at a leave, to be replaced
	Sentences []summarize.Sentence // the best, as many as Options.Reads asks for; nil where Text stands
	Unread    int                  // how many there are after them
	Text      string
}

// Tombstone is a cluster that is out of the context but for one line.
type Tombstone struct {
	ID      format.ID // of its node
	Line    string
	Members int
}

// Match is a message that answers the question.
type Match struct {
	Message
	Score   float64   // of the search; only how the scores of one search compare counts
	Cluster format.ID // that the message is a member of; zero where it is in none, as one of the tail
}

// Message is one message of the branch.
type Message struct {
	ID      format.ID
	Seq     uint64
	Role    string // user, model, tool or system
	Author  string
	Time    time.Time // zero where unknown
	Text    string
	Parts   json.RawMessage // an array of Gemini parts; nil for plain text
	Calls   []format.Call
	Results []string // ids of the calls it answers
	Gone    bool     // forgotten: nothing is left of the words

	Masked    []int           // parts that are shown shortened
	Replaced  []ReplacedPart  // parts that a worker's text stands for
	StandsFor []format.Target // of a message that is a worker's text: what it stands for
	Replaces  int             // of such a message, how many messages that is, with those behind a replacement that it stands for
	Update    bool            // said by nobody: Text, and nothing else, is what the model was told here to have changed, unwrapped
}

// Options say how to render.
type Options struct {
	// Budget is how many tokens all that is printed may have, whatever the format, by summarize.Tokens; 0 is no limit. The
	// prefix gets seven eighths at most, the tail the rest. Output longer than 100,000 UTF-16 units is held to the stricter
	// estimate of short texts, so that the cost of a whole is the sum of its parts.
	Budget int
	// Expand holds, by cluster, messages that stand verbatim (escaped, since they are in the block) where the cluster's
	// summary would. A tombstone named here is shown as a cluster; an id that is neither comes after all clusters.
	Expand map[format.ID][]Message
	Format Format // Text when empty
}

// Reads returns how much of all ranked lists together, in bytes of text, is enough for a rendering by o.
func (o Options) Reads() int {
	if o.Budget == 0 {
		return 2 * perToken * sentencesMost
	}
	return perToken * poolSize(budgetRoom(o.Budget))
}

// Output is what Render made.
type Output struct {
	Bytes   []byte // ends in a newline, or is empty
	Tokens  int    // summarize.Tokens of Bytes
	Prefix  int    // how many of Bytes depend on the pin and the options alone
	Dropped []Drop // what is not printed, or not in full; nil when nothing is missing
}

// Render prints in as o asks. The output is never over o.Budget; where not even an empty document fits, it is empty and Dropped
// names everything. It fails on a negative budget or an unknown format, and on nothing in the messages: parts that cannot be
// read are shown as text.
func Render(in Input, o Options) (Output, error) {
	if o.Format == "" {
		o.Format = Text
	}
	if _, err := ParseFormat(string(o.Format)); err != nil {
		return Output{}, err
	}
	if o.Budget < 0 {
		return Output{}, errors.New("budget is negative")
	}
	var drops dropList
	if !epochFits(in, o) {
		drops.add(DropEpoch, 1, in.EpochID)
		in.Epoch = nil
	}
	p := newPrinter(in, o)
	all := readAll(in.Tail)
	room := budgetRoom(o.Budget)
	acts := in.Work != nil && room != endless && p.acts()
	whole := all
	if acts {
		all = in.Work.compact(whole, room/tailPart)
	}
	clusters, tombstones := arrange(in, o)
	worst := worstTally(tallyOf(drops))
	if !room.holds(cost(p.base()) + cost(p.rest(rest{bare: true, drops: worst}))) {
		return Output{Dropped: merge(drops, nothingPrinted(clusters, tombstones, all))}, nil
	}
	most := prefixRoom(p, o.Budget, in.prefixShare(), worst)
	first := matched(in)
	if len(in.Matches) > 0 && p.digests() {
		first = nil
		if !acts { // else what is printed of the tail is shortened, and may lack the answer
			in.Matches = without(in.Matches, planTail(p, all, room, most, in.Work))
		}
	}
	block, unchosen := choose(clusters, tombstones, in, p, most)
	drops = merge(drops, unchosen)
	prefix := p.base()
	if block != nil {
		prefix = p.prefix(block)
	}
	if acts {
		all = in.Work.compact(whole, left(room, prefix))
		all = in.Work.withEarlier(all, left(room, prefix))
	}
	if in.Unread > 0 {
		drops = merge(drops, []Drop{{Kind: DropMessage, Count: in.Unread}}) // nobody knows their ids
	}
	kept, untold := fitTail(p, rest{prefix: prefix, bare: block == nil, drops: tallyOf(drops)}, all, room, first, block.answers(), in.Work)
	drops = merge(drops, untold)
	body := p.rest(rest{prefix: prefix, bare: block == nil, tail: kept, drops: tallyOf(drops)})
	out := Output{Bytes: []byte(prefix + body), Prefix: len(prefix), Dropped: drops}
	out.Tokens = summarize.Tokens(string(out.Bytes))
	return out, nil
}

// left is what remains of a room once text is printed.
func left(r room, text string) room { return r - room(cost(text)) }

// epochFits reports whether the initial block has room in the prefix's share. It comes before all else in it, and is printed whole or not at all: half of
// what an agent tells its model is another thing than it told.
func epochFits(in Input, o Options) bool {
	if len(in.Epoch) == 0 || o.Budget == 0 {
		return true
	}
	p := newPrinter(in, o)
	return prefixRoom(p, o.Budget, in.prefixShare(), worstTally(tally{})).holds(cost(p.base()))
}

// without returns the matches that are not among ids.
func without(matches []Match, ids map[format.ID]bool) []Match {
	return slices.DeleteFunc(slices.Clone(matches), func(m Match) bool { return ids[m.ID] })
}
