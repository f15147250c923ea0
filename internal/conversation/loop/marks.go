package loop

import (
	"strings"
	"unicode"
)

// marks reads the structure of text, one character at a time: fences, and what a line begins with.
// Its zero value is at the beginning of a line.
type marks struct {
	Code  bool `json:"code,omitempty"`  // in a code block
	Ticks int  `json:"ticks,omitempty"` // backticks that came last, 0 to 2
	State int  `json:"state,omitempty"` // one of the states below
	// What the line begins with, without white space; as long as it may become a mark
	Begin string `json:"begin,omitempty"`
	// It is not the line that begins, but a delta in it; never between deltas
	Soft bool `json:"-"`
}

// Where in a line the text is.
const (
	lineBegins = iota // Begin may become a mark
	lineGoesOn        // it has none, or had it
	lineBars          // it begins with a bar: another makes it a row of a table
	lineRules         // it is a divider, as long as it goes on like that
	lineStates
)

// maxBegin is how long the beginning of a line can be without being decided: the digits of a
// numbered list, or the marks of a heading.
const maxBegin = 10

// ruleLength is from how many marks in a row on a divider is one.
const ruleLength = 3

// deltaBegins has a delta that begins within a line looked at as a line's beginning.
func (m *marks) deltaBegins() {
	if m.State == lineGoesOn {
		m.State, m.Begin, m.Soft = lineBegins, "", true
	}
}

// deltaEnds has what is undecided decided, unless it is a line that has begun.
func (m *marks) deltaEnds() {
	if m.Soft && (m.State == lineBegins || m.State == lineBars) {
		m.State, m.Begin = lineGoesOn, ""
	}
	m.Soft = false
}

// next takes a character. begins says that a structure begins with it, so that what was said before
// counts no more; said that the character is text that is compared.
func (m *marks) next(r rune) (said, begins bool) {
	if m.fence(r) {
		return false, true
	}
	if r == '\n' {
		begins = m.State == lineBegins && isMark(m.Begin)
		m.State, m.Begin, m.Soft = lineBegins, "", false
		return !m.Code, begins
	}
	if m.Code {
		m.State = lineGoesOn
		return false, false
	}
	switch m.State {
	case lineBegins:
		begins = m.begin(r)
		return m.State != lineRules, begins
	case lineBars:
		if begins = r == '|'; begins {
			m.State = lineGoesOn
		}
	case lineRules:
		if isRule(r) {
			return false, false
		}
		m.State = lineGoesOn
	}
	return true, begins
}

// fence counts backticks: each three in a row begin or end a code block.
func (m *marks) fence(r rune) bool {
	if r != '`' {
		m.Ticks = 0
		return false
	}
	if m.Ticks++; m.Ticks < 3 {
		return false
	}
	m.Ticks, m.Code = 0, !m.Code
	m.State, m.Begin = lineGoesOn, ""
	return true
}

// begin takes a character of a line's beginning and reports whether it makes a mark.
func (m *marks) begin(r rune) bool {
	space := unicode.IsSpace(r)
	if m.Begin == "" && space {
		return false
	}
	had := m.Begin
	m.Begin += string(r)
	length := len([]rune(m.Begin))
	switch {
	case allRules(m.Begin):
		if length < ruleLength {
			return false
		}
		m.State, m.Begin = lineRules, ""
		return true
	case strings.HasPrefix(had, "||"):
		m.State, m.Begin = lineGoesOn, ""
		return true
	case strings.HasPrefix(had, "|"):
		m.State, m.Begin = lineBars, ""
	case space:
		m.State, m.Begin = lineGoesOn, ""
		return isMark(had)
	case length > maxBegin || !mayBeMark(m.Begin):
		m.State, m.Begin = lineGoesOn, ""
	}
	return false
}

// isMark reports whether a line that begins with s and a space is an item of a list, a heading or a
// quote.
func isMark(s string) bool {
	if n := digits(s); n > 0 {
		return s[n:] == "." || s[n:] == ")"
	}
	return s == "*" || s == "-" || s == "+" || s == ">" || s != "" && hashes(s) == len(s)
}

// mayBeMark reports whether more characters can make a mark of s.
func mayBeMark(s string) bool {
	if n := digits(s); n > 0 {
		return n == len(s) || isMark(s)
	}
	return isMark(s)
}

func digits(s string) int { return run(s, func(c byte) bool { return c >= '0' && c <= '9' }) }
func hashes(s string) int { return run(s, func(c byte) bool { return c == '#' }) }

func run(s string, is func(byte) bool) (n int) {
	for n < len(s) && is(s[n]) {
		n++
	}
	return n
}

// isRule knows the characters of dividers and of the lines of tables.
func isRule(r rune) bool {
	switch r {
	case '-', '=', '_', '*', '+', '|':
		return true
	}
	return r >= 0x2500 && r <= 0x257f
}

func allRules(s string) bool {
	for _, r := range s {
		if !isRule(r) {
			return false
		}
	}
	return true
}
