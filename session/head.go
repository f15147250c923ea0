package session

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/forest/score"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/index"
	"github.com/gemini-ctx/ctx/session/window"
)

// head is what an append has to know of a branch: its value, and the messages after its frontier. It is kept in the cache, stamped with the
// tip; without it, it is had from the newest entries.
type head struct {
	session, branch string
	value           format.Value

	Seq     uint64    `json:"seq"`   // of the tip
	Time    time.Time `json:"time"`  // of the tip
	Model   bool      `json:"model"` // a model takes part
	Items   []item    `json:"items"` // messages after the frontier, oldest first
	Cluster uint64    `json:"cluster"`
	Joined  bool      `json:"joined"` // Cluster is where the last message up to the frontier went
	// Fork is the fork that started the branch, as long as nobody has joined it; "" for main and for lines from the past.
	Fork string `json:"fork,omitempty"`
	// Alone is the seq after which nobody but the branch has ever had its messages: one up to there may be a member already.
	Alone uint64 `json:"alone,omitempty"`
	// Invocation is that of the tip; "" where nobody has asked.
	Invocation string `json:"invocation,omitempty"`
	// Forks are those of the branch's own, or of what was joined to it, that have open children, as far as ForksKnown: no others have any.
	Forks      []string `json:"forks,omitempty"`
	ForksKnown bool     `json:"forks_known,omitempty"`
	// Had is the newest entry of each open child that joins have brought, as far as is remembered.
	Had map[string]string `json:"had,omitempty"`
	// Looks is the version of the features of Items.
	Looks int `json:"looks"`
	// Lags says that there are more messages after the frontier than Items holds, which are the newest ones.
	Lags bool `json:"lags,omitempty"`
}

// looksVersion is that of what score keeps of messages and clusters, which is cached. It is raised where score.Of makes other terms or signs of a
// message: those of another version still decode, and would be compared with what they were not made like.
const looksVersion = 1

// maxBacklog is how many messages after the frontier are kept in the cache. With more, a branch lags: appends stay cheap, and graduate
// no more until graduate or compact has caught up.
const maxBacklog = 1024

// keptItems is how many of the newest messages a branch that lags keeps: a tool's result finds its call among them.
const keptItems = 64

// item is a message in the window.
type item struct {
	ID      format.ID `json:"-"`
	Hex     string    `json:"id"`
	Role    string    `json:"role"`
	Calls   []string  `json:"calls,omitempty"`
	Results []string  `json:"results,omitempty"`
	// Version is the entry that has its newest text; "" where that is the message itself.
	Version string `json:"version,omitempty"`
	// Features is what the choice of a cluster looks at, as score encodes it; nil where nobody has looked yet.
	Features []byte `json:"features,omitempty"`

	said *score.Message  // when at hand
	look *score.Features // of said, or decoded
}

// head returns the state of a branch, an empty one if it does not exist.
func (s *Store) head(session, branch string, v format.Value) (*head, error) {
	h := &head{session: session, branch: branch, value: v}
	if !v.Exists() {
		return h, nil
	}
	if payload, stamp, ok := s.Cache.Load(index.HeadName(session, branch)); ok && stamp == headStamp(v) {
		if json.Unmarshal(payload, h) == nil && h.restoreIDs() {
			return h, nil
		}
		*h = head{session: session, branch: branch, value: v}
	}
	return h, s.rebuildHead(h, false)
}

// headStamp tells one state of a branch from another: its tip, and how far it has graduated.
func headStamp(v format.Value) index.Stamp { return index.Stamp{Number: v.Frontier, Digest: v.ID} }

func (h *head) restoreIDs() bool {
	for i := range h.Items {
		id, err := format.ParseID(h.Items[i].Hex)
		if err != nil {
			return false
		}
		h.Items[i].ID = id
		if h.Looks != looksVersion {
			h.Items[i].Features = nil // looked at again where it is needed
		}
	}
	return true
}

