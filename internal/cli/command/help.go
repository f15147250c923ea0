// Package command holds what the programs of ctx share: help texts, checks of arguments, and the
// report of an error, with its exit code, kind and hint (failure.go).
package command

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// ExitCode is an exit code and its meaning, in words for people.
type ExitCode struct {
	Code int
	Text string
}

// ExitCodes lists every exit code, lowest first.
func ExitCodes() []ExitCode {
	return []ExitCode{
		{Done, "done"},
		{Failed, "failed, or the answer is no"},
		{Usage, "usage: a flag, an argument, a setting or an input that cannot be taken"},
		{NoStore, "no store here, or none that this build may use"},
		{Locked, "locked: another process is writing"},
		{Stale, "stale, or refused by history"},
		{Corrupt, "corrupt"},
		{Gone, "gone: forgotten, or only a removed session had it"},
		{NotFound, "not found, or ambiguous"},
		{Blocked, "blocked: something has to happen first"},
		{Interrupted, "interrupted"},
	}
}

// Long returns the help text of a command: its description, wrapped, and its exit codes. The codes
// 0, 1, 2 and 130 are always listed; codes names the others.
func Long(text string, codes ...int) string {
	var b strings.Builder
	text = strings.TrimSpace(text)
	b.Grow(len(text) + 1024) // most texts, with their exit codes
	wrap(&b, text)
	b.WriteString("\n\nExit codes:\n")
	for _, m := range ExitCodes() {
		show := m.Code < NoStore || m.Code == Interrupted
		for _, code := range codes {
			show = show || code == m.Code
		}
		if show {
			code := strconv.Itoa(m.Code)
			b.WriteString("  " + code + "     "[len(code):] + m.Text + "\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// helpWidth is the longest line of a help text, in runes: half of a wide terminal.
const helpWidth = 96

// wrap writes a text. It breaks paragraphs into lines of at most helpWidth runes. A paragraph with
// an indented line keeps its line breaks.
func wrap(b *strings.Builder, text string) {
	for i, p := range strings.Split(text, "\n\n") {
		if i > 0 {
			b.WriteString("\n\n")
		}
		if strings.HasPrefix(p, " ") || strings.Contains(p, "\n ") {
			b.WriteString(p)
			continue
		}
		column := 0
		for word := range strings.FieldsSeq(p) {
			n := utf8.RuneCountInString(word)
			switch {
			case column == 0:
			case column+1+n > helpWidth:
				b.WriteByte('\n')
				column = 0
			default:
				b.WriteByte(' ')
				column++
			}
			b.WriteString(word)
			column += n
		}
	}
}
