package view

import (
	"fmt"

	"github.com/gemini-ctx/ctx/format"
)

// ReplacedPart is a part of a message that a worker's text stands for.
type ReplacedPart struct {
	Part int
	By   format.ID // the replace entry
}

// ReplacementLead is the line before a text that stands for n of what, which the exact words can be had by.
func ReplacementLead(n int, what string, by format.ID) string {
	return fmt.Sprintf("[%s in other words; `ctx expand %s` gives the exact ones]\n", count(n, what), by.Short(shortID))
}

// isReplacement reports whether a message is a worker's text in the place of others.
func (m Message) isReplacement() bool { return len(m.StandsFor) > 0 }

type replacedDocument struct {
	Part int    `json:"part"`
	By   string `json:"by"`
}

// edits adds to a message's document how it is shown otherwise than it was said.
func (d *messageDocument) edits(m Message) {
	d.Masked = m.Masked
	for _, r := range m.Replaced {
		d.Replaced = append(d.Replaced, replacedDocument{r.Part, r.By.String()})
	}
	if !m.isReplacement() {
		return
	}
	d.Kind = "replacement"
	for _, t := range m.StandsFor {
		d.StandsFor = append(d.StandsFor, t.String())
	}
}

// Ties says which messages cannot be without each other, since one calls what another answers: equal numbers are one group. Of each message it
// also says whether it makes a call that nothing answers yet.
func Ties(messages []Message) (groups []int, open []bool) {
	all := readAll(messages)
	answered := map[string]bool{}
	for _, m := range all {
		for _, it := range m.items {
			if it.kind == resultItem {
				answered[it.key] = true
			}
		}
	}
	groups, open = make([]int, len(all)), make([]bool, len(all))
	for i, m := range all {
		groups[i] = m.start
		for _, it := range m.items {
			open[i] = open[i] || it.kind == callItem && m.Role != "system" && !answered[it.key]
		}
	}
	return groups, open
}
