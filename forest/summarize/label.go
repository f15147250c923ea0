package summarize

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/forest/terms"
)

// LabelColumns is the most columns that a label takes on a terminal, a rune being one column.
const LabelColumns = 70

const (
	// goalColumns is how much of a label the goal takes at most where there are names to put beside it.
	goalColumns = 44
	// nameColumns is the most columns of one name. A longer path is named by its last element.
	nameColumns = 30
	// labelNames is how many names a label has at most.
	labelNames = 4
	// goalMark stands between the goal and the names.
	goalMark = " · "
)

// NoLabel is the label of a cluster without a telling word.
const NoLabel = "(nothing said)"

// Topic is what the label of a cluster is made of.
type Topic struct {
	Goal string   // what was asked for first, in the user's words; "" where nobody asked
	Said []Source // what was said and done; sources of the role tool count for nothing
	// Changed are the files that were changed. They are more telling than others.
	Changed []string
}

// told returns the sources that are no output of tools.
func (t Topic) told() []Source {
	return slices.DeleteFunc(inOrder(t.Said), func(s Source) bool { return s.Role == "tool" })
}

// Labels returns a label for each of some clusters that are listed together, in the same order. A label is
// one line of at most LabelColumns columns: the goal, shortened at a word, and the names and paths that
// fewest of the others have. No two labels are equal. Equal topics give equal labels on every platform.
//
//	Make the upload retry on 503 · upload/retry.go, backoffDelay
func Labels(topics []Topic) []string {
	others := &Others{}
	for _, t := range topics {
		others.Add(t.told())
	}
	out := make([]string, len(topics))
	taken := map[string]bool{}
	for i, t := range topics {
		out[i] = others.distinct(t, taken)
		taken[out[i]] = true
	}
	return out
}

// Label returns the label of one cluster, with names that are rare among the others before common ones.
func (o *Others) Label(t Topic) string { return joinLabel(t.Goal, o.names(t)) }

// distinct returns a label that is not taken yet: with the rarest names, else with the next ones, else
// with a number.
func (o *Others) distinct(t Topic, taken map[string]bool) string {
	names := o.names(t)
	first := joinLabel(t.Goal, names)
	l := first
	for rest := names; taken[l] && len(rest) > 0; {
		rest = rest[1:]
		l = joinLabel(t.Goal, rest)
	}
	for n := 2; taken[l]; n++ {
		end := fmt.Sprintf(" (%d)", n)
		l = shortened(first, LabelColumns-len(end)) + end
	}
	return l
}

// joinLabel joins a goal and as many names as there is room for. Names may have what the goal leaves of
// LabelColumns, and what it has beyond goalColumns.
func joinLabel(goal string, names []string) string {
	goal = plainGoal(goal)
	mark := goalMark
	if goal == "" {
		mark = ""
	}
	room := LabelColumns - min(columns(goal), goalColumns) - columns(mark)
	head := shortened(goal, goalColumns)
	for {
		list := fittingNames(names, head, room)
		switch {
		case len(list) == 0 && goal == "":
			return NoLabel
		case len(list) == 0:
			return shortened(goal, LabelColumns)
		}
		end := mark + strings.Join(list, ", ")
		longer := shortened(goal, LabelColumns-columns(end))
		said := func(name string) bool { return mentions(longer, name) }
		if !slices.ContainsFunc(list, said) {
			return longer + end
		}
		names = slices.DeleteFunc(slices.Clone(names), said)
	}
}

// fittingNames returns names, the first first, that fit into so many columns with ", " between them, and
// that neither each other nor the goal say already.
func fittingNames(names []string, goal string, room int) []string {
	var list []string
	said := ""
	for _, name := range names {
		next := strings.TrimPrefix(said+", "+name, ", ")
		if len(list) == labelNames {
			break
		}
		if columns(next) <= room && !overlaps(said, name) && !mentions(goal, name) {
			list, said = append(list, name), next
		}
	}
	return list
}

// mentions reports whether a goal has a name, or the last element of a path.
func mentions(goal, name string) bool {
	goal, name = strings.ToLower(goal), strings.ToLower(name)
	return strings.Contains(goal, name) || strings.Contains(goal, lastElement(name))
}

func lastElement(path string) string { return path[strings.LastIndexAny(path, `/\\`)+1:] }

// changedFactor is how much more a changed file tells than one that was only mentioned.
const changedFactor = 3

