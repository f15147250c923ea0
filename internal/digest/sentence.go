package digest

import (
	"strings"

	"github.com/gemini-ctx/ctx/forest/terms"
)

// content counts what a line has to say.
type content struct {
	words   int // words of a language, without those that every text has
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

// leastWords is how many telling words a line has at least that names nothing; below it, it is a
// heading unless it ends as a sentence does. Measured on agents' sessions: one word more, or the same
// for whole sentences, takes away what is said next.
const leastWords = 3

// mostInHeads is how many telling words the heads of a table have at most.
const mostInHeads = 6

// isSlight reports whether a line says nothing by itself: it is a heading, names what follows it, or
// heads the columns of a table. A line with the name of anything, or with a number, is none of these.
func isSlight(line string) bool {
	line = withoutMark(line)
	c := contentOf(line)
	if line == "" || c.names+c.numbers > 0 {
		return line == ""
	}
	if strings.Contains(line, " | ") {
		return c.words <= mostInHeads
	}
	return c.words < leastWords && !strings.ContainsAny(line[len(line)-1:], ".!?")
}

// withoutMark cuts the number of a list off the front of a line.
func withoutMark(line string) string {
	rest := strings.TrimLeft(line, "0123456789")
	if len(rest) < len(line) && (strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") ")) {
		return rest[2:]
	}
	return line
}

// leastWrapped is how many bytes a line has at least that was wrapped: what is shorter ends where its
// author ended it.
const leastWrapped = 40

// unwrapped joins lines that an editor wrapped: one that ends inside a sentence with a next one that
// begins with a small letter. Lines inside fences stay.
func unwrapped(text string) string {
	if !strings.Contains(text, "\n") {
		return text
	}
	var b strings.Builder
	before, fenced := "", false
	for line := range strings.SplitSeq(text, "\n") {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
			fenced = !fenced
		}
		goesOn := len(before) >= leastWrapped && trimmed != "" && trimmed[0] >= 'a' && trimmed[0] <= 'z' &&
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
