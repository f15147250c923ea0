package jsonl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Line is a parsed line of `append --jsonl`: a message, or the reason why there is none.
type Line struct {
	Number  int // from 1
	Size    int // bytes, for the bounds of a batch
	Message conversation.Message
	Skip    error // why the line cannot be an entry; nil where it can
	// It is a piece of a message that comes as a whole later: nothing of it is looked at or kept
	Partial bool
	BadTime bool // it has a time that cannot be read
	Broken  int  // pieces of it that were not Unicode, replaced by U+FFFD
}

// Reader parses lines and counts unknown keys.
type MessageReader struct {
	Session string         // that of the sources
	Unknown map[string]int // keys that mean nothing here: in how many lines
}

var (
	errNoRole = errors.New("no role")
	errNoText = errors.New("neither text nor parts")
	errBoth   = errors.New("both text and parts")
)

// Read parses a line. An error is in Line.Skip, since the lines after a bad one are still read.
func (r *MessageReader) Read(number int, line []byte) Line {
	out := Line{Number: number, Size: len(line)}
	out.Skip = r.decode(line, &out)
	if out.Skip == nil && !out.Partial {
		out.Skip = checkLine(&out.Message)
	}
	if out.Skip == nil && !out.Partial {
		out.Message.CleanAhead() // beside the append of the lines before
	}
	return out
}

func (r *MessageReader) decode(line []byte, out *Line) error {
	m := &out.Message
	hasText := false
	unknown := func(key string) { r.Unknown[key]++ }
	err := EachField(line, unknown, func(key string, value []byte) (err error) {
		switch key {
		case "role":
			m.Role, err = String(value)
		case "author":
			m.Author, err = String(value)
		case "invocation":
			m.Invocation, err = String(value)
		case "source":
			err = r.source(value, m)
		case "time":
			m.Time, out.BadTime = readTime(value)
		case "text":
			hasText = true
			m.Text, err = String(value)
			out.Broken += Broken(m.Text, value)
		case "parts":
			m.Parts, err = Array(value)
		case "partial":
			out.Partial, err = Bool(value)
		default:
			err = ErrUnknown
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case out.Partial:
		return nil
	case m.Role == "":
		return errNoRole
	case hasText && m.Parts != nil:
		return errBoth
	case !hasText && m.Parts == nil:
		return errNoText
	}
	return nil
}

func (r *MessageReader) source(value []byte, m *conversation.Message) error {
	s, err := String(value)
	if err != nil || s == "" {
		return err
	}
	m.Source = Source(r.Session, s)
	return nil
}

// Source returns the source of a message with its own name in a session.
func Source(name, message string) *conversation.Source {
	return &conversation.Source{Agent: format.JSONLAgent, Session: name, Message: message}
}

// checkLine refuses a message that the store would refuse, so that one line does not fail its whole
// batch.
func checkLine(m *conversation.Message) error {
	switch {
	case !format.IsRole(m.Role):
		return fmt.Errorf("unknown role %.40q", m.Role)
	case len(m.Text) > history.MaxMessage || len(m.Parts) > history.MaxMessage:
		return fmt.Errorf("message of %d bytes: %d is the most", max(len(m.Text), len(m.Parts)),
			history.MaxMessage)
	}
	names := []struct{ key, value string }{{"author", m.Author}, {"invocation", m.Invocation}}
	if m.Source != nil {
		names = append(names, struct{ key, value string }{"source", m.Source.Message})
	}
	for _, n := range names {
		if n.value == "" || isPlainName(n.value) {
			continue
		}
		if _, err := format.EncodeName(n.value); err != nil {
			return fmt.Errorf("%s: %w", n.key, err)
		}
	}
	return nil
}

// isPlainName recognizes most valid names cheaply: short ones in valid UTF-8.
func isPlainName(s string) bool { return len(s) <= format.MaxName/3 && utf8.ValidString(s) }

// readTime parses an RFC 3339 time. bad means that it cannot be read or stored.
func readTime(value []byte) (t time.Time, bad bool) {
	s, err := String(value)
	if err == nil {
		t, err = time.Parse(time.RFC3339Nano, s)
	}
	if err != nil || !format.IsTime(t) {
		return time.Time{}, true
	}
	return t, false
}

// ErrUnknown is for field, about a key that it does not know.
var ErrUnknown = errors.New("unknown key")

// EachField calls field for the members of a JSON object that are not null, in order. unknown gets
// the keys for which field returns ErrUnknown. Any other error of field ends the call, and gets the
// key in front of it. EachField fails if object is not one valid JSON object.
func EachField(
	object []byte, unknown func(key string), field func(key string, value []byte) error,
) error {
	members, err := jsonvalue.Members(object)
	if err != nil {
		return err
	}
	for _, m := range members {
		if string(m.Value) == "null" {
			continue
		}
		switch err := field(m.Name, m.Value); {
		case errors.Is(err, ErrUnknown):
			unknown(m.Name)
		case err != nil:
			return fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	return nil
}

var errNotArray = errors.New("parts is not an array")

// String decodes a JSON string.
func String(value []byte) (string, error) {
	s, ok := jsonvalue.Text(value)
	if !ok {
		return "", errors.New("not a string")
	}
	return s, nil
}

// Array returns an array without the white space between its tokens, so that the same bytes are
// printed again.
func Array(value []byte) (json.RawMessage, error) {
	if value[0] != '[' {
		return nil, errNotArray
	}
	return jsonvalue.Compact(value), nil
}

// Bool decodes true or false.
func Bool(value []byte) (bool, error) {
	switch string(value) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, errors.New("neither true nor false")
}

// Broken counts the replacement characters of text that are not in value. They stand for invalid
// UTF-8 or for half of a surrogate pair.
func Broken(text string, value []byte) int {
	n := strings.Count(text, "\uFFFD")
	if n == 0 {
		return 0
	}
	written := bytes.Count(value, []byte("\uFFFD")) +
		bytes.Count(bytes.ToLower(value), []byte(`\ufffd`))
	return max(0, n-written)
}
