// Package brief chooses what a reader needs to continue an agent's work: of the facts of a
// conversation, the most valuable lines within a number of tokens.
//
// The package is pure: facts go in, lines come out, and the lines are the same on every platform
// and in every run. The value of a line is that of the terms that it adds. A term is worth more if
// it recurs, if it was used recently, and if few lines have it; it is worth little once a chosen
// line has it. In addition, a brief always has room for the newest prompts, the state of the work,
// and the names of the newest files. The brief of a session is made of turns (turns.go): a line
// stands below the prompt that it belongs to.
//
// Begin with Choose.
package brief

import (
	"cmp"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/digest"
)

// Section is the part of a brief that a line belongs to. Its text is the word that begins the line.
type Section string

// The sections, in the order of a brief.
const (
	Heed      Section = "heed"      // rules of the user, and what was said to refused calls
	Wanted    Section = "wanted"    // a prompt
	Decided   Section = "decided"   // the user's answers to questions of the agent
	Concluded Section = "concluded" // the beginning of the model's answer
	State     Section = "state"     // the branch, the newest commit, the newest test run
	Changed   Section = "changed"   // changed files
	Failing   Section = "failing"   // commands whose newest run failed, and how they failed
	Todos     Section = "todo"      // items of the todo list in their newest state
	Story     Section = "noted"     // everything else, in the order of the conversation
	Recap     Section = "recap"     // words of a summary that the client wrote of older history
	Tool      Section = "tool"      // what a tool printed, or a subagent returned
)

// The section of a line says whose words it has. Heed, Wanted and Decided have those of the user,
// Recap those of the client, and Tool those of a tool. In Failing a tool says how a command failed.
// All others have words of the agent, or say what it did; words of the user among them begin with
// ">".
var order = []Section{Heed, Wanted, Decided, Concluded, State, Changed, Failing, Todos,
	Story, Recap, Tool}

// Line is a line of a brief.
type Line struct {
	Section Section   `json:"section"`
	Entry   format.ID `json:"entry"` // the newest message that it comes from
	Seq     uint64    `json:"-"`     // of the message
	Pos     int       `json:"-"`     // index among the lines of the message
	Turn    int       `json:"-"`     // how many turns came after that of the message
	Text    string    `json:"text"`  // one line, never empty
	Heading string    `json:"-"`     // what the text begins with, if a heading stands above it
	Mark    string    `json:"-"`     // what the text begins with, if later words doubt it
	Theirs  bool      `json:"-"`     // of a session of another store

	number, of int // of an item of a list, and of its last item; 0 for none
}

// SessionBrief is the brief of a branch of a session.
type SessionBrief struct {
	Session, Branch string
	Theirs          bool   // of another store
	Also            string // the session of this store with the same beginning; "" for none
	Messages        uint64
	Last            time.Time // of the newest message; zero if unknown
	Lines           []Line

	// By what a person recognizes the session. A brief of one session alone has none of it.
	Short string    // the beginning of its name by which commands find it
	First time.Time // of the oldest message; zero if unknown
	Agent string    // that said the newest message; "" if none did
	Git   string    // the branch of git; "" if no agent tells
	Title string    // or the beginning of the first prompt; "" if there is neither
	Named bool      // an agent keeps the title
}

// Options limit and direct a brief.
type Options struct {
	// Room is the largest total cost of all lines, in the unit of Cost.
	Room int
	// Cost returns the cost of printing a line, at least 1.
	Cost func(Line) int
	// InOrder prints the turns as they were, the oldest first, for a caller that prints the newest
	// messages after them. Else the newest turn comes first.
	InOrder bool
	// Root is the directory from which files are named.
	Root Root
	// Said holds texts that are printed beside the lines. Their terms count as said.
	Said []string
	// About holds texts that the lines should be about. If it is not nil, only lines that share
	// telling terms with these texts are chosen, and only the shared terms count.
	About []string
	// Short says that the reader gets little beside the lines (see IsShort). The lines then first
	// say what a colleague needs to go on, and a line that tells nothing by itself is not chosen.
	Short bool
	// Rules leaves what the user told to heed alone, newest first, of the newest turn too.
	Rules bool
	// Keep leaves what a summary of the session must not lose: what to heed, notes, decisions, the
	// state, open items, and what an older summary says.
	Keep bool
	// Known is a text that the reader has. Lines that say nothing beside it are left out. Missing
	// says that this is the newest summary that the client wrote of the session.
	Known   string
	Missing bool
	// NoTools leaves out the words of tools.
	NoTools bool
	// Printed holds messages that are printed beside the lines. What they say is not repeated.
	Printed map[format.ID]bool
}