// rebuildHead walks back from the tip to the frontier; unless whole, only as far as the cache would hold.
func (s *Store) rebuildHead(h *head, whole bool) error {
	newest := map[format.ID]entryAt{}
	first := true
	err := s.back(h.value.ID, func(id format.ID, e *format.Entry) bool {
		if first {
			h.Seq, h.Time, first = e.Seq, e.Time, false
			h.Alone = h.Seq // as far as anybody can tell
		}
		if e.Role == "model" {
			h.Model = true
		}
		if _, newer := newest[e.Amends]; e.Kind == format.KindAmend && !newer {
			newest[e.Amends] = entryAt{id, e}
		}
		if e.Kind == format.KindMessage && e.Seq > h.value.Frontier {
			it := itemOf(id, e, format.ID{})
			if v, ok := newest[id]; ok {
				it = itemOf(id, v.e, v.id)
				it.Role = e.Role
			}
			h.Items = append(h.Items, it)
		}
		if !whole && len(h.Items) > maxBacklog {
			h.Lags, h.Items = true, h.Items[:keptItems]
			return false
		}
		return e.Seq > h.value.Frontier || !h.enough(e)
	})
	if err != nil {
		return err
	}
	slices.Reverse(h.Items)
	fork, err := s.forkOf(h.session, h.branch, h.value)
	if !fork.IsZero() {
		h.Fork = fork.String()
	}
	return err
}

// enough stops the walk a window's length behind the frontier: who takes part shows by then.
func (h *head) enough(e *format.Entry) bool {
	return h.Model || h.value.Frontier-e.Seq >= window.MaxPiece
}

func itemOf(id format.ID, e *format.Entry, version format.ID) item {
	it := item{ID: id, Hex: id.String(), Role: e.Role, Results: e.Results}
	for _, c := range e.Calls {
		it.Calls = append(it.Calls, c.ID)
	}
	if !version.IsZero() {
		it.Version = version.String()
	}
	return it
}

// wholeHead is head for who needs every message after the frontier.
func (s *Store) wholeHead(session, branch string, v format.Value) (*head, error) {
	h, err := s.head(session, branch, v)
	if err != nil || !h.Lags {
		return h, err
	}
	whole := &head{session: session, branch: branch, value: v, Cluster: h.Cluster, Joined: h.Joined}
	return whole, s.rebuildHead(whole, true)
}

// saveHead keeps the state of a branch for the next command.
func (s *Store) saveHead(h *head) {
	if len(h.Items) > maxBacklog || h.Lags || h.Fork != "" && len(h.Items) > keptItems {
		// What an open child says does not graduate, and its head is read by every other branch of the session.
		short := *h
		short.Lags, short.Items = true, slices.Clone(h.Items[max(0, len(h.Items)-keptItems):])
		h = &short
	}
	for i := range h.Items {
		if it := &h.Items[i]; h.Fork == "" && it.Features == nil && (it.look != nil || it.said != nil) {
			f, err := s.features(h, it)
			if err != nil {
				s.warn(err)
				return
			}
			it.Features = f.Append(nil)
		}
	}
	h.Looks = looksVersion
	b, err := json.Marshal(h)
	if err == nil {
		err = s.Cache.Store(index.HeadName(h.session, h.branch), headStamp(h.value), b)
	}
	if err != nil {
		s.warn(fmt.Errorf("cannot write the cache: %w", err))
	}
}

// windowItems are the messages as the window's rules see them.
func (h *head) windowItems() []window.Item {
	list := make([]window.Item, len(h.Items))
	for i, it := range h.Items {
		list[i] = window.Item{Role: it.Role, Calls: it.Calls, Results: it.Results}
	}
	return list
}

// features returns what the choice of a cluster looks at in a message of the window: what the cache has, or by its newest text. A message that is
// forgotten says nothing.
func (s *Store) features(h *head, it *item) (score.Features, error) {
	if it.look != nil {
		return *it.look, nil
	}
	if it.Features != nil {
		if f, rest, err := score.DecodeFeatures(it.Features); err == nil && len(rest) == 0 {
			it.look = &f
			return f, nil
		}
	}
	if it.said == nil {
		id := it.ID
		if it.Version != "" {
			newest, err := format.ParseID(it.Version)
			if err != nil {
				return score.Features{}, err
			}
			id = newest
		}
		shown, err := s.Entry(id)
		if err != nil {
			return score.Features{}, err
		}
		m := messageOf(h.session, shown.Entry, shown.Text)
		m.Role = it.Role
		it.said = &m
	}
	f := score.Of(*it.said)
	it.look, it.said = &f, nil
	return f, nil
}

// messageOf is an entry as the choice of a cluster looks at it.
func messageOf(conversation string, e *format.Entry, text string) score.Message {
	m := score.Message{Conversation: conversation, Role: e.Role, Author: e.Author, Time: e.Time, Text: text}
	for _, c := range e.Calls {
		m.Calls = append(m.Calls, c.Tool)
	}
	return m
}
