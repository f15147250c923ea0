package digest

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/prose"
	"github.com/gemini-ctx/ctx/internal/terms"
)

// maxNames is the largest number of names, of functions, types and so on, in the fact of an edit.
const maxNames = 8

// maxHeading is the length in bytes of the longest heading in the fact of an edit.
const maxHeading = 60

// naming returns names in the form in which they end the text of a fact.
func naming(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ": " + strings.Join(names[:min(len(names), maxNames)], ", ")
}

// named returns what an edit of a file adds, in the form in which it ends the text of a fact: the
// headings of a new document, or else the names that the code defines, followed by others.
func named(file, old, now string) string {
	if old == "" && isDocument(file) {
		if heads := headings(now); len(heads) > 0 {
			return ": " + strings.Join(heads, betweenHeads)
		}
	}
	names := terms.Defined(now)
	if len(names) < maxNames {
		names = append(names, terms.NewNames(old, now, maxNames-len(names))...)
	}
	return naming(lists.Unique(names))
}

// betweenHeads stands between the headings of a document, which may have commas.
const betweenHeads = "; "

// TellsHeadings reports whether a fact is that a document was written, and tells its headings.
func (f *Fact) TellsHeadings() bool {
	return f.Kind == Edit && isDocument(f.Path) && strings.Contains(f.Text, betweenHeads)
}

// headings returns the headings of a document in Markdown in order: of as many of the upper levels
// as a fact holds.
func headings(text string) (heads []string) {
	level := map[string]int{}
	fenced := false
	for line := range strings.SplitSeq(text, "\n") {
		if summarize.IsFence(strings.TrimSpace(line)) {
			fenced = !fenced
		}
		marks := len(line) - len(strings.TrimLeft(line, "#"))
		head := prose.Short(prose.Tidy(line), maxHeading)
		if !fenced && marks > 0 && head != "" && strings.HasPrefix(line[marks:], " ") &&
			level[head] == 0 {
			level[head] = marks
			heads = append(heads, head)
		}
	}
	for most := 6; len(heads) > maxNames && most > 1; most-- {
		upper := slices.DeleteFunc(slices.Clone(heads), func(h string) bool {
			return level[h] >= most
		})
		if len(upper) < 2 {
			break // the title alone says less than the first of what stands below it
		}
		heads = upper
	}
	return heads[:min(len(heads), maxNames)]
}

// lines returns the number of lines of a text.
func lines(s string) int {
	if s == "" {
		return 0
	}
	return strings.Count(strings.TrimSuffix(s, "\n"), "\n") + 1
}

// changedLines counts the lines of now that old does not have, and the lines of old that now does
// not have.
func changedLines(old, now string) (added, removed int) {
	count := map[string]int{}
	for l := range strings.SplitSeq(old, "\n") {
		if strings.TrimSpace(l) != "" {
			count[l]++
			removed++
		}
	}
	for l := range strings.SplitSeq(now, "\n") {
		switch {
		case strings.TrimSpace(l) == "":
		case count[l] > 0:
			count[l]--
			removed--
		default:
			added++
		}
	}
	return added, removed
}

// unnumbered removes the numbers of the lines of a listing.
func unnumbered(listing string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(listing[:min(len(listing), maxOutput)], "\n") {
		rest := strings.TrimLeft(strings.TrimLeft(line, " "), "0123456789")
		rest = strings.TrimPrefix(rest, "→")
		b.WriteString(rest + "\n")
	}
	return b.String()
}
