// Package digest describes what an agent did, from its tool calls and from the text of messages,
// without a model.
//
// The package is pure: messages go in, facts come out, and the facts are the same on every platform
// and in every run. A fact is one line for people, with its kind and the message that it comes
// from. The text of a tool's result counts only where it tells how an act ended: file contents,
// line numbers and the output of a success never become facts.
//
// Begin with Of, and with the kinds of facts.
package digest

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/prose"
)

// Version changes whenever the same messages give other facts. A cache stores it with its facts.
const Version = 80

// Kind is the subject of a fact.
type Kind string

// The kinds of facts.
const (
	Prompt Kind = "prompt" // a sentence of the user
	Answer Kind = "answer" // a sentence of the text that ends a turn
	Said   Kind = "said"   // a sentence that the model said during its work
	Recap  Kind = "recap"  // a sentence of a summary that the client wrote of older history
	Report Kind = "report" // a sentence of a plan
	Task   Kind = "task"   // a sentence that a subagent was asked
	// A sentence that the model wrote into a document, a comment or a commit
	Written Kind = "written"
	Code    Kind = "code"    // a line of code inside a prompt or an answer
	Todo    Kind = "todo"    // an item of a plan or todo list; Key names it, State is its state
	Edit    Kind = "edit"    // a file was changed, written, moved or deleted
	Read    Kind = "read"    // a file was read
	Search  Kind = "search"  // files were searched or listed
	Command Kind = "command" // a command was run; State says how it ended
	// A commit was made, or a pull request was opened: see IsRequest
	Commit   Kind = "commit"
	Branch   Kind = "branch"   // a branch of the project was checked out or shown
	Unmerged Kind = "unmerged" // git left a merge half done, or a rebase; Dropped: it ended
	Failure  Kind = "failure"  // how a command or a call failed; Key is that of the act
	Question Kind = "question" // a tool asked the user
	Decision Kind = "decision" // the user's answer to a question of a tool
	Act      Kind = "act"      // any other call
	// A note of a person: Key is its kind, Path the note that it supersedes
	Told     Kind = "told"
	Noted    Kind = "noted"    // likewise of a model
	Output   Kind = "output"   // a line of a short result that is neither code nor a listing
	Returned Kind = "returned" // a sentence of what a subagent returned
)

// ByTool reports whether a fact has the words of a tool: nobody in the conversation said them, and
// what a tool prints may come from anywhere.
func (k Kind) ByTool() bool { return k == Output || k == Failure || k == Returned }

// Title is the Key of a sentence of the model that is a heading.
const Title = "title"

// Item is the Key of a sentence of the model that is in a list.
const Item = "item"

// State says how an act ended, or how far an item of a todo list is.
type State string

// The states. The empty State is that of facts without a state, and of acts without a result.
const (
	Open   State = "open"
	Active State = "active"
	Done   State = "done"
	Passed State = "passed"
	Failed State = "failed"
	Barred State = "refused" // the user did not allow the act
	// Dropped is the state of an item of a todo list that a newer list does not have, and of an edit
	// that put a file back as it was committed.
	Dropped State = "dropped"
)

// Fact is one thing that was said or done.
type Fact struct {
	Kind  Kind
	Entry format.ID // the message that it comes from
	Seq   uint64    // of the message
	Pos   int       // index among the facts of the message, from 0
	Text  string    // one line, never empty
	// Heading is that of the list of which the sentence is an item; "" if there is none.
	Heading string
	// Path is the file of an edit or a read, as the agent named it.
	Path string
	// Added and Removed count the lines of an edit.
	Added   int
	Removed int
	// Was and Now are equal for equal texts that an edit takes away and puts there; 0 if the text is
	// not known. Of a note, Was is its id elsewhere, and Now that of the note which holds no more.
	Was uint64
	Now uint64
	// Key is equal for facts of which a later one replaces an earlier one: the states of an item of
	// a todo list, the runs of a command. It is Current for what a summary says of the work at
	// hand.
	Key   string
	State State
	// Slight marks a sentence without value of its own: a heading, an announcement of what follows,
	// a remark of two words. Its terms still show the subject of the conversation.
	Slight bool
	// Test is true for a command that runs tests.
	Test bool
	// Elsewhere is true for a command that runs git, in other repositories than the project's alone.
	Elsewhere bool
}

// IsNote reports whether somebody wanted the fact remembered.
func (f *Fact) IsNote() bool { return f.Kind == Told || f.Kind == Noted }

// Message is one message in the form that a digest needs.
type Message struct {
	Entry   format.ID
	Seq     uint64
	Role    string // user, model, tool or system
	Text    string // the text for people: no thoughts, calls or results
	Calls   []Call
	Results []Result
	Dir     string // in which the agent worked; "" if it does not tell
	Branch  string // of git, that was checked out then; "" if the record does not name it
	// Note is the kind of a text that somebody wanted remembered, as package notes has them; "" for
	// any other text. Supersedes is the id of the note that holds no more, and Origin the id that
	// the note itself had in the store it was exported from, "" for none.
	Note, Supersedes, Origin string
	// Recap marks a text that the client wrote in place of older history.
	Recap bool
}

// Call is a tool call.
type Call struct {
	ID, Name string
	Args     json.RawMessage // an object; any other value counts as no arguments
	Failed   bool            // its client tells beside the call that it failed
}

// Result is the result of a tool call.
type Result struct {
	ID, Name string // of the call
	Output   string
	Failed   bool
}

