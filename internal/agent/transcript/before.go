package transcript

import (
	"encoding/json"
	"strings"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// BeforeName is the member of Kept with the records that stood before the one of a message and say
// nothing.
const BeforeName = "before"

// maxBefore is the most bytes of records that are kept with one message.
const maxBefore = 4 << 20

// Before has the records that say nothing, until the message comes that they are kept with.
type Before struct {
	list []json.RawMessage
	size int
}

// Add adds a record. One that is too much is counted in stats.
func (b *Before) Add(o jsonvalue.Object, stats *Stats) {
	raw := jsonvalue.Encode(o)
	if b.size+len(raw) > maxBefore {
		stats.Skip(SkipLong, 1)
		return
	}
	b.list, b.size = append(b.list, raw), b.size+len(raw)
}

// Empty reports whether no record waits.
func (b *Before) Empty() bool { return len(b.list) == 0 }

// Take returns the records, and has none afterwards.
func (b *Before) Take() []json.RawMessage {
	list := b.list
	*b = Before{}
	return list
}

// End counts the records that no message follows yet.
func (b *Before) End(stats *Stats) {
	stats.PassN("kept with what follows", len(b.list))
	stats.After = b.list
}

// BesideID begins the names of notes with what an agent keeps beside the records of messages: the
// title of the session after its last message, a long output in a file of its own. Exports leave
// these notes out.
const BesideID = "beside:"

// IsBeside reports whether a name is that of such a note.
func IsBeside(message string) bool { return strings.HasPrefix(message, BesideID) }
