// Package brief chooses what somebody needs to go on with an agent's work: from the facts of a
// conversation, the lines that say most within a number of tokens.
//
// It is pure: facts in, lines out, the same lines on every platform and in every run. A line is worth
// the terms that it brings. A term is worth more when it recurs, when it was used lately, and when few
// lines have it; a term that a chosen line has already is worth little. Besides, a brief always has
// room for the newest prompts, the state of the work, and the names of the newest files.
package brief

import (
	"cmp"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/digest"
)

// Section says where a line stands in a brief. Its text is the word that begins the line.
type Section string

// The sections, in the order in which they stand.
const (
	Wanted    Section = "wanted"    // the newest prompts, and the first
	Decided   Section = "decided"   // what the user chose when the agent asked
	Concluded Section = "concluded" // what the newest answer of the model begins with
	State     Section = "state"     // the branch, the newest commit, the newest test run
	Changed   Section = "changed"   // files that were changed
	Files     Section = "files"     // names of the files that were used last, a line a directory
	Failing   Section = "failing"   // commands whose newest run failed, and how
	Todos     Section = "todo"      // items of the todo list in their newest state
	Story     Section = "noted"     // everything else, in the order of the conversation
)

var order = []Section{Wanted, Decided, Concluded, State, Changed, Files, Failing, Todos, Story}

// Line is a line of a brief.
type Line struct {
	Section Section
	Entry   format.ID // the newest message that it is made of
	Seq     uint64    // of the message
	Pos     int       // among the lines of the message
	Text    string    // one line, never empty
}

// Options say what Choose may spend.
type Options struct {
	// Room is what all lines may cost together, in the unit of Cost.
	Room int
	// Cost returns what printing a line costs; at least 1.
	Cost func(Line) int
	// Conclude keeps room for the newest answer. It is for who prints no messages beside the lines.
	Conclude bool
	// Said are texts that are printed beside the lines: what they say is not worth saying again.
	Said []string
	// About are texts that the lines should be about. Where it is not nil, only lines that share a
	// telling term with it are chosen, and their terms count for what they have in common.
	About []string
}

// Shares of the room that are kept for a kind of line, in hundredths.
const (
	promptShare = 10
	answerShare = 15
	stateShare  = 10
	fileShare   = 10
)

// Choose returns the lines that are worth most within the room: by section, and in a section in the
// order of the conversation.
func Choose(facts []digest.Fact, o Options) []Line {
	root := Root(facts)
	c := newChooser(itemsOf(facts, root), root, o)
	var chosen []Line
	if o.About == nil {
		chosen = append(chosen, c.prompts(o.Room*promptShare/100)...)
		if o.Conclude {
			chosen = append(chosen, c.concluded(o.Room*answerShare/100)...)
		}
		chosen = append(chosen, c.state(o.Room*stateShare/100)...)
		chosen = append(chosen, c.files(o.Room*fileShare/100)...)
	}
	chosen = append(chosen, c.best()...)
	slices.SortStableFunc(chosen, func(a, b Line) int {
		return cmp.Or(
			cmp.Compare(slices.Index(order, a.Section), slices.Index(order, b.Section)),
			cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Pos, b.Pos))
	})
	return chosen
}
