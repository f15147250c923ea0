package history

import (
	"encoding/json"

	"github.com/gemini-ctx/ctx/format"
)

// Batch is what one operation appended to a branch, for those who would read it at once.
type Batch struct {
	Session, Branch string
	// The tips of the branch before and after; From is zero for a new branch
	From, To format.ID
	Said     []Said // oldest first
}

// Said is an appended entry with its words.
type Said struct {
	Entry
	Text  string          // if there are no parts, or if what Words makes of them is at hand
	Parts json.RawMessage // what Words makes a text of; nil if Text is that
	// Plain says that the entry is a message or a note with these words. Of other entries there is
	// only the header.
	Plain bool
}
