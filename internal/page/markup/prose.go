package markup

import "strings"

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
			b = appendLine(b, line)
		case isHeading(line):
			b = append(b, "<b>"...)
			b = append(appendText(b, line), "</b>"...)
		default:
			b = appendInline(b, line)
		}
	}
	if fenced {
		b = append(b, "</code>"...)
	}
	return b
}

// appendLine appends a line of code, marked if it was added or removed.
func appendLine(b []byte, line string) []byte {
	tag := lineTag(line)
	if tag == "" || strings.HasPrefix(line, "- ") {
		return appendText(b, line)
	}
	b = append(append(append(b, '<'), tag...), '>')
	b = appendText(b, line)
	return append(append(append(b, "</"...), tag...), '>')
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
		b = append(append(append(b, '<'), tag...), "><s>"...)
		b = append(append(b, sign...), "</s>"...)
		b = append(appendText(b, rest[:end]), "<s>"...)
		b = append(append(append(b, sign...), "</s></"...), tag...)
		b = append(b, '>')
		line = rest[end+len(sign):]
	}
	return appendText(b, line)
}
