// Package digest says what an agent did, from its tool calls and from what was said, without a model.
//
// It is pure: messages in, facts out, the same facts on every platform and in every run. A fact is one
// line that a person can read, with its kind and the message that it comes from. The text of a tool's
// result counts only where it says how an act ended: file contents, line numbers and output that
// passed never become facts.
package digest

import (
	"encoding/json"
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// Version changes whenever the same messages give other facts. Whoever caches facts stores it.
const Version = 6

// Kind says what a fact is about.
type Kind string

// The kinds of facts.
const (
	Prompt   Kind = "prompt"   // a sentence that the user said
	Answer   Kind = "answer"   // a sentence of the text that a turn ends with
	Said     Kind = "said"     // a sentence that the model said while it worked
	Recap    Kind = "recap"    // a sentence of a summary that the client wrote of older history
	Report   Kind = "report"   // a sentence that a subagent was told or answered, or of a plan
	Written  Kind = "written"  // a sentence that the model wrote into a document, a comment or a commit
	Code     Kind = "code"     // a line of code inside a prompt or an answer
	Todo     Kind = "todo"     // an item of a plan or todo list; Key names it, State is its state
	Edit     Kind = "edit"     // a file was changed, written, moved or deleted
	Read     Kind = "read"     // a file was read
	Search   Kind = "search"   // files were searched or listed
	Command  Kind = "command"  // a command was run; State says how it ended
	Commit   Kind = "commit"   // a commit was made
	Branch   Kind = "branch"   // a branch of the project was checked out or shown
	Failure  Kind = "failure"  // how a command or a call failed; Key is that of the act
	Question Kind = "question" // a tool asked the user
	Decision Kind = "decision" // what the user chose when a tool asked
	Act      Kind = "act"      // any other call
	Output   Kind = "output"   // a line of a short result that is neither code nor a listing
)

// State says how an act ended, or how far an item of a todo list is.
type State string

// The states. The empty State is that of facts that have none, and of acts without a result.
const (
	Open   State = "open"
	Active State = "active"
	Done   State = "done"
	Passed State = "passed"
	Failed State = "failed"
)

// Fact is one thing that was said or done.
type Fact struct {
	Kind  Kind
	Entry format.ID // the message that it comes from
	Seq   uint64    // of the message
	Pos   int       // ordinal among the facts of the message, from 0
	Text  string    // one line, never empty
	// Path is the file of an edit or a read, as the agent named it.
	Path string
	// Added and Removed count the lines of an edit.
	Added   int
	Removed int
	// Files are files that the result of a search or a command names, as it names them, each once.
	Files []string
	// Key is equal for facts of which a later one replaces an earlier: the items of a todo list, the
	// runs of one command.
	Key   string
	State State
	// Slight marks a sentence that nobody would hand on by itself: a heading, the announcement of what
	// follows it, a call of two words. Its words still tell what the conversation is about.
	Slight bool
	// Test is set for a command that runs tests.
	Test bool
}

// Message is one message as a digest needs it.
type Message struct {
	Entry   format.ID
	Seq     uint64
	Role    string // user, model, tool or system
	Text    string // what was said to people: no thoughts, no calls, no results
	Calls   []Call
	Results []Result
	// Recap marks a text that the client wrote to stand for older history.
	Recap bool
}

// Call is a tool call.
type Call struct {
	ID, Name string
	Args     json.RawMessage // an object; anything else counts as none
}

// Result is what a tool answered.
type Result struct {
	ID, Name string // of the call
	Output   string
	Failed   bool
}

// Of returns the facts of messages, which are in the order of the conversation, in that order. Calls
// meet their results by id; a result without its call counts for nothing.
func Of(messages []Message) []Fact {
	var d Digester
	d.Add(messages)
	return d.Facts()
}

// Digester turns messages into facts as they come. The zero value has seen nothing. Its binary form goes
// on where it was: adding messages in two runs gives the facts of adding them in one.
type Digester struct {
	Made []Fact
	// Open holds, by the id of a call without a result, the indexes of its facts.
	Open map[string][]int
	// Tasks holds, by number, the titles of the tasks of a task list.
	Tasks map[string]string
	// Last holds the facts of the model's newest text, if no call came after it.
	Last []int

	at  *Message
	pos int
}

// Add adds messages that come after all those added before.
func (d *Digester) Add(messages []Message) {
	if d.Open == nil {
		d.Open = map[string][]int{}
	}
	if d.Tasks == nil {
		d.Tasks = map[string]string{}
	}
	for i := range messages {
		d.message(&messages[i])
	}
	d.at = nil
}

// Facts returns the facts of all messages so far. The newest words of the model count as the answer
// that the turn ends with.
func (d *Digester) Facts() []Fact {
	facts := slices.Clone(d.Made)
	for _, i := range d.Last {
		if facts[i].Kind == Said {
			facts[i].Kind = Answer
		}
	}
	return facts
}

func (d *Digester) message(m *Message) {
	d.at, d.pos = m, 0
	switch {
	case m.Recap || m.Role == "user" && IsRecap(m.Text):
		d.sentences(Recap, m.Text)
	case m.Role == "user":
		d.endTurn()
		d.sentences(Prompt, ownWords(m.Text))
	case m.Role == "model":
		d.said(m)
	}
	for i := range m.Calls {
		d.Last = nil
		d.call(&m.Calls[i])
	}
	for i := range m.Results {
		d.result(&m.Results[i])
	}
}

// add appends a fact of the current message, as one line of valid UTF-8. A fact without a text is none.
func (d *Digester) add(f Fact) {
	f.Text = oneLine(f.Text)
	if f.Text == "" {
		return
	}
	f.Path, f.Key = valid(f.Path), valid(f.Key)
	f.Entry, f.Seq, f.Pos = d.at.Entry, d.at.Seq, d.pos
	d.pos++
	d.Made = append(d.Made, f)
}

// endTurn makes the last words of the turn that ends its answer.
func (d *Digester) endTurn() {
	for _, i := range d.Last {
		if d.Made[i].Kind == Said {
			d.Made[i].Kind = Answer
		}
	}
	d.Last = nil
}

// said adds what the model says. Its newest words are the answer if the turn ends with them.
func (d *Digester) said(m *Message) {
	first := len(d.Made)
	if d.sentences(Said, m.Text) == 0 {
		return
	}
	d.Last = nil
	for i := first; i < len(d.Made); i++ {
		d.Last = append(d.Last, i)
	}
}