// shortBudget is the number of tokens below which an output is short.
const shortBudget = 1000

// IsShort reports whether an output of so many tokens is short; 0 means no limit.
func IsShort(tokens int) bool { return 0 < tokens && tokens < shortBudget }

// need is something that a brief always has room for.
type need struct {
	share int // of the room, in hundredths
	take  func(c *chooser, purse int) []Line
}

// needsOf returns what a brief always has room for, the most important first. In a short brief a
// share is one of the room that is left, because each need matters more than all after it.
func needsOf(o Options) []need {
	switch {
	case o.About != nil:
		return nil
	case o.Keep:
		return []need{{40, (*chooser).heed}, {20, (*chooser).notes}, {30, (*chooser).state}}
	case o.Short:
		return []need{{10, (*chooser).heed}, {20, (*chooser).notes}, {40, (*chooser).now},
			{40, (*chooser).changes}, {60, (*chooser).state}}
	}
	return []need{{10, (*chooser).heed}, {12, (*chooser).notes}, {42, (*chooser).now},
		{8, (*chooser).changes}, {14, (*chooser).state}}
}

// Choose returns the most valuable lines that fit into the room: those of the newest turn and of
// the whole, sorted by section and then by the order of the conversation, and after them those of
// older turns, the newest turn first. If o.InOrder is set, the turns come between the lines about
// the state of the work and those about its files.
func Choose(facts []digest.Fact, o Options) []Line {
	root := o.Root.Of(facts)
	facts = overtaken(standing(withoutTemplates(facts)))
	if o.NoTools {
		facts = slices.DeleteFunc(slices.Clone(facts),
			func(f digest.Fact) bool { return f.Kind.ByTool() })
	}
	c := newChooser(itemsOf(facts, root), root, o)
	c.restored = restoredAt(facts)
	if o.Rules {
		return c.heed(o.Room)
	}
	c.leaveOut(o.Known)
	var chosen []Line
	for _, n := range needsOf(o) {
		room := o.Room
		if o.Short {
			room = c.left
		}
		chosen = append(chosen, n.take(c, room*n.share/100)...)
	}
	c.reserve(o)
	var lines []Line
	for n := range passes {
		if c.knows != nil && n > 0 { // room that known lines leave is for the person's words
			if c.typed = true; n > 1 {
				break
			}
		}
		chosen = append(chosen, c.best()...)
		c.left = o.Room
		lines = joined(c.inOrder(chosen, o))
		for _, l := range lines {
			c.left -= c.cost(l)
		}
	}
	return lines
}

// passes is how often lines are chosen: those of one message are joined, which leaves room.
const passes = 3

// inOrder returns lines as a reader gets them, sorted, without those that the reader knows.
func (c *chooser) inOrder(chosen []Line, o Options) []Line {
	lines := slices.DeleteFunc(slices.Clone(chosen), c.isKnown)
	slices.SortStableFunc(lines, func(a, b Line) int {
		parts, said := 0, cmp.Compare(a.Seq, b.Seq)
		if o.InOrder {
			parts = cmp.Or(cmp.Compare(partOf(a.Section), partOf(b.Section)),
				cmp.Compare(b.Turn, a.Turn))
		}
		sections := cmp.Compare(slices.Index(order, a.Section), slices.Index(order, b.Section))
		if a.Turn == 0 {
			said, sections = sections, said
		}
		return cmp.Or(parts, cmp.Compare(a.Turn, b.Turn), said, sections, cmp.Compare(a.Pos, b.Pos))
	})
	return lines
}

// partOf returns the part of a brief in order that a section belongs to: what holds now, then the
// turns, then the files.
func partOf(s Section) int {
	switch s {
	case Heed, State, Failing, Todos:
		return 0
	case Changed:
		return 2
	}
	return 1
}
