package main

import (
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/gemini-ctx/ctx/sanitize"
)

// mostLines bounds the lines of one text, so that a text of many megabytes costs little.
const mostLines = 20000

// wrap returns the lines of a foreign text at a width in columns, without terminal controls. It
// breaks at spaces where it can. more reports that the text has more than most lines.
func wrap(text string, width, most int) (lines []string, more bool) {
	width = max(width, 2) // of a wide character
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		rest := line
		for {
			if len(lines) == most {
				return lines, true
			}
			var head string
			head, rest = breakLine(rest, width)
			lines = append(lines, head)
			if rest == "" {
				break
			}
		}
	}
	return lines, false
}

// breakLine takes the first line of a text without line ends. It looks at no more than it takes.
func breakLine(text string, width int) (line, rest string) {
	const expected = 64 // bytes for a column: a base character and many marks
	part, all := text, true
	if len(text) > width*expected {
		part, all = strings.ToValidUTF8(text[:width*expected], ""), false
	}
	columns, end, space := 0, 0, 0
	g := displaywidth.StringGraphemes(part)
	for g.Next() {
		w := displaywidth.String(clean(g.Value()))
		if columns+w > width {
			if space > 0 && g.Value() != " " {
				end = space
			}
			return clean(text[:end]), strings.TrimPrefix(text[end:], " ")
		}
		columns, end = columns+w, end+len(g.Value())
		if g.Value() == " " {
			space = end
		}
	}
	if all {
		return clean(text), ""
	}
	return clean(text[:end]), text[end:]
}

// clean makes a foreign text harmless to a terminal. A tab becomes four columns.
func clean(text string) string {
	return sanitize.Line(strings.ReplaceAll(text, "\t", "    "))
}

// fit cuts or fills a harmless text to exactly so many columns.
func fit(text string, width int) string {
	if displaywidth.String(text) > width {
		text = displaywidth.TruncateString(text, width, "…")
	}
	return text + strings.Repeat(" ", max(width-displaywidth.String(text), 0))
}

// short is the beginning of a foreign text as one harmless line.
func short(text string) string {
	const most = 400 // bytes: more than a line of a terminal
	text = strings.TrimSpace(text)
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	return clean(text)
}
