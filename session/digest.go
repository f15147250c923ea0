package session

import (
	"encoding/json"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/index"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/message"
)

const (
	// maxDigested is how many messages of a branch a digest is made of at most, the newest. It bounds
	// the time of a first brief: about 0.1 ms a message.
	maxDigested = 8192

	// agentWithin is how many of the newest messages say whether a branch is an agent's: one of them
	// calls a tool.
	agentWithin = 256
)

// digestCache is the cached digest of a branch. It is a function of At and of the digest's version
// alone, as long as no body was forgotten.
type digestCache struct {
	Version int    `json:"v"`
	At      string `json:"at"`     // the newest entry that the digest is made of
	Newest  uint64 `json:"newest"` // seq of the newest message
	Called  uint64 `json:"called"` // seq of the newest message that calls a tool
	digest.Digester
}

// history is what a digest reads of a branch: the newest entries, and what was cached of the rest.
type history struct {
	newer  []entryAt // not in the cache, newest first, messages and recaps alone
	cached *digestCache
	amends map[format.ID]format.ID // by message: its newest version
	newest uint64                  // seq of the newest message
	called uint64                  // seq of the newest message that calls a tool
}

// Digest returns the facts of what a branch says up to the message with number through, oldest first.
// agent is false where none of the newest of them calls a tool. An amend counts if it was made before that message was followed by another. The digest is cached: with a
// cache, a call reads the messages since then.
func (s *Store) Digest(session, branch string, tip format.ID, through uint64) (facts []digest.Fact, agent bool, err error) {
	cached := s.loadDigest(session, branch)
	h, err := s.digestHistory(tip, through, cached)
	if err != nil {
		return nil, false, err
	}
	d := digestCache{Version: digest.Version}
	if h.cached != nil {
		d = *h.cached
	}
	if len(h.newer) > 0 {
		d.Newest = max(d.Newest, h.newest)
		d.Called = max(d.Called, h.called)
	}
	if d.Called == 0 || d.Newest-d.Called >= agentWithin {
		return nil, false, nil
	}
	if len(h.newer) == 0 {
		return d.Facts(), true, nil
	}
	list, err := s.digestMessages(h)
	if err != nil {
		return nil, false, err
	}
	d.Add(list)
	d.At = h.newer[0].id.String()
	s.storeDigest(session, branch, &d)
	return d.Facts(), true, nil
}

// digestSince returns the facts of the messages after through, to a tip. agent says that one of them
// calls a tool.
func (s *Store) digestSince(tip format.ID, through uint64) (facts []digest.Fact, agent bool, err error) {
	h := history{amends: map[format.ID]format.ID{}}
	err = s.backSides(tip, func(id format.ID, e *format.Entry, side bool) bool {
		if e.Kind == format.KindMessage && e.Seq <= through {
			return false
		}
		h.take(id, e)
		return len(h.newer) < maxDigested
	})
	if err != nil {
		return nil, false, err
	}
	list, err := s.digestMessages(&h)
	return digest.Of(list), h.called > 0, err
}

func (s *Store) loadDigest(session, branch string) *digestCache {
	b, _, ok := s.Cache.Load(index.DigestName(session, branch))
	var d digestCache
	if !ok || json.Unmarshal(b, &d) != nil || d.Version != digest.Version {
		return nil
	}
	return &d
}

// storeDigest keeps a digest. Nothing depends on it.
func (s *Store) storeDigest(session, branch string, d *digestCache) {
	if b, err := json.Marshal(d); err == nil {
		_ = s.Cache.Store(index.DigestName(session, branch), index.Stamp{}, b)
	}
}

// digestHistory walks back from a tip to what is cached, or to the first message that counts.
func (s *Store) digestHistory(tip format.ID, through uint64, cached *digestCache) (*history, error) {
	h := &history{amends: map[format.ID]format.ID{}}
	messages := 0
	err := s.backSides(tip, func(id format.ID, e *format.Entry, side bool) bool {
		if e.Seq > through {
			return true
		}
		if cached != nil && id.String() == cached.At {
			h.cached = cached
			return false
		}
		h.take(id, e)
		if e.Kind == format.KindMessage {
			messages++
		}
		return messages < maxDigested && (h.called > 0 || cached != nil || messages < agentWithin)
	})
	return h, err
}

// take notes an entry for the digest.
func (h *history) take(id format.ID, e *format.Entry) {
	switch e.Kind {
	case format.KindMessage:
		h.newest = max(h.newest, e.Seq)
		if len(e.Calls) > 0 {
			h.called = max(h.called, e.Seq)
		}
		h.newer = append(h.newer, entryAt{id, e})
	case format.KindNote:
		h.newer = append(h.newer, entryAt{id, e})
	case format.KindAmend:
		if _, newer := h.amends[e.Amends]; !newer {
			h.amends[e.Amends] = id
		}
	}
}

// digestMessages reads the newer messages of a history, oldest first. What was forgotten says nothing.
func (s *Store) digestMessages(h *history) ([]digest.Message, error) {
	list := make([]digest.Message, 0, len(h.newer))
	for _, at := range slices.Backward(h.newer) {
		shown, err := s.Version(at.id, h.amends[at.id])
		if err != nil {
			return nil, err
		}
		m := digestMessage(shown)
		m.Seq = at.e.Seq
		if at.e.Kind == format.KindNote {
			if m.Recap = digest.IsRecap(m.Text); !m.Recap {
				continue
			}
		}
		list = append(list, m)
	}
	return list, nil
}

// digestMessage is a message as a digest takes it.
func digestMessage(shown *Shown) digest.Message {
	m := digest.Message{Entry: shown.ID, Seq: shown.Entry.Seq, Role: shown.Entry.Role}
	if shown.Gone != "" {
		return m
	}
	m.Text = shown.Text
	if shown.Parts == nil {
		return m
	}
	parts, err := message.Parse(shown.Parts)
	if err != nil {
		return m
	}
	m.Text = message.Text(parts)
	for _, c := range message.Calls(parts) {
		m.Calls = append(m.Calls, digest.Call{ID: c.ID, Name: c.Name, Args: c.Args})
	}
	for _, r := range message.Results(parts) {
		m.Results = append(m.Results, digest.Result{ID: r.ID, Name: r.Name, Output: r.Output(), Failed: r.Failed()})
	}
	return m
}
