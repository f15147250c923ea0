package history

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
)

// Backlog is a branch with all its messages after the frontier, which may be very many. Head.Items
// holds the oldest of them, and Head.Lags says that there are others, which More reads.
type Backlog struct {
	*Head
	rest    []format.ID        // messages newer than those in Items, the newest first
	amended map[format.ID]Item // those of rest that have a later version
}

// backlogHeld is about how many messages of a backlog are in memory at a time; of the others there
// are the ids. Tests change it.
var backlogHeld = 16 << 10

// Backlog returns a branch with every message after the frontier.
func (s *Reader) Backlog(session, branch string, v format.Value) (*Backlog, error) {
	h, err := s.Head(session, branch, v)
	if err != nil || !h.Lags {
		return &Backlog{Head: h}, err
	}
	b := &Backlog{
		Head: &Head{Session: session, Branch: branch, Value: v, Cluster: h.Cluster,
			Joined: h.Joined},
		amended: map[format.ID]Item{},
	}
	var list []Item
	err = s.walkBack(b.Head, func(it Item) bool {
		if list = append(list, detached(it)); len(list) == 2*backlogHeld {
			for _, it := range list[:backlogHeld] {
				b.rest = append(b.rest, it.ID)
				if it.Version != "" {
					b.amended[it.ID] = it
				}
			}
			list = append(list[:0], list[backlogHeld:]...)
		}
		return true
	})
	slices.Reverse(list)
	b.Items, b.Lags = list, len(b.rest) > 0
	b.Alone = h.Alone // the entries do not tell it, and the cache may
	return b, err
}

// More reads further messages of a backlog that Lags says there are.
func (s *Reader) More(b *Backlog) error {
	b.Items = slices.Clone(b.Items) // frees those that have graduated
	for range min(backlogHeld, len(b.rest)) {
		id := b.rest[len(b.rest)-1]
		it, ok := b.amended[id]
		if !ok {
			e, err := s.Header(id)
			if err != nil {
				return err
			}
			it = detached(ItemOf(id, e, format.ID{}))
		}
		b.Items, b.rest = append(b.Items, it), b.rest[:len(b.rest)-1]
	}
	b.Lags = len(b.rest) > 0
	return nil
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
