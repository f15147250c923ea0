package markup

import "strings"

// isOld and isNew report whether a member of arguments holds the old or the new text of an edit.
func isOld(member string) bool {
	switch member {
	case "old_string", "old_str", "oldString", "old_text":
		return true
	}
	return false
}

func isNew(member string) bool {
	switch member {
	case "new_string", "new_str", "newString", "new_text":
		return true
	}
	return false
}

// appendArgs appends what stands before the arguments of a call, hidden, and the arguments: JSON
// without white space. Each member is a paragraph, escapes in strings are hidden and take effect,
// and texts of edits are marked as old and new. What is not such JSON is appended as it is. The
// text content stays the same in every case.
func appendArgs(b []byte, before, s string) []byte {
	b = append(append(b, "<s>"...), before...)
	if !strings.HasPrefix(s, "{") || len(s) < 3 {
		return appendText(append(b, "</s>"...), s)
	}
	mark := len(b)
	a := argsWriter{b: append(b, `{"</s>`...), s: s, i: 1}
	for a.i < len(s) && a.member() {
	}
	if a.i != len(s) {
		return appendText(append(a.b[:mark], "</s>"...), s) // not the JSON that was expected
	}
	return a.b
}

type argsWriter struct {
	b []byte
	s string
	i int
}

// member appends `name":value`, and what is before the next name: a comma and a quote, or a brace.
// It returns false at the end, and when the text is no member.
func (a *argsWriter) member() bool {
	name, ok := a.stringEnd(a.i)
	if !ok || name+1 >= len(a.s) || a.s[name] != ':' {
		return false
	}
	key := a.s[a.i+1 : name-1]
	switch {
	case isOld(key):
		a.b = append(a.b, "<p class=del>"...)
	case isNew(key):
		a.b = append(a.b, "<p class=ins>"...)
	default:
		a.b = append(a.b, "<p>"...)
	}
	a.b = append(a.b, "<b>"...)
	a.b = append(appendText(a.b, key), `</b><s>":`...)
	a.i = name + 1
	end := a.valueEnd()
	if end <= a.i || end >= len(a.s) {
		return false
	}
	value := a.s[a.i:end]
	if whole, ok := a.stringEnd(a.i); ok && whole == end {
		a.text(value)
	} else {
		a.b = append(appendText(append(a.b, "</s>"...), value), "<s>"...)
	}
	a.i = end + 1
	last := a.s[end]
	a.b = append(a.b, last)
	if last == ',' {
		if a.i == len(a.s) {
			a.i = 0 // a name has to follow
			return false
		}
		a.b = append(a.b, '"') // of the next name
	}
	a.b = append(a.b, "</s>"...) // what comes next ends the paragraph
	return last == ','
}

// stringEnd returns the index after the string that begins at i.
func (a *argsWriter) stringEnd(i int) (int, bool) {
	if i >= len(a.s) || a.s[i] != '"' {
		return 0, false
	}
	for i++; i < len(a.s); i++ {
		switch a.s[i] {
		case '\\':
			i++
		case '"':
			return i + 1, true
		}
	}
	return 0, false
}

// valueEnd returns the index of the comma or the brace after the value at a.i; 0 if there is none.
func (a *argsWriter) valueEnd() int {
	depth := 0
	for i := a.i; i < len(a.s); i++ {
		switch c := a.s[i]; c {
		case '"':
			end, ok := a.stringEnd(i)
			if !ok {
				return 0
			}
			i = end - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				if c == ']' || i+1 != len(a.s) {
					return 0
				}
				return i
			}
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return 0
}

// text appends a string with its quotes and escapes hidden. It begins and ends in what is hidden.
func (a *argsWriter) text(s string) {
	a.b = append(a.b, `"</s>`...)
	in := s[1 : len(s)-1]
	diff := strings.Contains(in, `\n@@ `) || strings.Contains(in, "*** Begin Patch")
	for first := true; in != "" || first; first = false {
		line, rest, more := cutEscape(in)
		tag := ""
		if diff {
			tag = lineTag(line)
		}
		if tag != "" {
			a.b = append(append(append(a.b, '<'), tag...), '>')
		}
		a.line(line)
		if more && tag == "" {
			a.b = append(a.b, `<q>\n</q>`...)
		} else if more {
			a.b = append(a.b, `<s>\n</s>`...)
		}
		if tag != "" {
			a.b = append(append(append(a.b, "</"...), tag...), '>')
		}
		in = rest
	}
	a.b = append(a.b, `<s>"`...)
}

// cutEscape cuts a string with escapes at its first line feed.
func cutEscape(s string) (line, rest string, more bool) {
	for i := 0; i+1 < len(s); i++ {
		if s[i] != '\\' {
			continue
		}
		if s[i+1] == 'n' {
			return s[:i], s[i+2:], true
		}
		i++
	}
	return s, "", false
}

// line appends a line of a string, with its escapes as they are to be seen.
func (a *argsWriter) line(s string) {
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i+1 >= len(s) {
			a.b = appendText(a.b, s)
			return
		}
		a.b = appendText(a.b, s[:i])
		switch s[i+1] {
		case '"', '\\', '/':
			a.b = append(a.b, `<s>\</s>`...)
			a.b = appendText(a.b, s[i+1:i+2])
		case 't':
			a.b = append(a.b, `<u>\t</u>`...)
		default:
			a.b = appendText(a.b, s[i:i+2])
		}
		s = s[i+2:]
	}
}
