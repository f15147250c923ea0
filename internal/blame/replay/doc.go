// Package replay finds out which call of a tool wrote a line of a file.
//
// It replays the edits that agents recorded. Changes says what a call does to files (tools.go,
// patch.go, shell.go). Lines takes the steps that touched one file, oldest first, and the file as
// it is now, and returns for each line the step that wrote it (replay.go): backward from the file
// of today it works out what the file held before each step, then it applies the steps forward to
// lines that know their writer (lines.go). Where the two do not meet, because something changed the
// file that no session recorded, a diff carries the writers over (diff.go). So the place of a line
// decides, and not its text alone.
//
// The package is pure: values in, values out. It does not know what a store or git is.
package replay

import "strings"

// Change is what a call does to one file.
type Change struct {
	// Path is the file, as the call names it, under the directory of the call where that is known.
	Path string
	// From is the file's name before, of a move; "" if it keeps its name.
	From string
	Kind Kind
	// Text is the new text of the file, or what is added to its end. Line ends are LF.
	Text string
	// Edits are the parts of a Replace, in the order in which the tool makes them.
	Edits []Edit
}

// Kind says what a change does.
type Kind uint8

// The kinds of changes.
const (
	Replace Kind = iota // puts texts in the place of others
	Write               // sets the whole text
	Append              // adds a text at the end
	Delete              // removes the file
	Move                // gives the file another name and changes nothing else
	Touch               // changes the file in a way that cannot be known
)

// Edit puts a text in the place of another.
type Edit struct {
	Old, New string
	All      bool // everywhere, and not in one place
	// Hunk says that Old and New are whole lines, each ended by LF, and that Old may begin anywhere
	// after the line that Anchor has. A hunk with no Old adds at the end of the file.
	Hunk   bool
	Anchor string
	// Kept has, for each line of New of a hunk, the number of the line of Old that it is, or -1.
	Kept []int
}

// Step is a change of the file that is asked about, as a session made it.
type Step struct {
	Change
	// By is a number of the caller's for the call, not negative. Several steps may have the same.
	By int
	// Turn tells steps of one turn from those of others: what one step of a turn takes out, and a
	// later one puts in elsewhere, has been moved.
	Turn int
	// Before is the text of the file before the step, where the agent kept it.
	Before *string
}

// Nobody is the writer of a line that no step wrote.
const Nobody = -1

// unixLines returns a text with LF as its line end.
func unixLines(s string) string {
	if strings.Contains(s, "\r\n") {
		return strings.ReplaceAll(s, "\r\n", "\n")
	}
	return s
}
