package message

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Codex has its newer models write scripts: a call of `exec` has JavaScript, which calls the other
// tools. This file reads those calls, as far as the script has what they are given: strings,
// objects, lists, and names of such values.

// Deeds returns the calls in parts, in their order. A script stands for the calls that are read in
// it, with its id.
func Deeds(parts []Part) (list []Call) {
	for _, c := range Calls(parts) {
		if inner := scripted(c); len(inner) > 0 {
			list = append(list, inner...)
		} else {
			list = append(list, c)
		}
	}
	return list
}

func scripted(c Call) (list []Call) {
	if c.Name != "exec" && c.Name != "functions.exec" {
		return nil
	}
	text, ok := jsonvalue.Text(jsonvalue.AsObject(c.Args)["input"])
	if !ok {
		text, _ = jsonvalue.Text(c.Args)
	}
	s := &script{text: text, known: map[string]any{}}
	for s.at < len(s.text) {
		name, args, ok := s.next()
		if !ok {
			continue
		}
		raw, err := json.Marshal(args)
		if err == nil {
			list = append(list, Call{ID: c.ID, Name: name, Args: raw, Failed: c.Failed})
		}
	}
	return list
}

// script is JavaScript, read up to a place.
type script struct {
	text  string
	at    int
	known map[string]any // values that have names
	tried int            // bytes that were no value after all
}

// patchLead begins a patch of Codex.
const patchLead = "*** Begin Patch"

// mostNested is how deep a value may be, and mostTried how often a script is read at most.
const (
	mostNested = 16
	mostTried  = 16
)

// next goes on by a word, a string, a comment or a byte. ok says that it was the call of a tool.
func (s *script) next() (tool string, args any, ok bool) {
	c := s.text[s.at]
	switch {
	case c == '"' || c == '\'' || c == '`':
		s.str()
	case s.skipSpace():
	case !isWord(c):
		s.at++
	default:
		whole := s.at == 0 || s.text[s.at-1] != '.' // no member of anything else
		switch word := s.word(); {
		case !whole:
		case word == "const" || word == "let" || word == "var":
			s.names()
		case word == "tools":
			if tool = s.member(); tool != "" && s.take("(") {
				args, ok = s.try()
			}
		}
	}
	return tool, args, ok
}

// names reads what follows `const`: a name, and its value if that is known.
func (s *script) names() {
	s.skipSpace()
	name := s.word()
	if name == "" || !s.take("=") {
		return
	}
	if v, ok := s.try(); ok {
		s.known[name] = v
	}
}

// try reads a value, or nothing.
func (s *script) try() (v any, ok bool) {
	from := s.at
	if v, ok = s.value(0); ok {
		return v, true
	}
	if s.tried += s.at - from; s.tried < mostTried*len(s.text) {
		s.at = from
	} else {
		s.at = len(s.text)
	}
	return nil, false
}

// member reads .name, ?.name or ["name"].
func (s *script) member() string {
	if s.take("[") {
		name, _ := s.str()
		if !s.take("]") {
			return ""
		}
		return name
	}
	if !s.take("?.") && !s.take(".") {
		return ""
	}
	return s.word()
}

// value reads a value, and what is joined to it.
func (s *script) value(depth int) (v any, ok bool) {
	if v, ok = s.one(depth); !ok {
		return nil, false
	}
	for s.take("+") {
		more, _ := s.one(depth)
		left, isText := v.(string)
		right, both := more.(string)
		if !isText || !both {
			return nil, false
		}
		v = left + right
	}
	if list, isList := v.([]any); isList && s.take(".join(") {
		by, isText := s.str()
		words := make([]string, len(list))
		for i := range list {
			word, is := list[i].(string)
			words[i], isText = word, isText && is
		}
		return strings.Join(words, by), isText && s.take(")")
	}
	s.skipSpace() // what follows may change the value
	return v, s.at == len(s.text) || !strings.ContainsRune(".([*/%?&|=", rune(s.text[s.at])) ||
		s.text[s.at-1] == '\n'
}

func (s *script) one(depth int) (v any, ok bool) {
	s.skipSpace()
	if s.at == len(s.text) || depth == mostNested {
		return nil, false
	}
	switch c := s.text[s.at]; {
	case c == '"' || c == '\'' || c == '`':
		return s.str()
	case c == '{':
		return s.object(depth)
	case c == '[':
		return s.list(depth)
	case !isWord(c) && c != '-':
		return nil, false
	}
	from := s.at
	if s.take("String.raw`") {
		s.at--
		v, ok := s.raw()
		return v, ok
	}
	s.at++
	for s.at < len(s.text) && (isWord(s.text[s.at]) || s.text[s.at] == '.') {
		s.at++
	}
	word := s.text[from:s.at]
	if json.Unmarshal([]byte(word), &v) == nil { // a number, true, false or null
		return v, true
	}
	v, ok = s.known[word]
	return v, ok
}

