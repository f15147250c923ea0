package secrets

import (
	"bytes"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// This file reads passwords that a sentence, a prompt or a test announces with words between: the
// password for bob is …, [sudo] password for bob: …, fill("#password", "…").

// maxAnnounced is the number of bytes between a word for a password and the end of its value.
const maxAnnounced = 160

// links end what stands between a word for a password and its value.
var links = [...]string{":", " is", " to", "→", "->", "=>", ">", "|", " as"}

// announcedAt reads the value at the end of the line in which a word for a password ends at end, or
// one for credentials, which are a user, a slash and a password.
func (s *scan) announcedAt(end int, credentials bool) {
	b := s.b
	stop := lineEnd(b[:min(len(b), end+maxAnnounced)], end)
	if stop-end >= maxAnnounced || stop < s.past[announcedRule] {
		return
	}
	line := bytes.TrimRight(b[end:stop], " \r.,;'\"`*)]\\")
	at := bytes.LastIndexAny(line, " \t|>\"'`") + 1
	lead := bytes.TrimRight(line[:at], " \t\"'`*\\([")
	v := line[at:]
	if len(lead) == 0 && !credentials || bytes.ContainsAny(lead, "={};$+\t") ||
		bytes.IndexByte(lead, '|') >= 0 && bytes.IndexByte(lead, '|') < len(lead)-1 {
		return
	}
	if slash := bytes.IndexByte(v, '/'); credentials && slash > 0 {
		if m := chars.Measure(v[slash+1:]); m.Switches < 3 && m.Symbols == 0 {
			return // the name of a file
		}
		lead, at, v = append(lead[:len(lead):len(lead)], " to"...), at+slash+1, v[slash+1:]
	} else if credentials && bytes.HasSuffix(lead, []byte("/")) {
		lead = append(lead[:len(lead)-1:len(lead)-1], " to"...)
	}
	for _, link := range links {
		if bytes.HasSuffix(lead, []byte(link)) &&
			(announcedSecret(v) || isPlainHex(v) && !tellsDigest(b[lineStartOf(b, end):stop])) {
			s.add(end+at, end+at+len(v), strongKey.Class())
			s.past[announcedRule] = stop
			return
		}
	}
}

// accountAt reads the password of a connection: the last literal among the arguments at b[at] that
// is one, behind that of the user.
func (s *scan) accountAt(at int) {
	n := 0
	var found value
	for v := range literals(s.b, at, 5) {
		if n++; n > 1 && Judge(s.b[v.start:v.end], true, strongKey) {
			found = v
		}
	}
	if found.end > 0 {
		s.add(found.start, found.end, strongKey.Class())
	}
}

// shownAt reads what a command has printed below the line with the prompt of a shell, whose words
// begin at b[at].
func (s *scan) shownAt(at int) {
	b := s.b
	end := lineEnd(b[:min(len(b), at+maxLiteral)], at)
	next := lineEnd(b[:min(len(b), end+1+maxLiteral)], min(end+1, len(b)))
	if next <= end+1 || bytes.HasPrefix(b[end+1:], []byte("$ ")) {
		return
	}
	words := strings.Fields(string(b[at:end]))
	if pipe := slices.Index(words, "|"); pipe > 0 {
		words = words[:pipe]
	}
	for _, v := range PrintedBy(words).Values(string(b[end+1 : next])) {
		if from := bytes.Index(b[end+1:next], []byte(v)); from >= 0 {
			s.add(end+1+from, end+1+from+len(v), strongKey.Class())
		}
	}
}

// announcedSecret decides whether a word that prose announces as a password is one, and no number,
// time, version, name, path or digest.
func announcedSecret(v []byte) bool {
	v = unmarked(v)
	if len(v) < 6 || !bareSecret(strongKey, v) || pathOfWords(v) || wordsAndNumbers(v) ||
		camelWords(v) || lowerHex(v) || chars.IsUUID(v) {
		return false
	}
	m := chars.Measure(v)
	number := chars.RunEnd(v, 0, func(c byte) bool {
		return chars.IsDigit(c) || bytes.IndexByte([]byte(".:-/+,vT"), c) >= 0
	})
	return m.Mixed() && len(v)-number > 2 && bytes.IndexByte(v, '/') < 0 &&
		!(bytes.IndexByte(v, '.') >= 0 && chars.Only(v, chars.IsDotted))
}

// fills are words of what types into a field of a page or a form.
var fills = [...]string{"fill", "type", "send", "with", "set", "enter", "input"}

// filledAt reads the literal that a test types into the field that a literal names, in which a word
// for a password ends at end.
func (s *scan) filledAt(end int) {
	b := s.b
	stop := lineEnd(b[:min(len(b), end+maxAnnounced)], end)
	quote := chars.RunEnd(b[:stop], end, func(c byte) bool { return c == ']' || c == '\\' })
	if quote == stop || !chars.IsQuote(b[quote]) {
		return
	}
	open := chars.RunEnd(b[:stop], quote+1, func(c byte) bool { return !chars.IsQuote(c) })
	between := bytes.ToLower(b[max(lineStartOf(b, end), end-maxKey):open])
	if open == stop || open > quote+32 || bytes.ContainsAny(b[quote+1:open], ";{}") {
		return
	}
	for _, verb := range fills {
		if bytes.Contains(between, []byte(verb)) {
			v := quotedValue(b, open)
			if v.end < stop && Judge(b[v.start:v.end], true, strongKey) &&
				!pathOfWords(b[v.start:v.end]) {
				s.add(v.start, v.end, strongKey.Class())
			}
			return
		}
	}
}
