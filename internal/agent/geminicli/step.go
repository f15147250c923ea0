// Package geminicli reads and writes the chat transcripts of Gemini CLI. It is pure: bytes in,
// values out; no clock, no environment, no files.
//
// A transcript is a log of JSON lines (headers, messages, "$set" updates, "$rewindTo" records), or,
// before April 2026, one JSON document. The agent shortens its own view of a conversation by
// writing the whole list again; the reader keeps what was said before, and takes from such a list
// only what it did not know.
//
// The reader names a message by its key: the id that the agent gave it; "derived:" and 16 hex
// digits where there is none; "result:<call id>" for a tool's result, followed by "@<message id>"
// where an earlier message used the call id too. A message that is said again after a rewind took
// it away has "#2", "#3", … after its key.
package geminicli

import (
	"fmt"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// Agent is the name of Gemini CLI in the source of a message.
const Agent = "gemini-cli"

// MaxLine is the longest line that is read, in bytes without NULs. A longer one is counted and
// skipped.
const MaxLine = transcript.MaxLine

// SkipLongLine is the key of transcript.Stats.Skipped of a line over MaxLine.
const SkipLongLine = "line too long"

// The keys of transcript.Stats.Passed.
const (
	passedRepeated = "repeated"      // a copy of a known message that says nothing new
	passedMasked   = "masked copies" // a copy of a known tool result that the agent shortened
	// A message record without content: the agent writes it again
	passedEmpty       = "empty"
	passedEnvironment = "session context" // the agent's description of its environment
	passedHook        = "hook context"    // a text that a hook injected
	passedNotice      = "import notice"   // the agent's remark that it read a session from a file
)

// step emits st. Steps wait until the transcript has named its session.
func (s *replay) step(st transcript.Step) error {
	s.waiting = append(s.waiting, st)
	if s.stats.Session == "" {
		return nil
	}
	return s.release()
}

// release emits the steps that wait.
func (s *replay) release() error {
	list := s.waiting
	s.waiting = nil
	for _, st := range list {
		st.Session, st.Home = s.stats.Session, s.stats.Home
		if err := s.emit(st); err != nil {
			return err
		}
	}
	return nil
}

// origin names the message that has a key now.
func (s *replay) origin(key string) transcript.Origin {
	name := transcript.Fit(key)
	if n := s.chain.left[key]; n > 0 {
		name = fmt.Sprintf("%s#%d", name, n+1)
	}
	return transcript.Origin{Agent: Agent, Session: transcript.Fit(s.stats.Session), Message: name}
}

// rewound emits a rewind. to is the key of the first message that leaves; "" stands for all of
// them.
func (s *replay) rewound(to string, from transcript.Origin) error {
	if !s.began {
		return nil // nothing was said before it
	}
	name := fmt.Sprintf("rewind:%s@%d", transcript.Fit(to), s.rewinds)
	s.rewinds++
	m := transcript.Message{Origin: transcript.Origin{Agent: Agent, Message: transcript.Fit(name)},
		Record: []byte(name)}
	return s.step(transcript.Step{Kind: transcript.KindRewind, Message: m, RewindTo: from})
}
