package digest

import (
	"strings"

	"github.com/gemini-ctx/ctx/internal/prose"
)

// recapLeads begin the summaries that clients write when they compact a conversation: Claude Code,
// Codex, Gemini CLI.
var recapLeads = [...]string{
	"This session is being continued from a previous conversation",
	"Another language model started to solve this problem",
	"<state_snapshot>",
}

// IsRecap reports whether a text is a summary that a client wrote in place of older history.
func IsRecap(text string) bool {
	return prose.HasLead(text, recapLeads[:])
}

// recapFrames begin the sentences that clients put around such a summary. They tell a model how to
// read the summary, and nothing about the work.
var recapFrames = [...]string{
	"The conversation is summarized below",
	"The summary below covers",
	"If you need specific details from before compaction",
	"Please continue the conversation from where we left",
	"Continue the conversation from where it left off",
	"Resume directly",
	"Here is the summary produced by the other language model",
}

// isFrame reports whether a line of a recap tells nothing about the work: the client's own
// sentence, or a heading without a name.
func isFrame(line string) bool {
	return prose.HasLead(line, recapFrames[:]) ||
		IsRecap(line) || strings.HasSuffix(line, ":") && !prose.HasName(prose.WithoutMark(line))
}

// recap adds the sentences of a summary that a client wrote.
func (d *Digester) recap(text string) {
	text = withoutDraft(text)
	now := len(text)
	for _, head := range recapNow {
		if i := strings.Index(text, head); i >= 0 {
			now = min(now, strings.LastIndexByte(text[:i], '\n')+1)
		}
	}
	d.sentences(Recap, text[:now])
	first := len(d.Made)
	d.sentences(Recap, text[now:])
	for i := first; i < len(d.Made); i++ {
		d.Made[i].Key = Current
	}
}

// Current is the key of what a summary says of the work at hand: what is to do, and what comes
// next. Once the work has gone on, it misleads.
const Current = "current"

// recapNow head the last parts of a summary, in the order of the form of Claude Code.
var recapNow = [...]string{". Pending Tasks:", ". Current Work:", ". Optional Next Step:"}

// recapPrompts heads, behind its number, the part of a summary that lists what the user said.
const recapPrompts = ". All user messages:"

// withoutDraft returns a summary of Claude Code without the draft that its model writes first,
// which the summary says again in order, and without what the user said, which the store has word
// for word.
func withoutDraft(text string) string {
	if head, rest, ok := strings.Cut(text, "\nAnalysis:\n"); ok {
		if _, summary, ok := strings.Cut(rest, "\nSummary:\n"); ok {
			text = head + "\n" + summary
		}
	}
	var kept strings.Builder
	listed := false
	for line := range strings.Lines(text) {
		if rest := strings.TrimLeft(line, "0123456789"); strings.HasPrefix(rest, ". ") {
			listed = rest != line && strings.TrimSpace(rest) == recapPrompts
		}
		if !listed {
			kept.WriteString(line)
		}
	}
	return kept.String()
}
