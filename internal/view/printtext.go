package view

import (
	"strings"
)

// textPrinter prints text for people: the initial block, the block of clusters, and then each
// message under a line with the role and the time, with blank lines between. Under a budget it
// omits the time, and a blank line stands before the messages of the user alone.
type textPrinter struct{ blockPrinter }

func newTextPrinter(block string, brief bool) textPrinter {
	p := textPrinter{blockPrinter{quote: asIs, brief: brief}}
	if block != "" {
		p.empty, p.before = block+"\n", block+"\n\n"
	}
	return p
}

func (p textPrinter) describesCalls() bool { return true }

func (p textPrinter) suffix(r suffix) string {
	texts := make([]string, 0, len(r.tail))
	for _, m := range r.tail {
		if !m.isBlank() {
			text := messageText(m, p.brief)
			if p.brief && m.Role == "user" && len(texts) > 0 {
				text = "\n" + text // a turn begins
			}
			texts = append(texts, text)
		}
	}
	between := "\n"
	if p.brief {
		between = ""
	}
	s := strings.Join(texts, between)
	if s != "" && (!r.bare || p.empty != "") {
		s = "\n" + s
	}
	return s
}