// object reads an object. A member whose value is not known is left out.
func (s *script) object(depth int) (any, bool) {
	o := map[string]any{}
	for s.at++; !s.take("}"); s.take(",") {
		s.skipSpace()
		name, quoted := s.str()
		if !quoted {
			name = s.word()
		}
		known := false
		var v any
		if from := s.at; s.take(":") {
			if v, known = s.value(depth + 1); !known {
				s.at = from
			}
		} else {
			v, known = s.known[name]
		}
		if known && name != "" {
			o[name] = v
		}
		if !s.skipValue() {
			return nil, false
		}
	}
	return o, true
}

func (s *script) list(depth int) (any, bool) {
	list := []any{}
	for s.at++; !s.take("]"); s.take(",") {
		v, ok := s.value(depth + 1)
		if !ok {
			return nil, false
		}
		list = append(list, v)
	}
	return list, true
}

// skipValue goes on to the end of a member: a comma or a bracket that closes what is around it.
func (s *script) skipValue() bool {
	for open := 0; s.at < len(s.text); {
		switch c := s.text[s.at]; c {
		case '"', '\'', '`':
			s.str()
			continue
		case '{', '[', '(':
			open++
		case '}', ']', ')':
			if open--; open < 0 {
				return c == '}'
			}
		case ',':
			if open == 0 {
				return true
			}
		}
		s.at++
	}
	return false
}

// str reads a string. Of one with values in it their names are read, but no patch.
func (s *script) str() (text string, ok bool) {
	if s.at == len(s.text) || !strings.ContainsRune("\"'`", rune(s.text[s.at])) {
		return "", false
	}
	quote, filled := s.text[s.at], false
	var b strings.Builder
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == quote:
			s.at++
			return b.String(), !filled || !strings.HasPrefix(b.String(), patchLead)
		case c == '\\' && s.at+1 < len(s.text):
			s.at++
			s.escape(&b)
		case c == '$' && quote == '`' && strings.HasPrefix(s.text[s.at:], "${"):
			filled = true
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

// raw reads the string behind String.raw.
func (s *script) raw() (string, bool) {
	end := strings.IndexByte(s.text[s.at+1:], '`')
	if end < 0 {
		s.at = len(s.text)
		return "", false
	}
	text := s.text[s.at+1:][:end]
	s.at += end + 2
	return text, !strings.Contains(text, "${") || !strings.HasPrefix(text, patchLead)
}

// escapes are the letters behind a backslash, and what they stand for.
const escapes = "n\nt\tr\rb\bf\fv\v0\x00"

func (s *script) escape(b *strings.Builder) {
	c := s.text[s.at]
	if i := strings.IndexByte(escapes, c); i >= 0 && i%2 == 0 {
		b.WriteByte(escapes[i+1])
		return
	}
	n := map[byte]int{'x': 2, 'u': 4}[c]
	rest := s.text[s.at+1:]
	if n > 0 && len(rest) >= n {
		if code, err := strconv.ParseUint(rest[:n], 16, 32); err == nil {
			b.WriteRune(rune(code))
			s.at += n
			return
		}
	}
	if c == '\n' { // the line goes on
		return
	}
	_, size := utf8.DecodeRuneInString(s.text[s.at:])
	b.WriteString(s.text[s.at : s.at+size])
	s.at += size - 1
}

// word reads a name or a number; "" for none.
func (s *script) word() string {
	from := s.at
	for s.at < len(s.text) && isWord(s.text[s.at]) {
		s.at++
	}
	return s.text[from:s.at]
}

// take reads a mark behind white space, if it is there.
func (s *script) take(mark string) bool {
	from := s.at
	s.skipSpace()
	if strings.HasPrefix(s.text[s.at:], mark) {
		s.at += len(mark)
		return true
	}
	s.at = from
	return false
}

// skipSpace reads white space and comments, if there are any.
func (s *script) skipSpace() bool {
	from := s.at
	for s.at < len(s.text) {
		rest := s.text[s.at:]
		n := len(rest) - len(strings.TrimLeft(rest, " \t\r\n"))
		switch {
		case strings.HasPrefix(rest, "//"):
			n = strings.IndexByte(rest+"\n", '\n')
		case strings.HasPrefix(rest, "/*"):
			n = strings.Index(rest+"*/", "*/") + 2
		}
		if n == 0 {
			break
		}
		s.at = min(s.at+n, len(s.text))
	}
	return s.at > from
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' ||
		c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}
