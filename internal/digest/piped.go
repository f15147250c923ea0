package digest

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/prose"
	"github.com/gemini-ctx/ctx/internal/script"
)

// filters are the programs that pass on what another one prints. The exit status of a pipe is
// theirs, and says nothing of the other one.
var filters = [...]string{"tail", "head", "grep", "egrep", "rg", "sed", "awk", "cat", "tee", "cut",
	"sort", "uniq", "wc", "less", "more", "column", "tr", "nl", "fold"}

// hidesEnd reports whether the exit status of a script is that of a filter.
func hidesEnd(text string) bool {
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
