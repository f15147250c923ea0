package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/message"
)

// printEntry prints an entry as log and expand do: a JSON document, or a heading and the indented
// text.
func (a *app) printEntry(t *find.Telling, shown *history.Shown) error {
	if a.json {
		return a.answer(document.EntryOf(shown))
	}
	a.line("%s\n%s", a.heading(shown), a.body(t, shown))
	return a.out.err
}

// entryBody returns the indented text of an entry, with line ends. The text is empty if the heading
// says everything. For a body without a visible character, the text says what the body has.
func entryBody(t *find.Telling, shown *history.Shown) string {
	text := strings.TrimRight(t.Text(shown), "\r\n")
	switch {
	case shown.Gone != "":
		text = "[gone: " + shown.Gone + "]"
	case strings.TrimSpace(text) != "":
		for _, m := range mediaOf(shown) {
			text += "\n" + oneLine(m.Label())
		}
	case shown.Entry.Body == nil && shown.Text == "":
		return ""
	default:
		parts, _ := message.Parse(shown.Parts) // none in a body of another form
		text = "[" + oneLine(message.Wordless(parts, shown.Entry.Kind == format.KindNote)) + "]"
	}
	return indented(text)
}

// mediaOf returns the pictures and files that a message has beside its words.
func mediaOf(shown *history.Shown) []*message.Media {
	if !bytes.Contains(shown.Parts, []byte(`"inlineData"`)) &&
		!bytes.Contains(shown.Parts, []byte(`"fileData"`)) {
		return nil // most messages, and parsing takes time
	}
	parts, _ := message.Parse(shown.Parts) // none in a body of another form
	var media []*message.Media
	for i := range parts {
		if m := parts[i].Media; m != nil && !parts[i].Thought {
			media = append(media, m)
		}
	}
	return media
}

// body is entryBody for a.out: what is gone has its own colour.
func (a *app) body(t *find.Telling, shown *history.Shown) string {
	if shown.Gone != "" {
		return a.paint(styleGone, strings.TrimRight(entryBody(t, shown), "\n")) + "\n"
	}
	return a.fitted(entryBody(t, shown))
}

// fitted breaks the lines of a text that a terminal has no room for, and indents what follows like
// the line. For a pipe the text stays as it is.
func (a *app) fitted(text string) string {
	if !asked(a.outTerm) || a.nul {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		indent := line[:min(len(line)-len(strings.TrimLeft(line, " ")), narrowest/2)]
		for displaywidth.String(line) > a.lineWidth() {
			first, rest := broken(line, a.lineWidth())
			b.WriteString(first + "\n")
			line = indent + rest
		}
		b.WriteString(line)
	}
	return b.String()
}

// heading describes an entry in one line.
func (a *app) heading(shown *history.Shown) string {
	e := shown.Entry
	said := []string{a.paint(styleID, shown.ID.Short(shortLen)), fmt.Sprintf("#%d", e.Seq)}
	if n, ok := message.NoteOf(shown.Parts); ok && e.Kind == format.KindNote {
		said = append(said, "note ("+n.Kind+")")
	} else if e.Kind != "message" {
		said = append(said, e.Kind)
	}
	if e.Role != "" {
		said = append(said, a.paint(styleRole, e.Role))
	}
	if e.Author != "" {
		said = append(said, oneLine(e.Author))
	}
	said = append(said, a.paint(styleFaint, a.clock(e.Time)))
	if shown.Version != shown.ID {
		said = append(said, "amended by "+shown.Version.Short(shortLen))
	}
	if !e.Left.IsZero() {
		said = append(said, "left "+e.Left.Short(shortLen))
	}
	return strings.Join(said, " ")
}
