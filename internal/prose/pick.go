package prose

import (
	"slices"
	"strings"
	"unicode"
)

// maxPicks is the largest number of choices that Picks returns.
const maxPicks = 4

// pickLeads are words behind which a number or a letter names a choice.
var pickLeads = [...]string{"option", "options", "number", "numbers", "item", "items", "point",
	"points", "do", "fix", "and", "or", "with", "only", "just", "take", "choose", "pick", "prefer",
	"implement", "address", "skip", "try", "start", "then", "lets", "let's", "please", "not",
	"step", "task"}

// pickEnds are words before which the first letter of a text names a choice.
var pickEnds = [...]string{"", "for", "and", "or", "is", "please", "then", "but", "with", "looks",
	"sounds", "seems", "makes"}

// Picks returns the numbers and capital letters with which a prompt names items of a list that it
// answers, in order: "A for the calls, and B" has A and B, "fix 2 and 3" has 2 and 3.
func Picks(prompt string) (marks []string) {
	words := strings.FieldsFunc(prompt, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(",;:()", r)
	})
	at := func(i int) string {
		if i < 0 || i >= len(words) {
			return ""
		}
		return strings.ToLower(strings.Trim(words[i], ".!?\"'`*#"))
	}
	for i, word := range words {
		mark := strings.Trim(word, ".!?\"'`*#")
		isLetter := len(mark) == 1 && mark[0] >= 'A' && mark[0] <= 'H'
		isNumber := mark != "" && len(mark) <= 2 && strings.Trim(mark, "0123456789") == ""
		named := slices.Contains(pickLeads[:], at(i-1)) || strings.HasPrefix(word, "#")
		first := i == 0 && slices.Contains(pickEnds[:], at(1))
		if (isLetter || isNumber) && (named || first) && !slices.Contains(marks, mark) &&
			len(marks) < maxPicks {
			marks = append(marks, mark)
		}
	}
	return marks
}

// AsksBack reports whether the last line of an answer asks the user for something: to choose, say.
func AsksBack(line string) bool {
	return strings.HasSuffix(strings.TrimRight(line, "*_ "), "?") ||
		HasLead(strings.ToLower(strings.TrimLeft(line, "*_ ")), []string{"pick ", "choose ",
			"let me know ", "tell me ", "say which ", "your call", "which "})
}

// IsMarked reports whether a line begins with the number or the letter of an item of a list.
func IsMarked(line string) bool {
	return WithoutMark(line) != line ||
		len(line) > 2 && line[0]|0x20 >= 'a' && line[0]|0x20 <= 'h' &&
			HasLead(line[1:], []string{". ", ") "})
}

// IsPicked reports whether a line is the item of a list that a mark of Picks names.
func IsPicked(line, mark string) bool {
	line = strings.TrimLeft(line, "*_(")
	if rest, ok := strings.CutPrefix(line, "Option "); ok {
		line = rest
	}
	rest, ok := strings.CutPrefix(line, mark)
	return ok && HasLead(strings.TrimLeft(rest, "*_"),
		[]string{". ", ") ", ": ", " | ", " — ", " – ", " - ", ".* "})
}
