package transcripttest

import (
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// AllWords returns the words of a message with those that no model is shown, as transcript.Words
// does those that one is: texts, thoughts, arguments of calls and results, in order.
func AllWords(m *transcript.Message) string {
	var all []string
	for _, p := range transcript.PartsOf(m) {
		text := p.Text
		switch p.Kind {
		case transcript.PartCall:
			text = string(p.Args)
		case transcript.PartResult:
			text, _ = p.Said()
		}
		all = append(all, text)
	}
	return strings.Join(all, "\n")
}
