package live

import (
	"strings"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// openMember returns the paragraph of a member of arguments. Old and new texts of edits are marked.
func openMember(name string) string {
	switch name {
	case "old_string", "old_str", "oldString", "old_text", "oldStr":
		return "<p class=del>"
	case "new_string", "new_str", "newString", "new_text", "newStr":
		return "<p class=ins>"
	}
	return "<p>"
}

// appendArgs appends what stands before the arguments of a call, hidden, and the arguments: JSON
// without white space. Each member is a paragraph, and escapes in strings are hidden and take
// effect. What is not such JSON is appended as it is. The text content stays the same in every
// case.
func appendArgs(b []byte, before, s string) []byte {
	b = append(append(b, "<s>"...), before...)
	list, err := jsonvalue.Members([]byte(s))
	if err != nil || len(list) == 0 || compact(list) != s {
		return appendText(append(b, "</s>"...), s)
	}
	b = append(b, '{')
	for i, m := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, `"</s>`...), openMember(m.Name)...) // it ends the one before
		b = append(appendIn(b, "b", m.Name), `<s>":`...)
		if _, ok := jsonvalue.Text(m.Value); ok {
			b = appendString(append(b, `"</s>`...), string(m.Value[1:len(m.Value)-1]))
			b = append(b, `<s>"`...)
		} else {
			b = append(appendText(append(b, "</s>"...), string(m.Value)), "<s>"...)
		}
	}
	return append(b, "}</s>"...)
}

// compact returns an object without white space, with names as they are.
func compact(list []jsonvalue.Member) string {
	var b strings.Builder
	for i, m := range list {
		b.WriteString([]string{`{"`, `,"`}[min(i, 1)])
		b.WriteString(m.Name + `":`)
		b.Write(m.Value)
	}
	return b.String() + "}"
}

// appendString appends what is between the quotes of a string. Its escapes are hidden.
func appendString(b []byte, s string) []byte {
	diff := strings.Contains(s, `\n@@ `) || strings.Contains(s, "*** Begin Patch")
	for more := true; more; {
		line, rest, found := cutEscape(s)
		s, more = rest, found
		end, tag := `<q>\n</q>`, ""
		if diff {
			tag = lineTag(line)
		}
		if tag != "" {
			b, end = append(append(append(b, '<'), tag...), '>'), `<s>\n</s>`
		}
		b = appendEscaped(b, line)
		if more {
			b = append(b, end...)
		}
		if tag != "" {
			b = append(append(append(b, "</"...), tag...), '>')
		}
	}
	return b
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

// appendEscaped appends a line of a string, with its escapes as they are to be seen.
func appendEscaped(b []byte, s string) []byte {
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i+1 >= len(s) {
			return appendText(b, s)
		}
		b = appendText(b, s[:i])
		switch s[i+1] {
		case '"', '\\', '/':
			b = appendText(append(b, `<s>\</s>`...), s[i+1:i+2])
		case 't':
			b = append(b, `<u>\t</u>`...)
		default:
			b = appendText(b, s[i:i+2])
		}
		s = s[i+2:]
	}
}
