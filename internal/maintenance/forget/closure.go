package forget

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/internal/message"
	"github.com/gemini-ctx/ctx/objects"
)

// close selects everything that was made of a selected object, until there is nothing more to
// select.
func (c *selection) close() error {
	for {
		before := len(c.selected)
		tainted := c.taintedNodes()
		for _, m := range c.made {
			if c.selected[m.id] {
				continue
			}
			c.selected[m.id] = tainted(m.node) ||
				slices.ContainsFunc(m.of, func(in format.Input) bool {
					if in.Summary {
						return c.selected[in.ID]
					}
					return tainted(in.ID)
				})
			if !c.selected[m.id] {
				delete(c.selected, m.id)
			}
		}
		steps := []func() error{c.closeEdits, c.closeAnswers, c.closeNotes, c.closeEpochs}
		if c.o.Exact {
			steps = steps[:2] // outputs and epochs of the other store are among those that it names
		}
		for _, step := range steps {
			if err := step(); err != nil {
				return err
			}
		}
		if len(c.selected) == before {
			return nil
		}
	}
}

// taintedNodes returns a function that reports whether an entry under a node is selected. A node
// is examined once a round.
func (c *selection) taintedNodes() func(format.ID) bool {
	g := c.graph
	known := make([]int8, g.Len()) // 1 goes, -1 does not
	var look func(i uint32) bool
	look = func(i uint32) bool {
		if known[i] != 0 {
			return known[i] == 1
		}
		known[i] = -1
		is := c.selected[g.ID(i)]
		if g.Kind(i) == format.NodeKind {
			is = slices.ContainsFunc(g.Below(i), func(e graph.Edge) bool { return look(e.To()) })
		}
		if is {
			known[i] = 1
		}
		return is
	}
	return func(id format.ID) bool {
		i, ok := g.Find(id)
		return ok && look(i)
	}
}

// body reads a stored body without its nonce. It returns nil where the body is gone or cannot be
// read.
func (c *selection) body(id format.ID) ([]byte, error) {
	raw, err := c.s.Objects.Get(id)
	var corrupt *objects.CorruptError
	switch {
	case objects.IsGone(err), errors.Is(err, objects.ErrNotFound):
		return nil, nil
	case errors.As(err, &corrupt):
		c.unread(corrupt.Path)
		return nil, nil
	case err != nil:
		return nil, err
	}
	return raw.Text(), nil
}

// closeEdits selects the masks and replacements of selected entries.
func (c *selection) closeEdits() error {
	var rest []format.ID
	for _, id := range c.edits {
		if c.selected[id] {
			continue
		}
		text, err := c.body(id)
		if err != nil {
			return err
		}
		if text == nil {
			continue
		}
		if format.EditsAny(text, c.selected) {
			c.selected[id] = true
		} else {
			rest = append(rest, id)
		}
	}
	c.edits = rest
	return nil
}

// closeNotes selects the notes whose short forms are selected messages, and the messages that are
// short forms of selected notes.
func (c *selection) closeNotes() error {
	if len(c.notes) == 0 {
		return nil
	}
	wanted := map[format.ID]bool{}
	for id := range c.selected {
		if c.notes[id] {
			wanted[id] = true
			continue
		}
		if i, ok := c.graph.Find(id); !ok || c.graph.Kind(i) != format.EntryKind {
			continue
		}
		text, err := c.body(id)
		if err != nil {
			return err
		}
		for _, note := range notesIn(text) {
			if c.notes[note] {
				wanted[note], c.outputs[note] = true, true
				c.said = append(c.said, note)
			}
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	for id := range wanted {
		c.selected[id] = true
	}
	for i := range uint32(c.graph.Len()) {
		id := c.graph.ID(i)
		if c.graph.Kind(i) != format.EntryKind || c.selected[id] {
			continue
		}
		text, err := c.body(id)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(notesIn(text), func(note format.ID) bool { return wanted[note] }) {
			c.selectEntry(id)
		}
	}
	return nil
}

// notesIn returns the notes that shortened outputs in a text name.
func notesIn(text []byte) (ids []format.ID) {
	for {
		_, rest, found := bytes.Cut(text, []byte("`ctx expand "))
		if !found {
			return ids
		}
		digits := rest[:min(len(rest), format.IDLen)]
		id, err := format.ParseID(string(digits))
		if err == nil && bytes.HasPrefix(rest[len(digits):], []byte("` shows all of it")) {
			ids = append(ids, id)
		}
		text = rest
	}
}

// closeEpochs selects what belongs to a selected observed value: the texts that state it, the
// value of a text, and the updates that reported it.
func (c *selection) closeEpochs() error {
	for again := true; again; {
		again = false
		choose := func(line ...format.ID) {
			if !slices.ContainsFunc(line, func(id format.ID) bool { return c.selected[id] }) {
				return
			}
			for _, id := range line {
				if !id.IsZero() && !c.selected[id] {
					c.selected[id], again = true, true
				}
			}
		}
		for _, e := range c.epochs {
			for _, t := range e.Initial {
				choose(t.Value, t.Text)
			}
			for _, b := range e.Current {
				choose(b.Value, b.First, b.Gone)
			}
		}
	}
	var told [][]byte
	for id := range c.selected {
		if i, ok := c.graph.Find(id); ok && c.graph.Kind(i) == format.BlobKind {
			text, err := c.body(id)
			if err != nil {
				return err
			}
			if text = bytes.Trim(text, `"`); len(text) >= minToldBytes {
				told = append(told, text)
			}
		}
	}
	for _, e := range c.epochs {
		if e.Body == nil || c.selected[e.id] {
			continue
		}
		named := slices.ContainsFunc(e.Links(),
			func(l format.Link) bool { return c.selected[l.ID] })
		if !named && len(told) > 0 {
			text, err := c.body(e.id)
			if err != nil {
				return err
			}
			// An update may say what a value was before.
			named = slices.ContainsFunc(told,
				func(t []byte) bool { return bytes.Contains(text, t) })
		}
		if named {
			c.selected[e.id] = true
		}
	}
	return nil
}

// minToldBytes is the length of the shortest value that is looked for in updates: shorter ones
// occur everywhere.
const minToldBytes = 4

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
