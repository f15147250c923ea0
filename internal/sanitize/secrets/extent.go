package secrets

import (
	"bytes"
	"strings"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// value is what follows a separator: b[start:end], without its quotes.
type value struct {
	start, end int
	quoted     bool
}

// valueAfter finds the value that starts at or after i on the same line, or on the next line if
// only this value can be there; see nextLine.
func valueAfter(runs *bareRuns, i int) value {
	b := runs.b
	start := blanks(b, i)
	if bytes.HasPrefix(b[start:], []byte("**")) { // **Key:** value
		start = blanks(b, start+2)
	}
	for n := 1; n > 0; {
		n = chars.Colour(b[start:min(len(b), start+16)])
		start = blanks(b, start+n)
	}
	for _, mark := range [...]string{"&", "!!str "} { // an anchor or a type of YAML
		if bytes.HasPrefix(b[start:], []byte(mark)) {
			word := chars.RunEnd(b[:min(len(b), start+maxGap)], start+1, chars.IsURLSafe)
			if mark != "&" {
				start += len(mark)
			} else if word < len(b) && b[word] == ' ' {
				start = word + 1
			}
		}
	}
	if open := openingQuote(b, start); open >= 0 {
		for open+2 < len(b) && b[open+1] == b[open] && b[open+2] == b[open] {
			open += 2 // three quotes
		}
		return quotedValue(b, open)
	}
	if inner := unwrapped(b, start); inner > start && b[inner-1] == '[' {
		start = inner
	}
	if next, block := nextLine(b, start); next > 0 {
		if block {
			return runs.valueAt(next)
		}
		return quotedValue(b, next)
	}
	return runs.valueAt(start)
}

// nextLine returns the start of the value on the line after b[i], where the line of its key and
// separator ends. It returns 0 if there is none. The value is a literal in quotes, which source
// code formatters put on a separate line if it is long, or a block of YAML with one word in its
// first line.
func nextLine(b []byte, i int) (start int, block bool) {
	at := i
	if at < len(b) && (b[at] == '|' || b[at] == '>') {
		block = true
		if at++; at < len(b) && (b[at] == '-' || b[at] == '+') {
			at++
		}
	} else if at < len(b) && (b[at] == '(' || b[at] == '\\') {
		at++
	}
	if at < len(b) && b[at] == '\r' {
		at++
	}
	if at >= len(b) || b[at] != '\n' {
		return 0, false
	}
	start = blanks(b, at+1)
	if start >= len(b) {
		return 0, false
	}
	if !block {
		if bytes.HasPrefix(b[start:], []byte("string(")) { // as PHP dumps it
			start = blanks(b, chars.RunEnd(b, start+len("string("), chars.IsDigit)+len(")"))
		}
		if start < len(b) && chars.IsQuote(b[start]) {
			return start, false
		}
		return 0, false
	}
	end := chars.RunEnd(b, start, isBare)
	if start == at+1 || end == start || end < len(b) && b[end] != '\n' && b[end] != '\r' {
		return 0, false
	}
	return start, true
}

// blanks returns the offset after the blanks at b[i].
func blanks(b []byte, i int) int {
	return chars.RunEnd(b[:min(len(b), i+maxGap)], min(i, len(b)),
		func(c byte) bool { return c == ' ' || c == '\t' })
}

// openingQuote returns the offset of the quote that opens a literal at start, or -1. Backslashes
// (text quoted inside text), one or two letters (string prefixes), or a common conversion of source
// code may precede it.
func openingQuote(b []byte, start int) int {
	at := start
	for range 3 {
		at = unwrapped(b, at)
	}
	if at == start {
		for n := 0; n < 2 && at < len(b) && (chars.IsLetter(b[at]) || b[at] == '@'); n++ {
			at++
		}
	}
	at = chars.RunEnd(b, at, isBackslash)
	if at < len(b) && chars.IsQuote(b[at]) {
		return at
	}
	return -1
}

// unwrapped returns the offset after the name and the bracket of what makes a value of a literal,
// or start: Some("…"), std::string("…"), (*string)("…"), Just "…", Optional[…].
func unwrapped(b []byte, start int) int {
	for _, w := range [...]string{"[]byte(", "(*string)("} {
		if bytes.HasPrefix(b[start:], []byte(w)) {
			return start + len(w)
		}
	}
	end := chars.RunEnd(b[:min(len(b), start+maxGap)], start, func(c byte) bool {
		return chars.IsDotted(c) || c == ':'
	})
	if end == start || end+1 >= len(b) {
		return start
	}
	name := strings.ToLower(string(b[start:end]))
	name = name[strings.LastIndexAny(name, ".:")+1:]
	switch name {
	case "some", "just", "optional", "option":
		if b[end] == ' ' || b[end] == '[' {
			return end + 1
		}
	case "ok", "of", "maybe", "right", "present", "string", "byte", "from", "str", "secretstr",
		"secretstring", "secret", "securestring", "sensitive", "password", "redacted", "toptr",
		"ptr", "new":
	default:
		return start
	}
	if b[end] == '(' && b[end+1] != ')' {
		return end + 1
	}
	return start
}

// quotedValue reads the literal whose opening quote is at open. It ends at the same quote with no
// more backslashes before it than the opening one has, or at the end of the line. The backslashes
// of the closing quote do not belong to it.
func quotedValue(b []byte, open int) value {
	depth := slashes(b, open)
	for i := open + 1; ; i++ {
		if i >= len(b) || b[i] == '\n' || b[i] == '\r' {
			return value{open + 1, i, true}
		}
		if b[i] != b[open] {
			continue
		}
		n := slashes(b, i)
		if n <= depth || depth == 0 && n%2 == 0 {
			return value{open + 1, i - min(n, depth), true}
		}
	}
}

// slashes counts the backslashes before b[i].
func slashes(b []byte, i int) int {
	return i - chars.RunStart(b, 0, i, isBackslash)
}

// bareRuns finds unquoted values. It remembers the end of the last run, so that a long run with
// many keys is read once and not once per key.
type bareRuns struct {
	b          []byte
	from, stop int // every value that starts in [from, stop] ends at stop
}

// valueAt reads the unquoted value at start. A comma, semicolon or ampersand ends it if another key
// follows. Closing punctuation does not belong to it.
func (r *bareRuns) valueAt(start int) value {
	if start < r.from || start > r.stop || r.stop == 0 {
		r.from, r.stop = start, start
		for r.stop < len(r.b) && isBare(r.b[r.stop]) && !endsBare(r.b, r.stop) {
			r.stop++
		}
	}
	return value{start, trimClosers(r.b, start, r.stop), false}
}

// isBare is the alphabet of unquoted values.
func isBare(c byte) bool {
	return !chars.IsSpace(c) && !chars.IsQuote(c) && c != '<' && c != '>' && c != '|' && c != '\\'
}

// endsBare reports whether a value ends before b[i] although b[i] is in its alphabet, because
// another pair or a colour sequence follows.
func endsBare(b []byte, i int) bool {
	switch b[i] {
	case '[':
		return chars.Colour(b[i:min(len(b), i+16)]) > 0
	case '%':
		return bytes.HasPrefix(b[i:], []byte("%26"))
	case ',', ';', '&':
		name := chars.RunEnd(b[:min(len(b), i+1+maxKey)], i+1, chars.IsDotted)
		return name > i+1 && name < len(b) && (b[name] == '=' || b[name] == ':' || b[name] == '%')
	}
	return false
}

// trimClosers returns end without the closing punctuation before it. It keeps the bracket that
// closes a marker.
func trimClosers(b []byte, start, end int) int {
	for end > start && bytes.IndexByte([]byte(",;.)}]:&"), b[end-1]) >= 0 {
		if b[end-1] == markClose && closesMarker(b[max(start, end-40):end]) {
			return end
		}
		end--
	}
	return end
}

// closesMarker reports whether b, which ends in a bracket, ends in a marker.
func closesMarker(b []byte) bool {
	i := bytes.LastIndex(b, []byte(markOpen))
	return i >= 0 && bytes.IndexByte(b[i:], markClose) == len(b)-i-1
}
