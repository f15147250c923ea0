package view

import "strings"

// textPrinter prints for people: what the model was told first, the block of clusters, then each message under a line that says who and when, a blank line between. Under a
// budget it leaves out when.
type textPrinter struct{ blockPrinter }

func newTextPrinter(block string, brief bool) textPrinter {
	p := textPrinter{blockPrinter{quote: asIs, brief: brief}}
	if block != "" {
		p.empty, p.before = block+"\n", block+"\n\n"
	}
	return p
}

func (p textPrinter) acts() bool { return true }

func (p textPrinter) rest(r rest) string {
	texts := make([]string, 0, len(r.tail))
	for _, m := range r.tail {
		if !m.isBlank() {
			texts = append(texts, messageText(m, p.brief))
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

// isBlank reports whether a message of a model has nothing that is shown: it was a thought.
func (m said) isBlank() bool {
	return m.Role == "model" && !m.Gone && strings.TrimSpace(readableAll(m.items)) == ""
}
