package digest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/blame/replay"
)

// Change returns what an edit changes, as lines: "- " begins one that goes, "+ " one that comes,
// and two spaces one of at most two around them that stay. A patch is returned as it is. It returns
// "" for a call that is no edit, and for one that writes a whole file.
func Change(raw json.RawMessage) string {
	a := readArgs(raw)
	if patch := a.text(patchNames); strings.Contains(patch, patchLead) {
		return patch
	}
	if a.has(replay.NewNames) || a.has(replay.OldNames) {
		return a.change()
	}
	var b strings.Builder
	for _, one := range a.list("edits") {
		b.WriteString(one.change())
	}
	return b.String()
}

// IsChange reports whether an argument of a call is one that Change shows.
func IsChange(name string) bool {
	return slices.Contains(replay.OldNames, name) || slices.Contains(replay.NewNames, name)
}

func (a args) change() string {
	before, after := LinesOf(a.text(replay.OldNames)), LinesOf(a.text(replay.NewNames))
	const around = 2
	same := 0
	for same < min(len(before), len(after)) && before[same] == after[same] {
		same++
	}
	end := 0
	for end < min(len(before), len(after))-same &&
		before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	var b strings.Builder
	put := func(mark string, lines []string) {
		for _, line := range lines {
			b.WriteString(mark + line + "\n")
		}
	}
	put("  ", before[max(same-around, 0):same])
	put("- ", before[same:len(before)-end])
	put("+ ", after[same:len(after)-end])
	put("  ", before[len(before)-end:][:min(end, around)])
	return b.String()
}

// LinesOf returns the lines of a text; none of an empty one.
func LinesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
