package forget

import (
	"bytes"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/message"
)

// minWords is how many bytes words must have to be looked for in the answer to a call: what is
// shorter is said by anybody.
const minWords = 12

// call is a call of a message that goes, and what it says.
type call struct {
	id    []byte // as JSON writes it
	words []string
}

// gone is what the messages of a session say that go.
type gone struct {
	calls []call
	words string
}

// closeAnswers selects what repeats the words of messages that go: answers to calls, and notes of a
// client that only copy words, as it does of a file that has changed. Agents write into the record
// of a result what its call said: the new text of a file, the prompt of a subagent. An entry
// answers a call if it is in the same session and names the call. Its own words may be anybody's,
// so only its source is not to come back.
//
// With Exact, nothing is selected: the answers among what is named are told apart.
func (c *selection) closeAnswers() error {
	said := map[string]*gone{}
	for ; c.looked < len(c.said); c.looked++ {
		if id := c.said[c.looked]; c.named[id] {
			if err := c.goneOf(id, said); err != nil {
				return err
			}
		}
	}
	for session, all := range said {
		for _, at := range c.sessions[session] {
			id := c.graph.ID(at)
			if c.selected[id] != c.o.Exact {
				continue
			}
			text, err := c.body(id)
			if err != nil {
				return err
			}
			_, imported := c.srcs[id]
			if !slices.ContainsFunc(all.calls,
				func(made call) bool { return made.answeredBy(text) }) &&
				!(imported && c.notes[id] && copies(text, all.words)) {
				continue
			}
			before := len(c.said)
			if c.answers[id] = true; !c.o.Exact {
				c.selectEntry(id)
			}
			for _, other := range c.said[before:] {
				c.answers[other] = true
			}
		}
	}
	return nil
}

// goneOf adds what a message says that can be known again, by its session: its own words, unless
// it goes for those of another one, and those of its calls.
func (c *selection) goneOf(id format.ID, to map[string]*gone) error {
	text, err := c.body(id)
	if err != nil || text == nil {
		return err
	}
	e, err := c.s.History.Header(id)
	if err != nil {
		return err
	}
	all := to[e.Session]
	if all == nil {
		all = &gone{}
		to[e.Session] = all
	}
	parts, err := message.Parse(text)
	if err != nil { // a text makes no calls
		parts = []message.Part{{Text: string(text)}}
	}
	if !c.answers[id] {
		all.words += message.Words(parts) + "\n"
	}
	for _, made := range message.Calls(parts) {
		if words := wordsOf(made.Args); made.ID != "" && len(words) > 0 {
			all.calls = append(all.calls, call{jsonvalue.Encode(made.ID), words})
		}
	}
	return nil
}

// copies reports whether a note that says nothing itself has a line of the words that go, with a
// number before it or not. A text without a space may be the name of anything.
func copies(note []byte, words string) (found bool) {
	if parts, err := message.Parse(note); err != nil || message.Words(parts) != "" {
		return false
	}
	jsonvalue.Texts(note, func(text string) {
		if found || !strings.ContainsAny(text, " \t\n") {
			return
		}
		for line := range strings.Lines(text) {
			line = strings.Trim(strings.TrimLeft(line, " 0123456789"), "+-:→ \t\r\n")
			found = found || isWords(line) && strings.Contains(words, line)
		}
	})
	return found
}

// wordsOf returns the texts of a call's arguments, and their lines: a diff has these apart, and a
// patch marks them.
func wordsOf(args []byte) (words []string) {
	jsonvalue.Texts(args, func(text string) {
		lines := []string{text}
		if strings.Contains(text, "\n") {
			lines = append(lines, strings.Split(text, "\n")...)
		}
		for _, line := range lines {
			if line = strings.Trim(line, "+- \t\r\n"); isWords(line) {
				words = append(words, line)
			}
		}
	})
	return words
}

// isWords reports whether a text is more than a name. A single word may be a path or the name of a
// kind, which results repeat as well; or a key.
func isWords(s string) bool {
	return len(s) >= minWords && (strings.ContainsAny(s, " \t\n") ||
		!strings.ContainsAny(s, `/\`) && strings.ContainsFunc(s, func(r rune) bool {
			return (r|0x20 < 'a' || r|0x20 > 'z') && !strings.ContainsRune("-_.", r)
		}))
}

// answeredBy reports whether a message names the call, does not make it, and repeats its words.
func (made *call) answeredBy(text []byte) bool {
	if !bytes.Contains(text, made.id) {
		return false
	}
	parts, err := message.Parse(text)
	if err != nil || slices.ContainsFunc(message.Calls(parts),
		func(own message.Call) bool { return bytes.Equal(jsonvalue.Encode(own.ID), made.id) }) {
		return false
	}
	var said strings.Builder
	jsonvalue.Texts(text, func(s string) { said.WriteString(s + "\x00") })
	return slices.ContainsFunc(made.words,
		func(words string) bool { return strings.Contains(said.String(), words) })
}
