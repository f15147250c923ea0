package view

import "strings"

// textPrinter prints for people: the block, then each message under a line that says who and when, a blank line between.
type textPrinter struct{ blockPrinter }

func newTextPrinter() textPrinter { return textPrinter{blockPrinter{quote: asIs}} }

func (textPrinter) rest(r rest) string {
	texts := make([]string, len(r.tail))
	for i, m := range r.tail {
		texts[i] = messageText(m)
	}
	s := strings.Join(texts, "\n")
	if s != "" && !r.bare {
		s = "\n" + s
	}
	return s
}
