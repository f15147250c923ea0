package secrets

import (
	"bytes"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// This file reads what somebody gives to a server that asks who they are.

// openQuote returns what follows the blanks and the quotation mark at b[i].
func openQuote(b []byte, i int) int {
	if i = blanks(b, i); i < len(b) && chars.IsQuote(b[i]) {
		i++
	}
	return i
}

// authAt reads the command of a protocol with which somebody shows who they are, as Redis, SMTP,
// IMAP, FTP and NickServ have it: its last argument, where the line begins with it or a prompt, a
// tag or the name of who hears it stands before it.
func (s *scan) authAt(i, at int) {
	b := s.b
	isPass := string(b[i:at]) == "PASS "
	before := bytes.TrimRight(b[lineStartOf(b, i):i], " ")
	if len(before) > 24 || bytes.IndexByte(before, '"') >= 0 || !chars.StartsToken(b, i) ||
		isPass && len(before) > 3 {
		return
	}
	end := chars.RunEnd(b, at, func(c byte) bool {
		return c != '\n' && c != '\r' && c != '\\'
	})
	words := bytes.Fields(b[at:end])
	if len(words) == 0 || len(words) > 2 || isPass && len(words) > 1 {
		return
	}
	v := bytes.Trim(words[len(words)-1], `"`)
	sure := len(before) == 0 && Judge(v, false, strongKey) && bytes.IndexByte(v, '/') < 0
	if sure || said.takesIn(v, strongKey, b[lineStartOf(b, i):end]) {
		start := at + bytes.LastIndex(b[at:end], v)
		s.add(start, start+len(v), strongKey.Class())
	}
}

// fieldAt reads a field of a form that was sent in parts, whose name is at b[at].
func (s *scan) fieldAt(_, at int) {
	b := s.b
	at = openQuote(b, at)
	end := chars.RunEnd(b, at, chars.IsDotted)
	kind := KeyOf(b[at:end])
	line := lineEnd(b, end)
	if at = lineEnd(b, line+1) + 1; kind != NoKey && at < len(b) &&
		len(bytes.TrimSpace(b[line:at])) == 0 {
		stop := chars.RunEnd(b, at, chars.NotSpace)
		s.judge(value{at, stop, true}, kind)
	}
}

// wordsAt reads the words of a wallet behind what names them: 12 or more of a list, each of three
// to eight letters, on the same line or the next.
func (s *scan) wordsAt(_, at int) {
	b := s.b
	for _, from := range [...]int{at, lineEnd(b, at) + 1} {
		end := lineEnd(b[:min(len(b), from+4*maxKey)], min(from, len(b)))
		if colon := bytes.LastIndexAny(b[min(from, end):end], ":="); colon >= 0 {
			from += colon + 1
		}
		from, to := trimCell(b, min(from, end), end)
		n := 0
		for word := range bytes.SplitSeq(b[from:to], []byte(" ")) {
			if n++; len(word) < 3 || len(word) > 8 || !chars.Only(word, chars.IsLower) {
				n = -24
			}
		}
		if n >= 12 && n%3 == 0 {
			s.add(from, to, weakKey.Class())
			return
		}
	}
}
