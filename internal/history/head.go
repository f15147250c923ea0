package history

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/varint"
)

// Head is what an append has to know of a branch: its value, and the messages after its frontier.
// It is kept in the cache, stamped with the tip; without it, it is had from the newest entries.
type Head struct {
	Session, Branch string
	Value           format.Value

	Seq     uint64    // of the tip
	Time    time.Time // of the tip
	Model   bool      // a model takes part
	Items   []Item    // messages after the frontier, oldest first
	Cluster uint64
	Joined  bool // Cluster is where the last message up to the frontier went
	// Fork is the fork that started the branch, as long as nobody has joined it; "" for main and for
	// lines from the past.
	Fork string
	// Alone is the seq after which nobody but the branch has ever had its messages: one up to there
	// may be a member already.
	Alone uint64
	// Sought is the number of an operation after which none of Items was a member of the main
	// forest; 0 if nobody has looked since other lines had messages up to Alone.
	Sought uint64
	// Invocation is that of the tip; "" where nobody has asked.
	Invocation string
	// Forks are those of the branch's own, or of what was joined to it, that have open children, as
	// far as ForksKnown: no others have any.
	Forks      []string
	ForksKnown bool
	// Had is the newest entry of each open child that joins have brought, as far as is remembered.
	Had map[string]string
	// Lags says that there are more messages after the frontier than Items holds, which are the newest
	// ones.
	Lags bool
}

// LooksVersion is that of what score keeps of messages and clusters, which is cached. It is raised
// where score.Of makes other terms or signs of a message: those of another version still decode,
// and would be compared with what they were not made like.
const LooksVersion = 1

// MaxBacklog is how many messages after the frontier are kept in the cache. With more, a branch
// lags: appends stay cheap, and graduate no more until graduate or compact has caught up.
const MaxBacklog = 1024

// keptItems is how many of the newest messages a branch that lags keeps: a tool's result finds its
// call among them.
const keptItems = 64

// MaxPairDistance is how many entries before a result its call is looked for. Results follow their
// calls at once: an agent has given up a call that waits longer.
const MaxPairDistance = 256

// Head returns the state of a branch, an empty one if it does not exist.
func (s *Reader) Head(session, branch string, v format.Value) (*Head, error) {
	h := &Head{Session: session, Branch: branch, Value: v}
	if !v.Exists() {
		return h, nil
	}
	if stamp, ok := s.Cache.Get(cache.HeadName(session, branch), headVersion, h.Code); ok &&
		stamp == headStamp(v) {
		return h, nil
	}
	h = &Head{Session: session, Branch: branch, Value: v}
	return h, s.rebuildHead(h)
}

// ShareUpTo notes that other lines may have the messages up to a seq, and that some of them may be
// members already.
func (h *Head) ShareUpTo(seq uint64) { h.Alone, h.Sought = seq, 0 }

// headStamp identifies a state of a branch: its tip, and how far it has graduated.
func headStamp(v format.Value) cache.Stamp { return cache.Stamp{Number: v.Frontier, Digest: v.ID} }

// rebuildHead walks back from the tip to the frontier, as far as the cache would hold.
func (s *Reader) rebuildHead(h *Head) error {
	err := s.walkBack(h, func(it Item) bool {
		h.Items = append(h.Items, it)
		h.Lags = len(h.Items) > MaxBacklog
		return !h.Lags
	})
	if h.Lags {
		h.Items = h.Items[:keptItems]
	}
	slices.Reverse(h.Items)
	return err
}

// walkBack fills in what the entries tell of a head, and calls take for the messages after its
// frontier, the newest first, until that returns false.
func (s *Reader) walkBack(h *Head, take func(Item) bool) error {
	latest := map[format.ID]Entry{}
	first := true
	for e, err := range s.Walk(h.Value.ID, WithJoined) {
		if err != nil {
			return err
		}
		if first {
			h.Seq, h.Time, first = e.Seq, e.Time, false
			h.Alone = h.Seq // as far as anybody can tell
		}
		if e.Role == "model" {
			h.Model = true
		}
		if _, known := latest[e.Amends]; e.Kind == format.KindAmend && !known {
			latest[e.Amends] = e
		}
		if e.Kind == format.KindMessage && e.Seq > h.Value.Frontier {
			it := ItemOf(e.ID, e.Entry, format.ID{})
			if v, ok := latest[e.ID]; ok {
				it = ItemOf(e.ID, v.Entry, v.ID)
				it.Role = e.Role
			}
			if !take(it) {
				break
			}
		}
		if e.Seq <= h.Value.Frontier && h.enough(e.Entry) {
			break
		}
	}
	fork, err := s.ForkOf(h.Session, h.Branch, h.Value)
	if !fork.IsZero() {
		h.Fork = fork.String()
	}
	return err
}

