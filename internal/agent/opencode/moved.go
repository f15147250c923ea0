package opencode

import (
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// A moved id is that of a message or a part that opencode said, in the copy of its session that
// another session begins with: the id, an underscore, and eight digits that follow from the new
// session and the id. Ids are unique in all of opencode's database: an import of opencode passes
// over a message whose id it has, without a word. A moved id sorts where the id does, and it is
// read as the id.

// movedDigits is the number of digits that a moved id adds.
const movedDigits = 8

// moveIDs gives members of a record their moved ids in a session.
func moveIDs(o jsonvalue.Object, session string, names ...string) {
	for _, name := range names {
		if id := o.Text(name); id != "" {
			o.Set(name, id+"_"+transcript.Derive(movedDigits, session, id))
		}
	}
}

// unmoved returns a record with its ids as they were before they moved to a session. It does not
// change o.
func unmoved(o jsonvalue.Object, session string, names ...string) jsonvalue.Object {
	out := o
	for _, name := range names {
		id := o.Text(name)
		i := strings.LastIndexByte(id, '_')
		if i < 0 || id[i+1:] != transcript.Derive(movedDigits, session, id[:i]) {
			continue
		}
		out = out.Without()
		out.Set(name, id[:i])
	}
	return out
}
