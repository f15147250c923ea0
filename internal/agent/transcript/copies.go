package transcript

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Copies finds in what is kept beside messages the words that messages say: a forget of a message
// would not reach them there.
type Copies struct {
	// Members are the names of members that hold nothing but copies.
	Members []string
	said    map[string]bool
	newest  []string // of said, the last first: a copy may stand within a longer text
}

// minCopy is the smallest number of bytes of a text by which a copy is known. maxNewest is how many
// texts are looked for within others.
const (
	minCopy   = 16
	maxNewest = 32
)

// Hear notes what the parts of a message say. A single word is no sign of a copy: it may be a path
// or an id.
func (c *Copies) Hear(parts []json.RawMessage) {
	for _, raw := range parts {
		_, _ = jsonvalue.Rewrite(raw, func(scalar []byte) ([]byte, error) {
			s, _ := jsonvalue.Text(scalar)
			s = strings.TrimSpace(s)
			if len(s) < minCopy || !strings.ContainsAny(s, " \t\r\n") || c.said[s] {
				return scalar, nil
			}
			if c.said == nil {
				c.said = map[string]bool{}
			}
			c.said[s] = true
			c.newest = slices.Insert(c.newest, 0, s)
			c.newest = c.newest[:min(len(c.newest), maxNewest)]
			return scalar, nil
		})
	}
}

// Without returns a value without copies. Its form stays: a text that is a copy is empty.
func (c *Copies) Without(value json.RawMessage) json.RawMessage { return c.without(value, false) }

// without is Without; all says that every text in the value is a copy.
func (c *Copies) without(value json.RawMessage, all bool) json.RawMessage {
	if s, ok := jsonvalue.Text(value); ok {
		now := s
		if all || c.said[strings.TrimSpace(s)] {
			now = ""
		}
		for _, words := range c.newest {
			now = strings.ReplaceAll(now, words, "")
		}
		if now == s {
			return value
		}
		return jsonvalue.Encode(now)
	}
	if list, err := jsonvalue.Elements(value); err == nil {
		for i := range list {
			list[i] = c.without(list[i], all)
		}
		return jsonvalue.Array(list)
	}
	o := jsonvalue.AsObject(value)
	if o == nil {
		return value
	}
	o = o.Without()
	for name := range o {
		o[name] = c.without(o[name], all || slices.Contains(c.Members, name))
	}
	return jsonvalue.Encode(o)
}
