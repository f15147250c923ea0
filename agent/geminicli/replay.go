package geminicli

import (
	"crypto/sha256"
	"strings"
)

// replay is the state of one reading. Its memory grows with what was said, once; copies add nothing.
type replay struct {
	emit   func(Step) error
	stats  Stats
	offset int64 // end of the record being read

	chain chain
	view  view
	calls calls

	restore       restore
	derived       map[string]int // messages without id, by what their key is derived from
	afterSnapshot bool           // the message before this one was a summary by the agent

	met  map[uint64]struct{} // ids of messages and calls, by digest; nil where nobody asks
	back bool                // something was read that only what came before it explains
}

func newReplay(emit func(Step) error) *replay {
	return &replay{
		emit:    emit,
		stats:   Stats{Skipped: map[string]int{}},
		chain:   newChain(),
		view:    newView(),
		calls:   newCalls(),
		derived: map[string]int{},
	}
}

// candidate is a message as a record has it, before it is compared with what is known.
type candidate struct {
	kind    StepKind
	msg     Message // without content
	parts   []part
	fromSet bool // it comes from a list that the agent wrote again
}

// offer emits c unless it is known and says nothing new.
func (s *replay) offer(c candidate) error {
	known := s.chain.current[c.msg.Key]
	if len(c.parts) == 0 {
		if known == nil {
			s.stats.Empty++
		} else {
			s.stats.Repeated++
		}
		return nil
	}
	if known != nil {
		c.kind, c.msg.Role = known.kind, known.role
		if c.fromSet {
			c.parts = merge(known.parts, c.parts)
		}
	}
	return s.publish(c, known)
}

// offerResult is offer for a tool's result. The agent shortens results, and syncs the shortened form everywhere: neither
// a masked copy, nor part of what is known, nor a shorter one in a rewritten list, is a new version.
func (s *replay) offerResult(c candidate) error {
	known := s.chain.current[c.msg.Key]
	if known == nil {
		return s.publish(c, nil)
	}
	if contains(known.parts, c.parts) {
		s.stats.Repeated++
		return nil
	}
	old, offered := printParts(known.parts), printParts(c.parts)
	wasMasked := strings.Contains(string(old), maskTag)
	isMasked := strings.Contains(string(offered), maskTag)
	if isMasked || c.fromSet && !wasMasked && len(offered) < len(old) {
		s.stats.MaskedCopies++
		return nil
	}
	return s.publish(c, known)
}

// publish emits c as a version after known, if it differs.
func (s *replay) publish(c candidate, known *version) error {
	m := c.msg
	m.Normal = normalParts(c.parts)
	v := &version{kind: c.kind, role: m.Role, parts: c.parts, sum: sha256.Sum256(m.Normal)}
	if known != nil && known.sum == v.sum {
		s.stats.Repeated++
		return nil
	}
	if len(c.parts) == 1 && c.parts[0].plain() {
		m.Text = c.parts[0].text
	} else {
		m.Parts = printParts(c.parts)
	}
	for _, p := range c.parts {
		switch p.kind {
		case partCall:
			m.Calls = append(m.Calls, Call{ID: p.callID, Tool: p.tool})
		case partResponse:
			m.Results = append(m.Results, p.callID)
		}
	}
	m.Session = s.stats.Session
	s.chain.push(m.Key, v)
	if c.kind == KindNote {
		s.stats.Notes++
	} else {
		s.stats.Messages++
	}
	return s.emit(Step{Kind: c.kind, Message: m, Offset: s.offset})
}

// rewind applies a rewind record. What leaves is every message that the agent's list holds from id on, and with them
// whatever was emitted after the first of them.
func (s *replay) rewind(id string) error {
	s.afterSnapshot, s.back = false, true
	if at, ok := s.view.position[id]; ok {
		if n, live := s.chain.earliest(s.view.cut(at)); live {
			return s.leave(n)
		}
		return nil // nothing of it was ever emitted
	}
	if n, ok := s.chain.earliest(s.view.keys[id]); ok {
		// The agent had dropped it from its list. It would now clear everything; what it means is plain all the same.
		err := s.leave(n)
		s.view.keep(func(id string) bool {
			_, live := s.chain.earliest(s.view.keys[id])
			return live
		})
		return err
	}
	s.view.cut(0)
	s.chain.cut(0)
	s.stats.Rewinds++
	s.stats.Unknown++
	return s.emit(Step{Kind: KindRewind, RewindUnknown: true, Offset: s.offset})
}

// leave emits the rewind to the chain's nth step.
func (s *replay) leave(n int) error {
	key := s.chain.keys[n]
	s.chain.cut(n)
	s.stats.Rewinds++
	return s.emit(Step{Kind: KindRewind, RewindTo: key, Offset: s.offset})
}
