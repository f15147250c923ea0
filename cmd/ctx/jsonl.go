package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/document"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/session"
)

// jsonlLine is a line of `append --jsonl` as it was read: a message, or why there is none.
type jsonlLine struct {
	number  int // from 1
	size    int // bytes, for the bounds of a batch
	message session.Message
	skip    error // why the line cannot be an entry; nil where it can
	partial bool  // it is a piece of a message that comes as a whole later: nothing of it is looked at or kept
	badTime bool  // it has a time that cannot be read
	broken  int   // pieces of it that were not Unicode, replaced by U+FFFD
}

// jsonlReader turns lines into messages and remembers what it passed over.
type jsonlReader struct {
	session string         // that of the sources
	unknown map[string]int // keys that mean nothing here: in how many lines
}

var (
	errNotObject = errors.New("not a JSON object")
	errNoRole    = errors.New("no role")
	errNoText    = errors.New("neither text nor parts")
	errBoth      = errors.New("both text and parts")
	errNotArray  = errors.New("parts is not an array")
)

// read decodes a line. What is wrong with it is in the line's skip: nothing that somebody sends stops the lines after it.
func (r *jsonlReader) read(number int, line []byte) jsonlLine {
	out := jsonlLine{number: number, size: len(line)}
	out.skip = r.decode(line, &out)
	if out.skip == nil && !out.partial {
		out.skip = checkLine(&out.message)
	}
	return out
}

func (r *jsonlReader) decode(line []byte, out *jsonlLine) error {
	m := &out.message
	hasText := false
	err := eachMember(line, func(key, value []byte) error {
		if string(value) == "null" {
			return nil
		}
		var err error
		switch string(key) {
		case "role":
			m.Role, err = readString(value)
		case "author":
			m.Author, err = readString(value)
		case "invocation":
			m.Invocation, err = readString(value)
		case "source":
			err = r.source(value, m)
		case "time":
			m.Time, out.badTime = readTime(value)
		case "text":
			hasText = true
			m.Text, err = readString(value)
			out.broken += brokenIn(m.Text, value)
		case "parts":
			m.Parts, err = readParts(value)
		case "partial":
			out.partial, err = readBool(value)
		default:
			r.unknown[string(key)]++
		}
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case out.partial:
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

func (r *jsonlReader) source(value []byte, m *session.Message) error {
	s, err := readString(value)
	if err != nil || s == "" {
		return err
	}
	m.Source = jsonlSource(r.session, s)
	return nil
}

// jsonlSource is what a message's own name for itself is in a session.
func jsonlSource(name, message string) *session.Source {
	return &session.Source{Agent: jsonlAgent, Session: name, Message: message}
}

const jsonlAgent = document.JSONLAgent

// checkLine refuses what the store would refuse, so that one line does not take its batch with it.
func checkLine(m *session.Message) error {
	switch {
	case !format.IsRole(m.Role):
		return fmt.Errorf("unknown role %.40q", m.Role)
	case len(m.Text) > session.MaxMessage || len(m.Parts) > session.MaxMessage:
		return fmt.Errorf("message of %d bytes: %d is the most", max(len(m.Text), len(m.Parts)), session.MaxMessage)
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

// isPlainName knows most names at a glance: short enough however they are encoded, and valid.
func isPlainName(s string) bool { return len(s) <= format.MaxName/3 && utf8.ValidString(s) }

// readString reads a JSON string, without a decoder where it has no escapes and is UTF-8.
func readString(value []byte) (string, error) {
	if value[0] != '"' {
		return "", errors.New("not a string")
	}
	if inner := value[1 : len(value)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner), nil
	}
	var s string
	err := json.Unmarshal(value, &s)
	return s, err
}

// readParts takes an array of parts without the white space between its tokens: what is printed again is then the same, byte for byte.
func readParts(value []byte) (json.RawMessage, error) {
	if value[0] != '[' {
		return nil, errNotArray
	}
	var b bytes.Buffer
	err := json.Compact(&b, value)
	return b.Bytes(), err
}

// readTime reads an RFC 3339 time; bad says that it cannot be read or stored.
func readTime(value []byte) (t time.Time, bad bool) {
	s, err := readString(value)
	if err == nil {
		t, err = time.Parse(time.RFC3339Nano, s)
	}
	if err != nil || !session.IsTime(t) {
		return time.Time{}, true
	}
	return t, false
}

// brokenIn counts the replacement characters in text that nobody wrote: they stand for bytes that are not UTF-8, or for half a surrogate pair.
func brokenIn(text string, value []byte) int {
	n := strings.Count(text, "\uFFFD")
	if n == 0 {
		return 0
	}
	written := bytes.Count(value, []byte("\uFFFD")) + bytes.Count(bytes.ToLower(value), []byte(`\ufffd`))
	return max(0, n-written)
}
