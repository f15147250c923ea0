package terms

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/lists"
)

// defines reports whether a word begins a definition in some common programming language.
func defines(word string) bool {
	return slices.Contains([]string{"func", "type", "class", "def", "interface", "struct", "enum",
		"fn", "trait", "impl", "function", "module"}, word)
}

// Defined returns the distinct names of functions, types and modules that source code defines in
// some common language, in order.
func Defined(code string) []string {
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
	return lists.Unique(names)
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

// NewNames returns the identifiers of several words, in camelCase or snake_case, that now has and
// old does not have, in order, at most most of them.
func NewNames(old, now string, most int) []string {
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
