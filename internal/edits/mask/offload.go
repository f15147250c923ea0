package mask

import (
	"fmt"

	"github.com/gemini-ctx/ctx/format"
)

// Offload says when an output is too long for a message, and how much of it the message keeps.
type Offload struct {
	Threshold int // UTF-16 units that a message may have; 0 for any number
	// Percent of the threshold that is kept of the beginning; the rest is kept of the end
	Head int
}

// TooLong reports whether an output has to be offloaded.
func (o Offload) TooLong(text string) bool { return o.Threshold > 0 && units(text) > o.Threshold }

// Short returns the text of a message whose output is stored under an id.
func (o Offload) Short(text string, id format.ID) string {
	most := o.Threshold * o.Head / 100
	first, last := head(text, most), tail(text, o.Threshold-most)
	return fmt.Sprintf(
		"Output too large. Here are its first %d and last %d characters; `ctx expand %v` shows "+
			"all of it.\n%s\n\n... [%d characters omitted] ...\n\n%s",
		units(first), units(last), id, first, units(text)-units(first)-units(last), last)
}

// Units is how long a text is, in UTF-16 units: what agents count as characters.
func Units(s string) int { return units(s) }
