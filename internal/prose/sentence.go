package prose

import (
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"

	"github.com/gemini-ctx/ctx/internal/terms"
)

// content counts the telling words of a line.
type content struct {
	words   int // words of a language, without stop words
	names   int // identifiers, paths, addresses and flags
	numbers int
}

func contentOf(line string) content {
	var c content
	terms.Scan(line, func(t terms.Token) {
		switch t.Kind {
		case terms.Word:
			c.words++
		case terms.Name:
			c.names++
		case terms.Number:
			c.numbers++
		}
	})
	return c
}

// Tells reports whether a text has a telling word, an identifier, a path, an address, a flag or a
// number: "the" names nothing.
func Tells(text string) bool { return contentOf(text) != content{} }

// HasName reports whether a line has an identifier, a path, an address or a flag.
func HasName(line string) bool { return contentOf(line).names > 0 }

// minWords is the smallest number of telling words of a line without names; a line with fewer is
// a heading, unless it ends like a sentence. Measured on agents' sessions: one word more, or the
// same limit for whole sentences, removes words that come up next.
const minWords = 3

// maxInHeads is the largest number of telling words in the column heads of a table.
const maxInHeads = 6

// IsSlight reports whether a line tells nothing by itself: it is a heading, announces what follows,
// or has the column heads of a table. A line with a name or a number is never slight.
func IsSlight(line string) bool {
	line = WithoutMark(line)
	c := contentOf(line)
	if line == "" || c.names+c.numbers > 0 {
		return line == ""
	}
	if strings.Contains(line, " | ") {
		return c.words <= maxInHeads
	}
	return c.words < minWords && !strings.ContainsAny(line[len(line)-1:], ".!?")
}

// WithoutMark removes the number of a list item at the start of a line.
func WithoutMark(line string) string {
	rest := strings.TrimLeft(line, "0123456789")
	if len(rest) < len(line) && (strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") ")) {
		return rest[2:]
	}
	return line
}

// minWrapped is the length in bytes of the shortest line that may be wrapped. A shorter line ends
// where its author ended it.
const minWrapped = 40

// Unwrapped joins lines that an editor wrapped: a line that ends inside a sentence, with a next
// line that begins with a lower-case letter. It keeps lines inside fences.
func Unwrapped(text string) string {
	if !strings.Contains(text, "\n") {
		return text
	}
	var b strings.Builder
	before, fenced := "", false
	for line := range strings.SplitSeq(text, "\n") {
		trimmed := strings.TrimSpace(line)
		if summarize.IsFence(trimmed) {
			fenced = !fenced
		}
		goesOn := len(before) >= minWrapped && trimmed != "" && trimmed[0] >= 'a' &&
			trimmed[0] <= 'z' &&
			!strings.ContainsAny(before[len(before)-1:], ".:!?;|`>")
		if goesOn && !fenced {
			b.WriteString(" " + trimmed)
		} else {
			b.WriteString("\n" + line)
		}
		before = trimmed
	}
	return b.String()[1:]
}
