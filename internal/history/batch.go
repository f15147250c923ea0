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
	Text  string          // plain text, or what Words makes of the parts, if that is at hand
	Parts json.RawMessage // a JSON array of message parts; nil for plain text
	// Plain says that the entry is a message or a note with these words. Of other entries there is
	// only the header.
	Plain bool
}

// Words returns what the entry says.
func (d *Said) Words() string {
	if d.Text == "" && d.Parts != nil {
		return Words(d.Parts)
	}
	return d.Text
}
