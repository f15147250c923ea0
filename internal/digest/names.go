package digest

import (
	"slices"
	"strings"
)

// maxNames is the largest number of names, of functions, types and so on, in the fact of an edit.
const maxNames = 8

// naming returns names in the form in which they end the text of a fact.
func naming(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ": " + strings.Join(names[:min(len(names), maxNames)], ", ")
}

// changedNames returns the names that an edit defines, followed by other names that it adds.
func changedNames(old, now string) []string {
	names := definitions(now)
	if len(names) < maxNames {
		names = append(names, newNamesIn(old, now, maxNames-len(names))...)
	}
	return unique(names)
}

// defines reports whether a word begins a definition in some common programming language.
func defines(word string) bool {
	return slices.Contains([]string{"func", "type", "class", "def", "interface", "struct", "enum",
		"fn", "trait", "impl", "function", "module"}, word)
}

// definitions returns the distinct names that source code defines, in order.
func definitions(code string) []string {
	var names []string
	for line := range strings.SplitSeq(code, "\n") {
		line = strings.TrimSpace(line)
		for word, rest, _ := strings.Cut(line, " "); ; word, rest, _ = strings.Cut(rest, " ") {
			if defines(word) {
				if strings.HasPrefix(rest, "(") { // the receiver of a method
					_, rest, _ = strings.Cut(rest, ") ")
				}
				if name := identifierAt(rest); len(name) > 2 {
					names = append(names, name)
				}
				break
			}
			if !modifies(word) {
				break
			}
		}
	}
	return unique(names)
}

// modifies reports whether a word may stand before one that begins a definition.
func modifies(word string) bool {
	return slices.Contains([]string{"export", "default", "async", "pub", "public", "private",
		"protected", "static", "abstract", "final", "declare"}, word)
}

func identifierAt(s string) string {
	n := 0
	for n < len(s) && isIdentifier(s[n]) {
		n++
	}
	return s[:n]
}

func isIdentifier(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' ||
		c >= 'A' && c <= 'Z'
}

// newNamesIn returns the identifiers of several words, in camelCase or snake_case, that now has and
// old does not have, in order, at most most of them.
func newNamesIn(old, now string, most int) []string {
	had := map[string]bool{}
	eachIdentifier(old, func(s string) bool { had[s] = true; return true })
	var names []string
	eachIdentifier(now, func(s string) bool {
		if !had[s] && isCompound(s) {
			had[s] = true
			names = append(names, s)
		}
		return len(names) < most
	})
	return names
}

func eachIdentifier(s string, yield func(string) bool) {
	for i := 0; i < len(s); {
		if !isIdentifier(s[i]) {
			i++
			continue
		}
		name := identifierAt(s[i:])
		if !yield(name) {
			return
		}
		i += len(name)
	}
}

// isCompound reports whether an identifier consists of several words.
func isCompound(s string) bool {
	if len(s) < 6 || len(s) > 60 || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	if strings.Contains(strings.Trim(s, "_"), "_") {
		return true
	}
	for i := 1; i < len(s); i++ {
		if s[i] >= 'A' && s[i] <= 'Z' && s[i-1] >= 'a' && s[i-1] <= 'z' {
			return true
		}
	}
	return false
}

func unique(list []string) []string {
	seen := map[string]bool{}
	out := list[:0]
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
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
