package geminicli

import (
	"crypto/sha256"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// replay is the state of one reading. Its memory grows with what was said, once; copies add
// nothing.
type replay struct {
	emit  func(transcript.Step) error
	stats transcript.Stats
	// The transcript began as one JSON document, which the agent rewrites as a whole
	document bool
	waiting  []transcript.Step // until the session has a name
	began    bool              // a message was emitted
	rewinds  int               // emitted

	chain chain
	view  view
	calls calls

	restore       restore
	derived       transcript.Names // messages without id, by what their key is derived from
	afterSnapshot bool             // the message before this one was a summary by the agent

	met  transcript.Met // the ids of messages and calls; nil if they are not needed
	back bool           // a record depends on earlier ones: see ReadOn
}

func newReplay(emit func(transcript.Step) error) *replay {
	return &replay{
		emit:    emit,
		stats:   transcript.NewStats(),
		chain:   newChain(),
		view:    newView(),
		calls:   newCalls(),
		derived: transcript.Names{},
	}
}

// candidate is a message as a record has it, before it is compared with what is known.
type candidate struct {
	key     string
	msg     transcript.Message // without origin and content
	parts   []part
	fromSet bool // it comes from a list that the agent wrote again
	hints   *transcript.Hints
}

// offer emits c unless it is known and says nothing new.
func (s *replay) offer(c candidate) error {
	known := s.chain.current[c.key]
	if len(c.parts) == 0 {
		if known == nil {
			s.stats.Pass(passedEmpty)
		} else {
			s.stats.Pass(passedRepeated)
		}
		return nil
	}
	if known != nil {
		c.msg.Note, c.msg.Role = known.note, known.role
		if c.fromSet {
			c.parts = merge(known.parts, c.parts)
		}
	}
	return s.publish(c, known)
}

// offerResult is offer for a tool's result. The agent shortens results, and syncs the shortened
// form everywhere: neither a masked copy, nor part of what is known, nor a shorter one in a
// rewritten list, is a new version.
func (s *replay) offerResult(c candidate) error {
	known := s.chain.current[c.key]
	if known == nil {
		return s.publish(c, nil)
	}
	if contains(known.parts, c.parts) {
		s.stats.Pass(passedRepeated)
		return nil
	}
	old, offered := printParts(known.parts), printParts(c.parts)
	wasMasked := strings.Contains(string(old), maskTag)
	isMasked := strings.Contains(string(offered), maskTag)
	if isMasked || c.fromSet && !wasMasked && len(offered) < len(old) {
		s.stats.Pass(passedMasked)
		return nil
	}
	return s.publish(c, known)
}

// publish emits c as a version after known, if it differs.
func (s *replay) publish(c candidate, known *version) error {
	m := c.msg
	m.Origin, m.Record = s.origin(c.key), normalParts(c.parts)
	v := &version{note: m.Note, from: m.Origin, role: m.Role, parts: c.parts,
		sum: sha256.Sum256(m.Record)}
	if known != nil && known.sum == v.sum {
		s.stats.Pass(passedRepeated)
		return nil
	}
	m.SetRead(c.parts)
	if c.hints != nil && c.hints.From != nil {
		c.hints.Apply(&m)
		m.Record = nil // the words tell versions apart, as those of other transcripts do
		v.from = m.Origin
	}
	s.chain.push(c.key, v)
	s.began = true
	return s.step(transcript.Step{Message: m})
}

// rewind applies a rewind record: every message of the agent's list from id on leaves, and with
// them all messages that were emitted after the first of them.
func (s *replay) rewind(id string) error {
	s.afterSnapshot, s.back = false, true
	if at, ok := s.view.position[id]; ok {
		if n, live := s.chain.earliest(s.view.cut(at)); live {
			return s.leave(n)
		}
		return nil // nothing of it was ever emitted
	}
	if n, ok := s.chain.earliest(s.view.keys[id]); ok {
		// The agent had dropped the message from its list. It would now clear everything, but the
		// message to rewind to is known here.
		err := s.leave(n)
		s.view.keep(func(id string) bool {
			_, live := s.chain.earliest(s.view.keys[id])
			return live
		})
		return err
	}
	s.view.cut(0)
	s.chain.cut(0)
	s.stats.Unknown++
	return s.rewound("", transcript.Origin{})
}

// leave emits the rewind to the chain's nth step.
func (s *replay) leave(n int) error {
	key := s.chain.keys[n]
	first := s.chain.current[key]
	for first.prev != nil {
		first = first.prev
	}
	s.chain.cut(n)
	return s.rewound(key, first.from)
}
