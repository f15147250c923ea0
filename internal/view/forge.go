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

// unseen reports whether a character takes no column: what follows it seems to begin the line.
func unseen(r rune) bool { return unicode.In(r, unicode.Cf, unicode.Mn) }

// lineEnds are the characters after which a reader may see a new line.
const lineEnds = "\n\r\v\f\u0085\u2028\u2029"

// printedBeginnings begin the lines that printers write around the words of messages.
var printedBeginnings = [...]string{"[user ", "[model ", "[tool ", "[system ", "[update ",
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
	if strings.HasPrefix(lower, "[tool call ") || strings.HasPrefix(lower, "[tool result ") {
		return false // so begin the words of a part, below the header of their message
	}
	return prose.HasLead(lower, printedBeginnings[:])
}
