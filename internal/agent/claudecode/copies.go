package claudecode

import (
	"hash/fnv"
	"io"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// This file says which records are not stored: copies of what the records of messages say, which a
// forget of the message would not reach, and the account of the person, whom nobody named.

// isCopyKind reports whether a record is of a kind, or an attachment of a type, that repeats what
// was said to the model or counts what it cost. Versions 2.1.267 and later write most of them,
// last-prompt older ones too.
func isCopyKind(o jsonvalue.Object) bool {
	kind := o.Text("type")
	if kind == kindAttachment {
		kind = o.Object(kindAttachment).Text("type")
	}
	switch kind {
	case "last-prompt", "prompt_snapshot", "total_tokens_reminder":
		return true
	}
	return strings.HasPrefix(kind, "api-request")
}

// minCopy is the smallest number of bytes of a text by which a copy is known.
const minCopy = 16

func heard(text string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, strings.TrimSpace(text))
	return h.Sum64()
}

// hear notes what a block of a message says, so that copies of it are known.
func (p *plan) hear(text string) {
	if len(text) >= minCopy {
		p.heard[heard(text)] = struct{}{}
	}
}

// copies reports whether a record without an id repeats a text of a message. Kinds that are known
// to say something else are not looked into.
func (p *plan) copies(o jsonvalue.Object) bool {
	kind := o.Text("type")
	if isBookkeeping(kind) && kind != kindQueue {
		return false
	}
	found := false
	_, _ = jsonvalue.Rewrite(jsonvalue.Encode(o), func(scalar []byte) ([]byte, error) {
		if s, ok := jsonvalue.Text(scalar); ok && len(s) >= minCopy {
			_, copied := p.heard[heard(s)]
			found = found || copied
		}
		return scalar, nil
	})
	return found
}

// anonymous returns a record that is kept as it is, without the account of the person.
func anonymous(o jsonvalue.Object) jsonvalue.Object {
	if o.Text("type") == kindQueue {
		return o
	}
	return jsonvalue.AsObject(transcript.WithoutAccount(jsonvalue.Encode(o)))
}
