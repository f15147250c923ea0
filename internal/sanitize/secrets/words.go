package secrets

import (
	"bytes"
	"iter"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// This file reads values whose name precedes them without a separator of code: in XML
// (<key>…</key>), in SQL (PASSWORD '…'), and among the arguments of calls that take one.

// elementAt reads <key>value</key>, and an element with the key in an attribute before its value.
// The end tag is at b[i]. The value may stand on a separate line.
func (s *scan) elementAt(i int) {
	b := s.b
	if i+1 >= len(b) || b[i+1] != '/' {
		return
	}
	low := max(0, i-4*maxBare)
	end := chars.RunStart(b, low, i, chars.IsSpace)
	start := chars.RunStart(b, low, end,
		func(c byte) bool { return c != '>' && c != '<' && !chars.IsSpace(c) })
	open := chars.RunStart(b, low, start, chars.IsSpace)
	if start == end || open < 2 || b[open-1] != '>' {
		return
	}
	name := trimKey(b, open-1)
	if bytes.HasSuffix(b[:name], []byte("<string")) { // in a list of properties
		if key := bytes.LastIndex(b[low:name], []byte("</key>")); key > 0 {
			name = low + key
		}
	}
	if of := nameStart(b, name); bytes.EqualFold(b[of:name], []byte("value")) && of > 1 {
		name = trimKey(b, max(low, of-1+len(bytes.TrimRight(b[:of-1], "> \r\n\t"))-len(b[:of-1])))
	}
	if kind := KeyOf(b[nameStart(b, name):name]); kind != NoKey {
		s.judge(value{start, end, true}, kind)
	}
}

// sqlAt reads PASSWORD '…' and IDENTIFIED BY '…', with the word in b[i:at].
func (s *scan) sqlAt(i, at int) {
	b := s.b
	quote := blanks(b, at)
	if !chars.StartsToken(b, i) || quote >= len(b) {
		return
	}
	if at-i == len("BY ") {
		if !bytes.Contains(bytes.ToUpper(b[max(0, i-48):i]), []byte("IDENTIFIED")) {
			return
		}
	} else if b[quote] != '\'' {
		return
	}
	s.judge(valueAfter(&s.runs, quote), strongKey)
}

// sendAt reads send "value\r" of expect, or sendline('value') of its twins, with the argument at
// b[at], if a password was asked for.
func (s *scan) sendAt(_, at int) {
	b := s.b
	if bytes.HasPrefix(b[at:], []byte("-- ")) {
		at += len("-- ")
	}
	asked := bytes.Contains(b[max(0, at-2*maxKey):at], []byte("assword"))
	if at == len(b) || !chars.IsQuote(b[at]) || !asked {
		return
	}
	v := quotedValue(b, at)
	for _, end := range [...]string{`\r`, `\n`} {
		v.end = v.start + len(bytes.TrimSuffix(b[v.start:v.end], []byte(end)))
	}
	s.given(v, false)
}

// keyedAt reads the key that makes a code of a message, a literal among the arguments at b[at].
func (s *scan) keyedAt(_, at int) {
	b := s.b
	for v := range literals(b, at, 4) {
		if bytes.IndexByte(b[at:v.start], '<') >= 0 {
			return
		}
		value := unmarked(b[v.start:v.end])
		if inQuotes.takes(value, vendorKey) || near.takes(value, strongKey) {
			s.add(v.start, v.end, weakKey.Class())
			return
		}
		at = v.end
	}
}

// literals yields at most so many literals of the arguments at b[at:], on one line.
func literals(b []byte, at, most int) iter.Seq[value] {
	return func(yield func(value) bool) {
		line := b[:lineEnd(b[:min(len(b), at+maxReach)], at)]
		for range most {
			open := chars.RunEnd(line, at, func(c byte) bool { return !chars.IsQuote(c) })
			if open == len(line) {
				return
			}
			v := quotedValue(line, open)
			if !yield(v) {
				return
			}
			at = min(v.end+1, len(line))
		}
	}
}

// resultAt reads the result of a random_password of Terraform in its state, whose type is at b[i].
func (s *scan) resultAt(i, _ int) {
	b := s.b
	high := min(len(b), i+1<<12)
	if next := bytes.Index(b[i+1:high], []byte("random_password")); next >= 0 {
		high = i + 1 + next
	}
	name := chars.IndexFrom(b[:high], i, `"result`)
	if name < 0 {
		if name = chars.IndexFrom(b[:high], i, `\"result`); name < 0 {
			return
		}
		name++
	}
	at := chars.RunEnd(b[:high], name+len(`"result`), func(c byte) bool {
		return c == '\\' || c == '"' || c == ' ' || c == ':'
	})
	if quote := bytes.LastIndexByte(b[name+1:at], '"'); quote >= 0 {
		s.given(quotedValue(b, name+1+quote), false)
	}
}