// names returns the names of a topic, the most telling first: those that few others have, that were
// mentioned often, changed files, and paths before identifiers. Where there are neither, words are taken.
func (o *Others) names(t Topic) []string {
	changed := map[string]bool{}
	for _, path := range t.Changed {
		changed[strings.ToLower(lastElement(path))] = true
	}
	list := labels(t.told())
	for _, l := range list {
		l.worth = l.kind * rarity(l.sources, 1) / 1000 * o.rare(l.text)
		if changed[strings.ToLower(lastElement(l.text))] {
			l.worth *= changedFactor
		}
	}
	slices.SortStableFunc(list, func(a, b *label) int {
		switch {
		case a.worth > b.worth:
			return -1
		case a.worth < b.worth:
			return 1
		}
		return 0
	})
	var names, words []string
	for _, l := range list {
		switch l.kind {
		case pathLabel, nameLabel:
			if name := shortName(l.text); tellsName(name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		case properLabel, wordLabel:
			words = append(words, l.text)
		}
	}
	if len(names) == 0 && plainGoal(t.Goal) == "" {
		return words
	}
	return names
}

// shortName returns a path by its last two elements, or by the last one where these are too long, and
// any other name as it is; "" for one that is too long, or that tells nothing: a command of a client such
// as /clear, or the end of a name such as .body.
func shortName(s string) string {
	if _, rest, ok := strings.Cut(s, "://"); ok {
		s = rest
	}
	s = strings.TrimRight(s, `/\`)
	if s == "" || strings.HasPrefix(s, `\`) {
		return "" // a line feed in quoted code
	}
	last := strings.LastIndexAny(s, `/\`)
	if last <= 0 && strings.ContainsAny(s[:1], "/.-") && strings.Count(s, ".") < 2 {
		return ""
	}
	if last > 0 {
		if short := s[strings.LastIndexAny(s[:last], `/\`)+1:]; columns(short) <= nameColumns {
			return short
		}
	}
	if short := lastElement(s); columns(short) <= nameColumns {
		return short
	}
	return ""
}

// tellsName reports whether a name has a word in it: three letters in a row.
func tellsName(s string) bool {
	run := 0
	for _, r := range s {
		if run++; !unicode.IsLetter(r) {
			run = 0
		}
		if run == 3 {
			return true
		}
	}
	return false
}

// plainGoal returns a goal as one line of printable characters, without the marks of a list or heading
// and without words that say nothing in front of it.
func plainGoal(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Join(strings.Fields(strings.ReplaceAll(s, "**", "")), " ")
	s = withoutLead(withoutNumber(strings.TrimLeftFunc(s, func(r rune) bool { return !readable(r) && !strings.ContainsRune("/`.[@$", r) })))
	if !strings.ContainsFunc(s, readable) {
		return ""
	}
	return strings.TrimRight(s, ".:;, ")
}

// withoutNumber cuts the number of a list's item off the front.
func withoutNumber(s string) string {
	rest := strings.TrimLeft(s, "0123456789")
	if rest != s && (strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") ")) {
		return rest[2:]
	}
	return s
}

// shortened cuts s to most columns, at a word where there is one in the second half, and says so by an
// ellipsis.
func shortened(s string, most int) string {
	if columns(s) <= most {
		return s
	}
	runes := []rune(s)[:most-1]
	cut := string(runes)
	if r := []rune(s)[most-1]; r != ' ' {
		if i := strings.LastIndexByte(cut, ' '); i > len(cut)/2 {
			cut = cut[:i]
		}
	}
	return strings.TrimRight(cut, " ,.:;(-") + "…"
}

func columns(s string) int { return utf8.RuneCountInString(s) }

// TellsGoal reports whether a text says what somebody wants: it has two words that are neither stop words
// nor nods, or one and a name or number. A command of a client, such as /clear, tells nothing.
func TellsGoal(text string) bool {
	text = bounded(text)
	words, names := 0, 0
	terms.Scan(text, func(t terms.Token) {
		s := text[t.Start:t.End]
		switch {
		case t.Kind == terms.Number, t.Kind == terms.Name && !(strings.HasPrefix(s, "/") && strings.Count(s, "/") == 1):
			names++
		case t.Kind == terms.Word && !isNod(strings.ToLower(s)):
			words++
		}
	})
	return words > 1 || words > 0 && names > 0
}
