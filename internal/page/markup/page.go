// Package markup writes pages of HTML: a conversation with its forest, and the sessions of a
// project. It takes values and returns bytes. Every text of a page goes through appendText,
// appendAttr or appendName, so that nothing that was said can become markup. A conversation can
// also be a document of Markdown.
//
// Begin with Session and Session.Write. The package is pure: the same value gives the same bytes.
package markup

import "time"

// Session is what the page of a session shows.
type Session struct {
	Name, Branch, Title string
	Agent               string // "" if it is not known
	Store               string // id of the store
	Operation           uint64 // the newest one that the page knows
	First, Last         time.Time
	Messages, Tokens    int // of the branch; tokens are an estimate
	Told                []Told
	Turns               []Turn
	Clusters            []Cluster
	Others              int // clusters that have no message of the branch
	Seen                []Seen
	Marks               []Mark
	Left                map[string]int // what sanitizing took out when the page was made, by class
	Holes               int            // messages whose words are gone
	Entries             string         // the embedded entries; "" for none
	Embedded            int            // number of embedded objects
	Live                bool           // a program serves it, and it watches for news
}

// Told is a part of what the model was told before the conversation.
type Told struct{ Key, Text string }

// Turn is a prompt and what came of it, in order.
type Turn struct{ Items []Item }

// Item is a message, or an event between messages.
type Item struct {
	ID      string // 64 digits
	Digest  string // of the stored words, 64 digits; "" for none
	Kind    string // message, or the kind of an event
	Role    string // of a message
	Author  string
	Time    time.Time
	Seq     uint64 // of a message
	Pieces  []Piece
	Aside   []string // thoughts
	Hole    string   // why there are no words, in words
	Note    string   // what there is to say of the message, such as that it was amended
	Text    string   // of an event
	Left    []Item   // of a rewind: what was taken back
	Tokens  int
	Failed  bool // some call in it failed
	IsCited bool // a sentence of a summary comes from it
}

// Cluster is a cluster of the forest with the members that the branch has.
type Cluster struct {
	ID, Label, State string
	Count            int // members, also of other sessions
	First, Last      time.Time
	Interim          bool
	Summaries        []Summary
	Members          []Ref // that the branch has, in order
}

// Ref leads to a message on the page.
type Ref struct {
	ID  string
	Seq uint64
}

// Summary is a text that stands for members of a cluster.
type Summary struct {
	ID, By    string
	Sentences []Sentence
	More      int // sentences that are not shown
}

// Sentence is a sentence of a summary. From is the message that it comes from; "" for one of a
// model, which comes from all members.
type Sentence struct{ From, Text string }

// Seen says what the branch showed its model from a message on.
type Seen struct {
	Tip       uint64 // number of the newest message when it began
	Through   uint64 // messages up to it are only in summaries
	Pin       string // the forest that was shown; "" for none
	Operation uint64
	Verb      string
	Time      time.Time
}

// Mark is an event on the time line.
type Mark struct {
	Seq  uint64
	Kind string // leave, compact, rewind, fork, join or epoch
	Text string
}
