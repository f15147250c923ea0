package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/message"
	"github.com/gemini-ctx/ctx/session"
)

// printEntry prints an entry as log and expand do: JSON, or an item of a heading and the text, indented, for people.
func (a *app) printEntry(shown *session.Shown) error {
	if a.json {
		return a.printJSON(docOf(shown))
	}
	a.line("%s\n%s", heading(shown), entryBody(shown))
	return a.out.err
}

// entryBody is the text of an entry, indented, with the end of each line; "" for a step that its heading says all of. Of an entry that
// has a body without a visible character it says what is there instead.
func entryBody(shown *session.Shown) string {
	text := strings.TrimRight(shown.Text, "\n")
	switch {
	case shown.Gone != "":
		text = "[gone: " + shown.Gone + "]"
	case strings.TrimSpace(text) != "":
	case shown.Entry.Body == nil && shown.Text == "":
		return ""
	default:
		text = "[" + wordless(shown.Parts) + "]"
	}
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString(strings.TrimRight("    "+line, " ") + "\n")
	}
	return b.String()
}

// wordless says what a body holds that has no words for people.
func wordless(parts []byte) string {
	list, err := message.Parse(parts)
	if err != nil {
		return "no text"
	}
	var held []string
	for _, p := range list {
		switch {
		case p.Thought:
			held = append(held, "thought")
		case p.Media != nil && p.Media.MimeType != "":
			held = append(held, oneLine(p.Media.MimeType))
		}
	}
	if held = slices.Compact(held); len(held) > 0 {
		return strings.Join(held, ", ")
	}
	return "no text"
}

// heading is what an entry is, in one line.
func heading(shown *session.Shown) string {
	e := shown.Entry
	said := []string{shown.ID.Short(shortLen), fmt.Sprintf("#%d", e.Seq)}
	if e.Kind != "message" {
		said = append(said, e.Kind)
	}
	if e.Role != "" {
		said = append(said, e.Role)
	}
	if e.Author != "" {
		said = append(said, oneLine(e.Author))
	}
	said = append(said, timeText(e.Time))
	if shown.Version != shown.ID {
		said = append(said, "amended by "+shown.Version.Short(shortLen))
	}
	if !e.Left.IsZero() {
		said = append(said, "left "+e.Left.Short(shortLen))
	}
	return strings.Join(said, " ")
}
