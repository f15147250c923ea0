package history

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
)

// Backlog returns a branch with every message after the frontier, of which there may be very many.
func (s *Reader) Backlog(session, branch string, v format.Value) (*Head, error) {
	h, err := s.Head(session, branch, v)
	if err != nil || !h.Lags {
		return h, err
	}
	b := &Head{Session: session, Branch: branch, Value: v, Cluster: h.Cluster, Joined: h.Joined}
	err = s.walkBack(b, func(it Item) bool {
		b.Items = append(b.Items, detached(it))
		return true
	})
	slices.Reverse(b.Items)
	b.Alone = h.Alone // the entries do not tell it, and the cache may
	return b, err
}

// detached returns an item with strings of its own: those of an entry hold the whole header that
// they were read from.
func detached(it Item) Item {
	for _, role := range [...]string{"user", "model", "tool", "system"} {
		if it.Role == role {
			it.Role = role
		}
	}
	it.Calls, it.Results = cloned(it.Calls), cloned(it.Results)
	return it
}

func cloned(list []string) []string {
	out := slices.Clone(list)
	for i := range out {
		out[i] = strings.Clone(out[i])
	}
	return out
}
