package prose

import "strings"

// maxHeading is the length in bytes of the longest heading that a line of a list keeps.
const maxHeading = 40

// Headings tells below which heading an item of a list stands: "rebase" alone does not say whether
// it is a risk or a plan. It is asked for the sentences of a text in their order.
type Headings struct{ lines []listLine }

// listLine is a line of a text, with single spaces, and the heading of the list that it is in.
type listLine struct{ text, heading string }

// HeadingsOf returns the headings of a text.
func HeadingsOf(text string) Headings {
	var h Headings
	heading := ""
	for line := range strings.SplitSeq(text, "\n") {
		switch line = Squeeze(line); {
		case line == "":
		case isListItem(line):
			h.lines = append(h.lines, listLine{line, heading})
		default:
			heading = ""
			head := strings.TrimRight(Tidy(line), ": ")
			for _, end := range [...]string{". ", "! ", "? "} { // the last sentence leads to it
				head = head[strings.LastIndex(head, end)+1:]
			}
			if head = strings.TrimSpace(head); len(head) <= maxHeading && !Announces(head) &&
				(isTitle(line) || strings.HasSuffix(line, ":")) {
				heading = head
			}
			h.lines = append(h.lines, listLine{text: line})
		}
	}
	return h
}

// LeavesOut reports whether what stands below a heading is not done, and not to be done.
func LeavesOut(heading string) bool {
	return HasAny(strings.ToLower(heading), []string{"out of scope", "not in scope", "non-goal",
		"not done", "not included", "skipped", "deferred", "later", "future"})
}

// isTitle reports whether a line is a heading of Markdown, or in bold as a whole and no sentence.
func isTitle(line string) bool {
	bold := strings.TrimRight(line, ":")
	text := strings.Trim(bold, "*")
	return strings.HasPrefix(line, "#") || text != "" && bold == "**"+text+"**" &&
		!strings.ContainsAny(text[len(text)-1:], ".!?")
}

// minFinding is the number of spaces in the shortest numbered heading that tells something.
const minFinding = 5

// isFinding reports whether a heading is numbered and tells, as a sentence does, what stands below:
// "2. The save scales with the number of files".
func isFinding(line string) bool {
	line = Tidy(line)
	return WithoutMark(line) != line && strings.Count(line, " ") >= minFinding
}

// isFootnote reports whether a line explains a mark of a table: "*without the index".
func isFootnote(line string) bool {
	rest := strings.TrimLeft(line, "*†")
	return rest != line && rest != "" && rest[0] != ' ' && !strings.Contains(rest, "*")
}

// isListItem reports whether a line begins with a bullet or a number.
func isListItem(line string) bool {
	mark, _, _ := strings.Cut(line, " ")
	return mark == "-" || mark == "*" || mark == "•" || WithoutMark(line) != line
}

// Of returns the heading of the next sentence, "" if it is in no list, and whether it is a heading
// or a footnote, which tells nothing alone, or is in a list.
func (h *Headings) Of(sentence string) (heading string, isHeading, isItem bool) {
	for n, l := range h.lines {
		if strings.Contains(l.text, sentence) {
			h.lines = h.lines[n:]
			return l.heading, isTitle(l.text) && !isFinding(l.text) || isFootnote(l.text),
				isListItem(l.text)
		}
	}
	return "", false, false
}