// Of returns the facts of messages, in the order of the messages. A result is matched with its call
// by id; a result without a call is ignored.
func Of(messages []Message) []Fact {
	var d Digester
	d.Add(messages)
	return d.Facts()
}

// Digester turns messages into facts as they come. The zero value has seen no message. Its binary
// form can be continued: adding messages in two runs gives the same facts as adding them in one.
type Digester struct {
	Made []Fact
	// Open holds the indexes of the facts of each call without a result, by the id of the call.
	Open map[string][]int
	// Scripts holds the scripts of calls in Open that may put files back, show the work tree, or
	// end with a filter.
	Scripts map[string]string
	// Tasks holds the titles of the tasks of a task list, by number.
	Tasks map[string]string
	// Plan holds the keys of the items of the newest todo list that a tool set as a whole.
	Plan []string
	// Began is the directory of the oldest message that tells one.
	Began string
	// Branch is the branch that the newest record names.
	Branch string
	// Heard says that an edit has had a result: this agent tells how they end.
	Heard bool
	// Last holds the indexes of the facts of the model's newest text, if no call came after it.
	Last []int

	at  *Message
	pos int
}

// Add adds messages that come after all messages added before.
func (d *Digester) Add(messages []Message) {
	if d.Open == nil {
		d.Open = map[string][]int{}
	}
	if d.Scripts == nil {
		d.Scripts = map[string]string{}
	}
	if d.Tasks == nil {
		d.Tasks = map[string]string{}
	}
	for i := range messages {
		d.message(&messages[i])
	}
	d.at = nil
}

// Facts returns the facts of all messages so far. The newest text of the model counts as the answer
// that ends the turn.
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
	d.Began = cmp.Or(d.Began, prose.Valid(m.Dir))
	d.recorded(m)
	switch {
	case m.Note != "":
		kind := Noted
		if m.Role == "user" {
			kind = Told
		}
		f := Fact{Kind: kind, Text: m.Text, Key: m.Note, Path: m.Supersedes}
		if m.Supersedes != "" {
			f.Now = hashOf(m.Supersedes)
		}
		if m.Origin != "" {
			f.Was = hashOf(m.Origin)
		}
		d.add(f)
	case m.Role == "system" && IsNotification(m.Text):
		d.notified(m.Text)
	case m.Role == "system" && IsTypedRun(m.Text):
		d.typedRun(m.Text)
	case m.Recap || m.Role == "user" && IsRecap(m.Text):
		d.recap(m.Text)
	case m.Role == "user":
		answers := d.answersRefusal(m)
		d.endTurn()
		first, own := len(d.Made), strings.TrimSpace(ownWords(m.Text))
		d.prompt(own)
		asks := func(f Fact) bool { return f.Kind == Prompt }
		if own != "" && !slices.ContainsFunc(d.Made[first:], asks) {
			d.add(Fact{Kind: Prompt, Text: wordless(own)})
		}
		for i := first; answers && i < len(d.Made); i++ {
			d.Made[i].Key = Instead
		}
	case m.Role == "model":
		d.said(m)
	}
	for i := range m.Calls {
		if !answersBy(m.Calls[i].Name) {
			d.Last = nil
		}
		d.call(&m.Calls[i])
	}
	for i := range m.Results {
		d.result(&m.Results[i])
	}
}

// add appends a fact of the current message. It makes the text one line of valid UTF-8 and ignores
// a fact without text.
func (d *Digester) add(f Fact) {
	f.Text = prose.OneLine(f.Text)
	if f.Text == "" {
		return
	}
	f.Path, f.Key, f.Heading = prose.Valid(f.Path), prose.Valid(f.Key), prose.Valid(f.Heading)
	f.Entry, f.Seq, f.Pos = d.at.Entry, d.at.Seq, d.pos
	d.pos++
	d.Made = append(d.Made, f)
}

// endTurn turns the last text of the ended turn into its answer.
func (d *Digester) endTurn() {
	for _, i := range d.Last {
		if d.Made[i].Kind == Said {
			d.Made[i].Kind = Answer
		}
	}
	d.Last = nil
	for _, facts := range d.Open {
		for _, i := range facts {
			if f := &d.Made[i]; d.Heard && f.Kind == Edit && f.State == "" {
				f.State = Dropped // it was stopped, unless a result still comes
			}
		}
	}
}

// shortPlan is the largest number of sentences at the beginning of a conversation that the model
// says without a plan.
const shortPlan = 8

// Plan is the key of the title of a plan that another session made, and that this one carries out.
const Plan = "plan"

// said adds the text of the model. The newest text is the answer if the turn ends with it. A long
// text at the very beginning, which nobody asked for, is a plan.
func (d *Digester) said(m *Message) {
	first := len(d.Made)
	begins := !slices.ContainsFunc(d.Made, func(f Fact) bool { return f.Kind != Branch })
	if list := summarize.Fragments(prose.Unwrapped(m.Text)); begins && len(list) > shortPlan {
		title := strings.TrimPrefix(prose.Tidy(list[0].Text), "Plan: ")
		d.add(Fact{Kind: Report, Key: Plan,
			Text: "to implement the plan: " + prose.Cut(title, maxTitle)})
		d.sentences(Said, m.Text)
		return
	}
	if d.sentences(Said, m.Text) == 0 {
		return
	}
	d.Last = nil
	for i := first; i < len(d.Made); i++ {
		d.Last = append(d.Last, i)
	}
}
