package browse

import (
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"github.com/clipperhouse/uax29/v2/words"

	"github.com/gemini-ctx/ctx/sanitize"
)

// mostLines bounds the lines of one item, so that a text of many megabytes costs little.
const mostLines = 20000

// row is a line of a text before it is wrapped. The text is foreign: it may have anything in it but
// line ends.
type row struct {
	style style
	text  string
	lead  string // harmless; stands before the text, in bold
	hang  int    // columns before the second line and those after it, besides the row's own indent
	cut   bool   // the row is cut to one line
}

// rowsOf returns the lines of a text in one style.
func rowsOf(s style, text string) []row {
	var rows []row
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		rows = append(rows, row{style: s, text: line})
		if len(rows) > mostLines {
			break
		}
	}
	return rows
}

// wrap returns the lines of rows at a width in columns, without terminal controls. more reports
// that there are more than most lines.
func wrap(rows []row, width, most int) (lines []line, more bool) {
	const wide = 2 // columns of a wide character
	width = max(width, wide)
	for _, r := range rows {
		if len(lines) == most {
			return lines, true
		}
		text, isPart := bounded(r.text, (most-len(lines)+1)*width)
		text = clean(text)
		if r.cut {
			lines = append(lines, line{{r.style, cut(text, width)}})
			continue
		}
		indent := len(text) - len(strings.TrimLeft(text, " "))
		if indent += r.hang; indent > min(width/2, width-wide) {
			indent = 0
		}
		first, rest := breakLine(r.lead+text, width)
		if n := min(len(r.lead), len(first)); n > 0 {
			lines = append(lines, line{{bold, first[:n]}, {r.style, first[n:]}})
		} else {
			lines = append(lines, line{{r.style, first}})
		}
		for rest != "" {
			if len(lines) == most {
				return lines, true
			}
			first, rest = breakLine(rest, width-indent)
			lines = append(lines, line{{r.style, strings.Repeat(" ", indent) + first}})
		}
		if isPart {
			return lines, true
		}
	}
	return lines, false
}

// bounded returns what of a text can be on so many columns at most, and whether that is less than
// the text.
func bounded(text string, columns int) (string, bool) {
	const expected = 64 // bytes for a column: a base character and many marks
	if len(text) <= columns*expected {
		return text, false
	}
	return strings.ToValidUTF8(text[:columns*expected], ""), true
}

// breakLine takes the first line of a harmless text. It breaks after a space or between wide
// characters. Only a word that is longer than a line is broken, between its parts if it has any.
func breakLine(text string, width int) (line, rest string) {
	columns, end, last := 0, 0, 0 // last is where the line can end
	before := ""
	g := displaywidth.StringGraphemes(text)
	for g.Next() {
		c := g.Value()
		if before != "" && (before == " " || mayPart(before, c)) {
			last = end
		}
		if w := g.Width(); columns+w > width {
			switch {
			case c == " ":
				last = end
			case last == 0 || !fits(text[last:], width):
				last = max(last, partEnd(text, last, end))
			}
			if last == 0 {
				last = max(end, len(c)) // one character that is wider than the line
			}
			if last < end && strings.TrimSpace(text[:last]) == "" {
				last = partEnd(text, last, end) // an indent alone is no line
			}
			return strings.TrimRight(text[:last], " "), strings.TrimLeft(text[last:], " ")
		} else {
			columns += w
		}
		end += len(c)
		before = c
	}
	return text, ""
}

// mayPart reports whether a line can end between two characters without a space.
func mayPart(a, b string) bool {
	const neverFirst = "、。，．・：；！？）」』】〉》〕］｝ー々ゝゞぁぃぅぇぉっゃゅょァィゥェォッャュョ%,.!?:;)]}…"
	const neverLast = "（「『【〈《〔［｛([{"
	if displaywidth.String(a) < 2 && displaywidth.String(b) < 2 {
		return false
	}
	return !strings.Contains(neverFirst, b) && !strings.Contains(neverLast, a)
}

// fits reports whether the word at the beginning of a text has room on a line.
func fits(text string, width int) bool {
	columns, before := 0, ""
	g := displaywidth.StringGraphemes(text)
	for g.Next() {
		c := g.Value()
		if c == " " || before != "" && mayPart(before, c) {
			return true
		}
		if columns += g.Width(); columns > width {
			return false
		}
		before = c
	}
	return true
}

// partEnd returns the last place from after on where a long word can be broken, at end or before:
// between two words of UAX 29, as in a path. It is end if the word has no parts.
func partEnd(text string, after, end int) int {
	best := end
	limit := min(len(text), end+utf8.UTFMax)
	for limit < len(text) && !utf8.RuneStart(text[limit]) {
		limit++
	}
	it := words.FromString(text[after:limit])
	for it.Next() {
		if at := after + it.Start(); at > after && at <= end {
			best = at
		}
	}
	return best
}

// clean makes a foreign text harmless to a terminal. A tab becomes four columns.
func clean(text string) string {
	return sanitize.Line(strings.ReplaceAll(text, "\t", "    "))
}

// cleanText is clean for a text of several lines, which keeps tabs.
func cleanText(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		cells := strings.Split(line, "\t")
		for j, cell := range cells {
			cells[j] = sanitize.Line(cell)
		}
		lines[i] = strings.Join(cells, "\t")
	}
	return strings.Join(lines, "\n")
}

func columns(text string) int { return displaywidth.String(text) }

// cut shortens a harmless text to so many columns.
func cut(text string, width int) string {
	if displaywidth.String(text) > width {
		text = displaywidth.TruncateString(text, width, "…")
	}
	return text
}

// fit cuts or fills a harmless text to exactly so many columns.
func fit(text string, width int) string {
	text = cut(text, width)
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
