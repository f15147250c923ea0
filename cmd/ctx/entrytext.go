package main

import (
	"fmt"
	"strings"

	"github.com/gemini-ctx/ctx/session"
)

// printEntry prints an entry as log and expand do: JSON, or a heading and the text, indented, for people.
func (a *app) printEntry(shown *session.Shown) error {
	if a.json {
		return a.printJSON(docOf(shown))
	}
	a.line("%s", heading(shown))
	switch {
	case shown.Gone != "":
		a.line("    [gone: %s]", shown.Gone)
	case shown.Entry.Body != nil || shown.Text != "":
		for text := range strings.Lines(strings.TrimRight(shown.Text, "\n") + "\n") {
			a.printf("%s", strings.TrimRight("    "+text, " \n")+"\n")
		}
	}
	a.line("")
	return a.out.err
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
