package view

import "strings"

// textPrinter prints for people: the block, then each message under a line that says who and when, a blank line between. Under a
// budget it leaves out when.
type textPrinter struct{ blockPrinter }

func newTextPrinter(brief bool) textPrinter {
	return textPrinter{blockPrinter{quote: asIs, brief: brief}}
}

func (p textPrinter) rest(r rest) string {
	texts := make([]string, len(r.tail))
	for i, m := range r.tail {
		texts[i] = messageText(m, p.brief)
	}
	between := "\n"
	if p.brief {
		between = ""
	}
	s := strings.Join(texts, between)
	if s != "" && !r.bare {
		s = "\n" + s
	}
	return s
}
