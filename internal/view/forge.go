package view

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/internal/prose"
)

// unforged returns the words of a message as they are printed between lines that the printer
// writes itself. A line of the words that looks like one of those, such as the header of another
// message, gets a space in front: whoever reads the text can tell who said it by the first column.
func unforged(text string) string {
	if !strings.ContainsAny(text, "[<") {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		if looksPrinted(strings.TrimLeftFunc(text, unseen)) {
			b.WriteByte(' ')
		}
		end := strings.IndexAny(text, lineEnds)
		if end < 0 {
			break
		}
		_, size := utf8.DecodeRuneInString(text[end:])
		b.WriteString(text[:end+size])
		text = text[end+size:]
	}
	b.WriteString(text)
	return b.String()
}

// unforgedItem returns what an item says, below the header of its message. A call or result begins
// with a mark of its own, which no words of another item may.
func unforgedItem(it item) string {
	text := unforged(readable(it))
	if it.kind != textItem {
		text = strings.TrimPrefix(text, " ")
	}
	return text
}

// unseen reports whether a character takes no column: what follows it seems to begin the line.
func unseen(r rune) bool { return unicode.In(r, unicode.Cf, unicode.Mn) }

// lineEnds are the characters after which a reader may see a new line.
const lineEnds = "\n\r\v\f\u0085\u2028\u2029"

// printedBeginnings begin the lines that printers write around the words of messages.
var printedBeginnings = [...]string{"[user ", "[model ", "[tool ", "[system ", "[update ",
	"[quoted in part", "[from other ses",
	"<context_clusters", "</context_clusters", "<cluster ", "</cluster", "<others>", "</others>",
	"<initial_context", "</initial_context", "<system-update", "</system-update", "<evicted ",
	"<project>", "</project>", "<session ", "</session"}

// briefBeginnings begin lines of a brief, before the id in brackets.
var briefBeginnings = [...]string{"heed [", "wanted [", "decided [", "concluded [", "they ",
	"state [", "changed [", "files [", "failing [", "todo [", "noted [", "recap [", "tool ["}

// looksPrinted reports whether a text begins as a line that a printer writes.
func looksPrinted(text string) bool {
	if text == "" || text[0] != '[' && text[0] != '<' {
		start := text[:min(len(text), len("they concluded ["))]
		if strings.IndexByte(start, '[') < 0 {
			return false
		}
		start = strings.ToLower(start)
		return prose.HasLead(start, briefBeginnings[:])
	}
	lower := strings.ToLower(text[:min(len(text), 24)])
	return prose.HasLead(lower, printedBeginnings[:])
}
