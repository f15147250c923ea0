package summarize

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/internal/terms"
)

// LabelColumns is the largest width of a label on a terminal, in columns of one rune each.
const LabelColumns = 70

const (
	// goalColumns is the largest part of a label for the goal if there are names beside it.
	goalColumns = 44
	// nameColumns is the largest width of one name. A longer path is shortened to its last element.
	nameColumns = 30
	// labelNames is the largest number of names in a label.
	labelNames = 4
	// goalMark separates the goal from the names.
	goalMark = " · "
)

// NoLabel is the label of a cluster without any telling word.
const NoLabel = "(nothing said)"

// Topic is the input from which the label of a cluster is made.
type Topic struct {
	Goal string   // the first request in the user's words; "" if there was none
	Said []Source // the messages of the cluster; sources with the role tool are ignored
	// Changed lists the files that were changed. They tell more than other names.
	Changed []string
}

// told returns the sources that are not output of tools.
func (t Topic) told() []Source {
	return slices.DeleteFunc(inOrder(t.Said), func(s Source) bool { return s.Role == "tool" })
}

// Labels returns a label for each of several clusters that are listed together, in the same order.
// A label is one line of at most LabelColumns columns: the goal, shortened at a word, and the names
// and paths that are rarest among the other clusters. No two labels are equal. Equal topics give
// equal labels on every platform.
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

// Label returns the label of one cluster. It prefers names that are rare among the others.
func (o *Others) Label(t Topic) string { return joinLabel(t.Goal, o.names(t)) }

// distinct returns a label that is not taken yet. It tries the rarest names, then the next ones,
// then a number.
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

// joinLabel joins a goal and as many names as there is room for. Names may use the columns of a
// label that the goal does not need, and those of the goal beyond goalColumns.
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

// fittingNames returns the first names that fit into room columns with ", " between them. It skips
// names that overlap with an earlier name or that the goal mentions.
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

// mentions reports whether a goal contains a name, or the last element of a path.
func mentions(goal, name string) bool {
	goal, name = strings.ToLower(goal), strings.ToLower(name)
	return strings.Contains(goal, name) || strings.Contains(goal, lastElement(name))
}

func lastElement(path string) string { return path[strings.LastIndexAny(path, `/\\`)+1:] }

// changedFactor is how many times more a changed file tells than a file that was only mentioned.
const changedFactor = 3

// names returns the names of a topic, the most telling first: names that are rare in other clusters
// and frequent in this one, changed files, and paths before identifiers. If there is neither a name
// nor a goal, it returns words.
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
	slices.SortStableFunc(list, func(a, b *label) int { return cmp.Compare(b.worth, a.worth) })
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

// shortName returns the last two elements of a path, or only the last one if two are too long. It
// returns other names unchanged. It returns "" for a name that is too long or that tells nothing,
// such as the client command /clear or the suffix .body.
func shortName(s string) string {
	if _, rest, ok := strings.Cut(s, "://"); ok {
		s = rest
	}
	s = strings.TrimRight(s, `/\`)
	if s == "" || strings.HasPrefix(s, `\`) {
		return "" // an escaped line feed in quoted code
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

// tellsName reports whether a name contains a word, which is three letters in a row.
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

// plainGoal returns a goal as one line of printable characters. It removes marks of lists and
// headings, and filler words at the start.
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
	s = withoutLead(withoutNumber(
		strings.TrimLeftFunc(s,
			func(r rune) bool { return !readable(r) && !strings.ContainsRune("/`.[@$", r) })))
	if !strings.ContainsFunc(s, readable) {
		return ""
	}
	return strings.TrimRight(s, ".:;, ")
}

// withoutNumber removes the number of a list item at the start of s.
func withoutNumber(s string) string {
	rest := strings.TrimLeft(s, "0123456789")
	if rest != s && (strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") ")) {
		return rest[2:]
	}
	return s
}

// shortened cuts s to most columns and appends an ellipsis. It cuts between words if there is a
// space in the second half.
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

// TellsGoal reports whether a text states a goal: it has two words that are neither stop words nor
// acknowledgements, or one such word and a name or number. A client command such as /clear is no
// goal.
func TellsGoal(text string) bool {
	text = bounded(text)
	words, names := 0, 0
	terms.Scan(text, func(t terms.Token) {
		s := text[t.Start:t.End]
		switch {
		case t.Kind == terms.Number, t.Kind == terms.Name &&
			!(strings.HasPrefix(s, "/") && strings.Count(s, "/") == 1):
			names++
		case t.Kind == terms.Word && !isNod(strings.ToLower(s)):
			words++
		}
	})
	return words > 1 || words > 0 && names > 0
}