// enough stops the walk a window's length behind the frontier: who takes part shows by then.
func (h *Head) enough(e *format.Entry) bool {
	return h.Model || h.Value.Frontier-e.Seq >= MaxPiece
}

// SaveHead writes the state of a branch to the cache, for the next command.
func (s *Reader) SaveHead(h *Head) {
	if len(h.Items) > MaxBacklog || h.Lags || h.Fork != "" && len(h.Items) > keptItems {
		// What an open child says does not graduate, and its head is read by every other branch of the
		// session.
		short := *h
		short.Lags, short.Items = true, slices.Clone(h.Items[max(0, len(h.Items)-keptItems):])
		h = &short
	}
	for i := range h.Items {
		if it := &h.Items[i]; h.Fork == "" && it.Features == nil &&
			(it.look != nil || it.Said != nil) {
			f, err := s.Features(h, it)
			if err != nil {
				s.Report(err)
				return
			}
			it.Features = f.Append(nil)
		}
	}
	if err := s.Cache.Put(cache.HeadName(h.Session, h.Branch), headStamp(h.Value), headVersion,
		h.Code); err != nil {
		s.Report(fmt.Errorf("cannot write the cache: %w", err))
	}
}

// DropHead takes the state of a branch from the cache, where nobody is about to append.
func (s *Reader) DropHead(session, branch string) {
	_ = s.Cache.Remove(cache.HeadName(session, branch)) // it is no more than of no use
}

// Came adds an entry that a join brought.
func (h *Head) Came(at Entry) {
	h.Model = h.Model || at.Role == "model"
	switch at.Kind {
	case format.KindFork:
		h.Forked(at.ID)
	case format.KindMessage:
		h.Items = append(h.Items, ItemOf(at.ID, at.Entry, format.ID{}))
	case format.KindAmend:
		for i := range h.Items {
			if h.Items[i].ID == at.Amends {
				role := h.Items[i].Role
				h.Items[i] = ItemOf(at.Amends, at.Entry, at.ID)
				h.Items[i].Role = role
			}
		}
	}
}

// Invoked notes the invocation of an entry that is the new tip of the branch.
func (h *Head) Invoked(id format.ID, e *format.Entry) {
	switch {
	case e.Invocation != "":
		h.Invocation = e.Invocation
	case e.Kind == format.KindMessage && e.Role == "user":
		h.Invocation = id.String()
	}
}

// InvocationOf returns the invocation of the tip of a branch, and notes it in the head. from is the
// newest entry of the branch that is stored; newer ones must not name an invocation.
func (s *Reader) InvocationOf(h *Head, from format.ID) (string, error) {
	if h.Invocation == "" {
		var err error
		if h.Invocation, err = s.Invocation(from); err != nil {
			return "", err
		}
	}
	return h.Invocation, nil
}

// headVersion is that of the form of a head in the cache, and of the features of its items.
const headVersion = 2<<8 | LooksVersion

// Code reads or writes a head as the cache has it, without its Session, Branch and Value.
func (h *Head) Code(c *varint.Code) {
	varint.Number(c, &h.Seq)
	c.Time(&h.Time)
	for _, b := range []*bool{&h.Model, &h.Joined, &h.ForksKnown, &h.Lags} {
		c.Flag(b)
	}
	varint.Number(c, &h.Cluster)
	varint.Text(c, &h.Fork)
	varint.Number(c, &h.Alone)
	varint.Number(c, &h.Sought)
	varint.Text(c, &h.Invocation)
	c.Texts(&h.Forks)
	varint.Map(c, &h.Had, func(child, newest *string) {
		varint.Text(c, child)
		varint.Text(c, newest)
	})
	varint.List(c, &h.Items, func(it *Item, c *varint.Code) {
		c.Fixed(it.ID[:])
		varint.Text(c, &it.Role)
		c.Texts(&it.Calls)
		c.Texts(&it.Results)
		varint.Text(c, &it.Version)
		c.Bytes(&it.Features)
	})
}

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
