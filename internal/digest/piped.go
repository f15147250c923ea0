package digest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/prose"
	"github.com/gemini-ctx/ctx/internal/script"
)

// filters are the programs that pass on what another one prints. The exit status of a pipe is
// theirs, and says nothing of the other one.
var filters = [...]string{"tail", "head", "grep", "egrep", "rg", "sed", "awk", "cat", "tee", "cut",
	"sort", "uniq", "wc", "less", "more", "column", "tr", "nl", "fold"}

// shown is the exit status of the command before, as a script prints it.
const shown = "$?"

// hidesEnd reports whether the exit status of a script is that of a filter, or of an echo which
// prints the status of the command before.
func hidesEnd(text string) bool {
	if strings.Contains(text, shown) && endMark(text) != "" {
		return true
	}
	if !strings.Contains(text, "|") || strings.Contains(text, "pipefail") ||
		strings.Contains(text, "PIPESTATUS") {
		return false
	}
	for _, last := range slices.Backward(script.Read(text[:min(len(text), maxScript)])) {
		if len(last.Words) == 0 {
			return false
		}
		if program := last.Words[0]; !slices.Contains([]string{"fi", "done", ")", "}"}, program) {
			return last.Piped && slices.Contains(filters[:], program)
		}
	}
	return false
}

// endMark returns what the last command of a script prints before the status of the one before it:
// "rc=" of make; echo rc=$?. It is "" if the script ends in another way.
func endMark(text string) string {
	list := script.Read(text[:min(len(text), maxScript)])
	if len(list) < 2 {
		return ""
	}
	words := list[len(list)-1].Words
	if len(words) < 2 || words[0] != "echo" {
		return ""
	}
	mark, _, ok := strings.Cut(strings.Join(words[1:], " "), shown)
	if !ok {
		return ""
	}
	return cmp.Or(strings.TrimSpace(mark), " ")
}

// shownEnd returns the status that a script printed at its end; -1 if it did not.
func shownEnd(text, output string) int {
	mark, last := endMark(text), strings.TrimRight(output, "\n ")
	last = last[strings.LastIndexByte(last, '\n')+1:]
	rest, ok := strings.CutPrefix(last, strings.TrimSpace(mark))
	if n, isNumber := leadingNumber(strings.TrimSpace(rest)); ok && mark != "" && isNumber {
		return n
	}
	return -1
}

// broke reports whether what a check printed tells that it failed. It is asked where no exit status
// does, so it knows only what programs print at their end, and where a line begins.
func broke(output string) (does bool) {
	eachLine(output, func(line string) bool {
		line = strings.TrimPrefix(strings.TrimSpace(line), "mise ")
		low := strings.TrimPrefix(strings.ToLower(line), "✖ ")
		n, counted := leadingNumber(low)
		_, what, _ := strings.Cut(low, " ")
		does = prose.HasLead(low, []string{"error:", "error[", "fatal:", "panic:", "make: ***",
			"npm err!"}) || prose.HasLead(line, []string{"ERROR ", "FAIL "}) ||
			strings.HasSuffix(low, "error task failed") ||
			counted && n > 0 && prose.HasLead(what, []string{"issues:", "problems (", "problem ("})
		return !does
	})
	return does
}
