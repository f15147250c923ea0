package live

import (
	"fmt"
	"strings"
)

// appendProse appends what a person or a model said. Code, emphasis and headings are marked where
// their signs stand; the signs stay in the text content.
func appendProse(b []byte, s string) []byte {
	if !strings.ContainsAny(s, "`*#") && !isDiff(s) {
		return appendText(b, s)
	}
	fenced := false
	for line := range strings.Lines(s) {
		fence := strings.HasPrefix(strings.TrimLeft(line, " "), "```")
		switch {
		case fence && !fenced:
			b = append(b, "<code class=f>"...)
			b, fenced = appendText(b, line), true
		case fence:
			b = append(appendText(b, line), "</code>"...)
			fenced = false
		case fenced:
			tag := lineTag(line)
			if strings.HasPrefix(line, "- ") {
				tag = "" // of a list
			}
			b = appendIn(b, tag, line)
		case isHeading(line):
			b = appendIn(b, "b", line)
		default:
			b = appendInline(b, line)
		}
	}
	if fenced {
		b = append(b, "</code>"...)
	}
	return b
}

func isHeading(line string) bool {
	rest := strings.TrimLeft(line, "#")
	n := len(line) - len(rest)
	return n > 0 && n <= 6 && strings.HasPrefix(rest, " ")
}

// appendInline appends a line with code in backquotes and words in pairs of asterisks.
func appendInline(b []byte, line string) []byte {
	for line != "" {
		i := strings.IndexAny(line, "`*")
		if i < 0 {
			break
		}
		sign, tag := "`", "code"
		if line[i] == '*' {
			sign, tag = "**", "b"
		}
		rest, ok := strings.CutPrefix(line[i:], sign)
		end := strings.Index(rest, sign)
		if !ok || end <= 0 || strings.TrimSpace(rest[:end]) == "" {
			b = appendText(b, line[:i+1])
			line = line[i+1:]
			continue
		}
		b = appendText(b, line[:i])
		b = fmt.Appendf(b, "<%s><s>%s</s>", tag, sign)
		b = fmt.Appendf(appendText(b, rest[:end]), "<s>%s</s></%s>", sign, tag)
		line = rest[end+len(sign):]
	}
	return appendText(b, line)
}
