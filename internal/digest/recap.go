package digest

import "strings"

// recapLeads begin the summaries that clients write when they compact a conversation: Claude Code,
// Codex, Gemini CLI.
var recapLeads = [...]string{
	"This session is being continued from a previous conversation",
	"Another language model started to solve this problem",
	"<state_snapshot>",
}

// IsRecap reports whether a text is a summary that a client wrote to stand for older history.
func IsRecap(text string) bool {
	for _, lead := range recapLeads {
		if strings.HasPrefix(text, lead) {
			return true
		}
	}
	return false
}
