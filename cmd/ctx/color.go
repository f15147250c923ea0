package main

import (
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/when"
)

// style is what a terminal does to show a text: the parameters of the control sequence SGR
// (ECMA-48). Only the 8 colours are used that every terminal has and that its user chose.
type style string

const (
	styleID    style = "33"   // ids, as in git
	styleRole  style = "1;36" // who said it
	styleTitle style = "1"    // titles of columns, and what a person looks for first
	styleHit   style = "1;31" // what a search matched
	styleFaint style = "2"    // times and other things of the second rank
	styleGone  style = "31"   // what is missing, or went wrong
	styleNew   style = "32"   // what is added
)

// paint returns a text in a style; unchanged where output has no colours. The text is a single
// line without controls.
func (a *app) paint(s style, text string) string {
	if s == "" || text == "" || !a.colors() {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[m"
}

// colors reports whether output has colours. color.ui decides where it is always or never. Else it
// is a terminal that gets colours, unless NO_COLOR is set (no-color.org) or the terminal is dumb.
func (a *app) colors() bool {
	if a.json || a.nul {
		return false
	}
	switch a.color {
	case repo.ColorAlways:
		return true
	case repo.ColorNever:
		return false
	}
	return asked(a.outTerm) && a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb"
}

// clock returns a time for output. On a terminal a person reads it, so it is the time of the place
// where they are, to the second. Elsewhere it is RFC 3339 in UTC.
func (a *app) clock(t time.Time) string {
	if !asked(a.outTerm) || a.nul {
		return document.TimeText(t)
	}
	return a.local(t).Format("2006-01-02 15:04:05")
}

// local returns a time in the zone of the person: where their days begin.
func (a *app) local(t time.Time) time.Time {
	if a.zone == nil {
		return t.UTC()
	}
	return t.In(a.zone)
}

// ago says how long before now a time is, for a person.
func (a *app) ago(t time.Time) string { return when.Ago(t, a.local(a.now())) }

// unpainted returns a text without what paint added to it.
func unpainted(text string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if _, text, found = strings.Cut(rest, "m"); !found {
			return b.String()
		}
	}
}
