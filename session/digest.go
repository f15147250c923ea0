package session

import (
	"encoding/binary"
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

// digestCache is the cached digest of a branch. It is a function of at and of the digest's version
// alone, as long as no body was forgotten.
type digestCache struct {
	at     format.ID // the newest entry that the digest is made of
	newest uint64    // seq of the newest message
	called uint64    // seq of the newest message that calls a tool, with its arguments
	digest.Digester
}

// work is what a branch's messages say and do: up to a message, and after it.
type work struct {
	before, after []digest.Fact // oldest first
	agent         bool          // one of the newest messages calls a tool, with its arguments
}

// workOf returns the facts of a branch up to the message with number through, and those after it. An
// amend counts for a message up to through if it was made before that message was followed by another,
// so that before does not change as the branch grows. Where all is false and the branch is not an
// agent's, facts before through are not read. The digest is cached: with a cache, a call reads the
// messages since then.
func (s *Store) workOf(name BranchName, tip format.ID, through uint64, all bool) (*work, error) {
	cached := s.loadDigest(name)
	h, err := s.digestHistory(tip, through, cached, all)
	if err != nil {
		return nil, err
	}
	d := digestCache{}
	if h.cached != nil {
		d = *h.cached
	}
	d.newest = max(d.newest, h.newest)
	may := d.isAgents(h.called)
	if len(h.before.list) > 0 && (may || all) {
		list, err := s.digestMessages(&h.before)
		if err != nil {
			return nil, err
		}
		d.Add(list)
		d.called = max(d.called, calledIn(list))
		d.at = h.before.list[0].id
		s.storeDigest(name, &d)
	}
	w := &work{before: d.Facts(), agent: d.isAgents(0)}
	if through > 0 && !w.agent && !all {
		return w, nil // talk is not rendered from facts
	}
	list, err := s.digestMessages(&h.after)
	if err != nil {
		return nil, err
	}
	w.agent = w.agent || through == 0 && calledIn(list) > 0
	d.Add(list)
	w.after = d.Facts()[len(w.before):]
	return w, nil
}

// isAgents reports whether one of the newest messages calls a tool: one that the digest has, or the
// one with number called.
func (d *digestCache) isAgents(called uint64) bool {
	called = max(called, d.called)
	return called > 0 && d.newest-called < agentWithin
}

// calledIn returns the seq of the newest message whose calls have their arguments; 0 where there is
// none. A call of which only the name is stored says nothing of what was done: such a branch is
// summarized by its words, which are all that there is.
func calledIn(list []digest.Message) uint64 {
	for i := range slices.Backward(list) {
		if len(list[i].Calls) > 0 {
			return max(list[i].Seq, 1)
		}
	}
	return 0
}

// history is what a digest reads of a branch: the entries that are not cached.
type history struct {
	before, after passage
	cached        *digestCache // what was cached of the entries before
	newest        uint64       // seq of the newest message before
	called        uint64       // seq of the newest message before that calls a tool
}

// passage is a part of a history, newest first.
type passage struct {
	list   []entryAt
	amends map[format.ID]format.ID // by message: its newest version
}

func (s *Store) loadDigest(name BranchName) *digestCache {
	b, _, ok := s.Cache.Load(index.DigestName(name.Session, name.Branch))
	if !ok {
		return nil
	}
	var d digestCache
	head := [3]uint64{}
	for i := range head {
		n, size := binary.Uvarint(b)
		if size <= 0 {
			return nil
		}
		head[i], b = n, b[size:]
	}
	if head[0] != digest.Version || len(b) < len(d.at) {
		return nil
	}
	d.newest, d.called = head[1], head[2]
	if d.UnmarshalBinary(b[copy(d.at[:], b):]) != nil {
		return nil
	}
	return &d
}

// storeDigest keeps a digest: the version, newest, called, at, and the digester. Nothing depends on it.
func (s *Store) storeDigest(name BranchName, d *digestCache) {
	var b []byte
	for _, n := range [...]uint64{digest.Version, d.newest, d.called} {
		b = binary.AppendUvarint(b, n)
	}
	b = append(b, d.at[:]...)
	if b, err := d.AppendBinary(b); err == nil {
		_ = s.Cache.Store(index.DigestName(name.Session, name.Branch), index.Stamp{}, b)
	}
}

// digestHistory walks back from a tip to what is cached, or to the first message that counts.
func (s *Store) digestHistory(tip format.ID, through uint64, cached *digestCache, all bool) (*history, error) {
	h := &history{}
	messages := 0
	err := s.backSides(tip, func(id format.ID, e *format.Entry, side bool) bool {
		if e.Seq > through {
			h.after.take(id, e)
			return len(h.after.list) < maxDigested
		}
		if cached != nil && id == cached.at {
			h.cached = cached
			return false
		}
		h.before.take(id, e)
		if e.Kind == format.KindMessage {
			messages++
			h.newest = max(h.newest, e.Seq)
			if len(e.Calls) > 0 {
				h.called = max(h.called, e.Seq)
			}
		}
		return messages < maxDigested && (all || h.called > 0 || cached != nil || messages < agentWithin)
	})
	return h, err
}

// take notes an entry.
func (h *passage) take(id format.ID, e *format.Entry) {
	switch e.Kind {
	case format.KindMessage, format.KindNote:
		h.list = append(h.list, entryAt{id, e})
	case format.KindAmend:
		if _, newer := h.amends[e.Amends]; !newer {
			if h.amends == nil {
				h.amends = map[format.ID]format.ID{}
			}
			h.amends[e.Amends] = id
		}
	}
}

// digestMessages reads the messages of a passage, oldest first. What was forgotten says nothing.
func (s *Store) digestMessages(h *passage) ([]digest.Message, error) {
	list := make([]digest.Message, 0, len(h.list))
	for _, at := range slices.Backward(h.list) {
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
