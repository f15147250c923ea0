package conversation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/message"
	"github.com/gemini-ctx/ctx/sanitize"
)

// Message is a message or a note to append.
type Message struct {
	Note    bool // about the conversation, not part of it
	Role    string
	Author  string
	Text    string          // UTF-8
	Parts   json.RawMessage // instead of Text: a JSON array of message parts
	Time    time.Time       // zero: that of the message before it, else the clock's
	Calls   []format.Call   // nil: those that Parts hold
	Results []string        // nil: those that Parts hold
	Tokens  uint64
	// Invocation names the run of the agent that the message belongs to; "" if unknown.
	Invocation string
	Source     *Source
	// Amends is the message of the branch that this is a later version of, for a message whose
	// source does not tell; zero for none.
	Amends format.ID
	// Secrets are values in the words that are secrets by what was said before.
	Secrets []string

	ahead *cleaned // of Text and Parts, which have not changed since; nil if unknown
}

// Source says where a message comes from. Append adds a message of a source once per session.
type Source struct {
	Agent, Session, Message string
	// Record tells versions of the message apart; nil for its role, author and text.
	Record []byte
}

// CleanAll returns a sanitized and checked copy of a batch, and what was found, by class. Nothing
// of a batch may be hashed or written before.
func CleanAll(batch []Message) ([]Message, []sanitize.Finding, error) {
	out := slices.Clone(batch)
	var all []sanitize.Finding
	for i := range out {
		found, err := out[i].Clean()
		if err != nil {
			return nil, nil,
				fmt.Errorf("%w: cannot sanitize a message, so it is not stored: %w",
					history.ErrInput, err)
		}
		if err := out[i].check(); err != nil {
			return nil, nil, err
		}
		all = sanitize.AddFindings(all, found)
	}
	slices.SortFunc(all,
		func(a, b sanitize.Finding) int { return strings.Compare(a.Class, b.Class) })
	return out, all, nil
}

// cleaned is what Clean, check and the score need of the words of a message.
type cleaned struct {
	text     []byte
	found    []sanitize.Finding
	err      error
	parts    []message.Part // in text
	parseErr error
	said     string // the words of parts
}

// CleanAhead does the long work of CleanAll for one message: it sanitizes and reads Text and Parts,
// which do not change afterwards. It may run in any goroutine.
func (m *Message) CleanAhead() {
	c := m.cleanWords()
	if c.err == nil && m.Parts != nil {
		if c.parts, c.parseErr = message.ParseClean(c.text); c.parseErr == nil {
			c.said = message.Words(c.parts)
		}
	}
	if m.Parts == nil && len(c.found) == 0 {
		c.text = nil // the same as Text
	}
	m.ahead = c
}

// TakeAhead takes over what CleanAhead has done for a message with the same words.
func (m *Message) TakeAhead(done *Message) { m.ahead = done.ahead }

func (m *Message) cleanWords() *cleaned {
	text, clean := []byte(m.Text), sanitize.Text
	if m.Parts != nil {
		text, clean = m.Parts, sanitize.JSON
	}
	text, known := sanitize.Known(text, m.Secrets)
	c := &cleaned{}
	c.text, c.found, c.err = clean(text)
	c.found = sanitize.AddFindings(c.found, known)
	return c
}

// Clean sanitizes the text and the names that go into the header of an entry.
func (m *Message) Clean() (found []sanitize.Finding, err error) {
	c := m.ahead
	if c == nil {
		c = m.cleanWords()
	}
	if c.err != nil {
		return nil, c.err
	}
	switch {
	case m.Parts != nil:
		m.Parts = c.text
	case len(c.found) > 0: // else they are the same
		m.Text = string(c.text)
	}
	if found = slices.Clone(c.found); m.ahead != nil && len(found) > 0 {
		again := *c
		again.found = nil // clean words stay as they are
		m.ahead = &again
	}
	names := []*string{&m.Author, &m.Invocation}
	if m.Source != nil {
		src := *m.Source
		m.Source = &src
		names = append(names, &src.Session, &src.Message)
	}
	for _, name := range names {
		b, more, err := sanitize.Text([]byte(*name))
		if err != nil {
			return nil, err
		}
		if len(more) > 0 {
			*name, found = string(b), sanitize.AddFindings(found, more)
		}
	}
	return found, nil
}

// Body returns the body of the entry of a message, and its media type.
func (m *Message) Body() (text []byte, media string) {
	if m.Parts != nil {
		return m.Parts, format.MediaParts
	}
	return []byte(m.Text), format.MediaText
}

func (m *Message) check() error {
	size := len(m.Text)
	if m.Parts != nil {
		size = len(m.Parts)
	}
	switch {
	case !format.IsRole(m.Role):
		return fmt.Errorf("%w: unknown role %q: user, model, tool and system are the roles",
			history.ErrInput, history.Clip(m.Role))
	case size > history.MaxMessage:
		return fmt.Errorf("%w: message of %d bytes: %d is the most", history.ErrInput, size,
			history.MaxMessage)
	case !utf8.ValidString(m.Author):
		return fmt.Errorf("%w: author is not UTF-8", history.ErrInput)
	}
	if m.Parts == nil {
		return nil
	}
	parts, err := m.parse()
	if err != nil {
		return fmt.Errorf("%w: %w", history.ErrInput, err)
	}
	if m.Calls == nil && m.Results == nil {
		m.Calls, m.Results = linksOf(parts)
	}
	return nil
}

// parse returns the parts of a clean message.
func (m *Message) parse() ([]message.Part, error) {
	if m.ahead != nil {
		return m.ahead.parts, m.ahead.parseErr
	}
	return message.Parse(m.Parts)
}

// words returns what a stored message says, as history.Words does.
func (m *Message) words() string {
	switch {
	case m.Parts == nil:
		return m.Text
	case m.ahead != nil:
		return m.ahead.said
	}
	return history.Words(m.Parts)
}

// Record returns what tells versions of the message apart. Source must be set.
func (m *Message) Record() []byte {
	if m.Source.Record != nil {
		return m.Source.Record
	}
	b := []byte(m.Role + "\x00" + m.Author + "\x00")
	if m.Parts != nil {
		return append(append(b, "parts\x00"...), m.Parts...)
	}
	return append(append(b, "text\x00"...), m.Text...)
}

// linksOf returns the calls and results in parts that have an id.
func linksOf(parts []message.Part) (calls []format.Call, results []string) {
	for _, c := range message.Calls(parts) {
		if c.ID != "" {
			calls = append(calls, format.Call{ID: c.ID, Tool: c.Name})
		}
	}
	for _, r := range message.Results(parts) {
		if r.ID != "" {
			results = append(results, r.ID)
		}
	}
	return calls, results
}
