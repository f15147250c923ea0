package prose

import "strings"

// WithoutBold removes the marks of words in bold.
func WithoutBold(text string) string { return strings.ReplaceAll(text, "**", "") }

// Tidy removes the marks of Markdown from a line: heads, bullets, quotes, and pairs of asterisks. A
// mark ends before a space; without one, as in --flag and #343, it belongs to the word.
func Tidy(line string) string {
	line = strings.TrimLeft(line, " \t")
	for {
		rest := strings.TrimLeft(line, "#>*-•")
		if rest == line || rest != "" && strings.IndexByte(" \t", rest[0]) < 0 &&
			(line[0] == '-' || line[0] == '#' && len(rest) == len(line)-1) {
			break
		}
		line = strings.TrimLeft(rest, " \t")
	}
	line = WithoutBold(line)
	return plainLinks(strings.TrimLeft(strings.Trim(line, "| \t"), "—– "))
}

// plainLinks puts the target in place of each link whose text says no more than it: of
// [a.go](x/a.go:3) stays x/a.go:3.
func plainLinks(line string) string {
	var b strings.Builder
	for {
		before, rest, _ := strings.Cut(line, "[")
		text, after, ok := strings.Cut(rest, "](")
		target, after, closed := strings.Cut(after, ")")
		if !ok || !closed {
			return b.String() + line
		}
		file := strings.TrimRight(target, "0123456789")
		if text != "" && (strings.HasSuffix(target, text) ||
			strings.HasSuffix(strings.TrimSuffix(file, ":"), text)) {
			b.WriteString(before + target)
		} else {
			b.WriteString(line[:len(line)-len(after)])
		}
		line = after
	}
}
