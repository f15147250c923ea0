package secrets

import (
	"bytes"
	"strings"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// This file finds secrets in files of a known form, in which no name says what is secret.

// netrcAt reads "login NAME password SECRET", in one line or several, with the first word at b[i].
// Behind the name of a machine every password is one; elsewhere "login with password only" is
// prose.
func (s *scan) netrcAt(i, _ int) {
	b := s.b
	at := i + len("login ")
	user := chars.RunEnd(b, at, chars.NotSpace)
	word := chars.RunEnd(b, user, isGap)
	for bytes.HasPrefix(b[word:], []byte(`\n`)) {
		word = chars.RunEnd(b, word+2, isGap)
	}
	if !chars.StartsToken(b, i) || !bytes.HasPrefix(b[word:], []byte("password ")) {
		return
	}
	start := blanks(b, word+len("password "))
	end := chars.RunEnd(b, start, isBare)
	ofMachine := bytes.Contains(b[max(0, i-256):i], []byte("machine ")) ||
		bytes.Contains(b[max(0, i-16):i], []byte("default"))
	if v := unmarked(b[start:end]); len(v) > 0 && !standIn(v) &&
		(ofMachine || bare.takes(v, strongKey)) {
		s.add(start, end, "password")
	}
	s.past[netrcRule] = end
}

// isGap is the alphabet between two words of such a file, which may be shown in a diff or quoted.
func isGap(c byte) bool { return chars.IsSpace(c) || c == '+' || c == '-' || c == '>' }

// pgpassAt reads host:port:database:user:password, with the first colon at b[i].
func (s *scan) pgpassAt(i int) {
	b := s.b
	at := i + 1
	if at >= len(b) || !chars.IsDigit(b[at]) && b[at] != '*' || i < s.past[pgpassRule] {
		return
	}
	port := chars.RunEnd(b[:min(len(b), at+6)], at, func(c byte) bool {
		return chars.IsDigit(c) || c == '*'
	})
	if port-at < 1 || port-at > 5 || port >= len(b) || b[port] != ':' ||
		port-at < 4 && b[at] != '*' ||
		b[at] == '0' {
		return
	}
	start := chars.RunStart(b, s.past[pgpassRule], i, isPgField)
	if start == i || start > 0 && b[start-1] == ':' || isNumbered(b, start, i, port+1) {
		return
	}
	database := chars.RunEnd(b, port+1, isPgField)
	if database == port+1 || database >= len(b) || b[database] != ':' {
		return
	}
	user := chars.RunEnd(b, database+1, isPgField)
	if user == database+1 || user >= len(b) || b[user] != ':' ||
		chars.RunEnd(b, database+1, chars.IsDigit) == user {
		return
	}
	end := s.runs.valueAt(user + 1).end
	// an IPv6 address has more colons
	if v := unmarked(b[user+1 : end]); bytes.IndexByte(v, ':') < 0 && bare.takes(v, strongKey) {
		s.add(user+1, end, "password")
		s.past[pgpassRule] = end
	}
}

// isNumbered reports whether b[start:end] is the name of a file and not of a host, so that the
// number after it is that of a line, whose text begins at text: grep -n prints lines so. A text
// that begins with four digits and a dash begins with a date.
func isNumbered(b []byte, start, end, text int) bool {
	if start > 0 && b[start-1] == '/' {
		root := chars.RunStart(b, 0, start, func(c byte) bool { return isPgField(c) || c == '/' })
		if b[root] != '/' {
			return true // a relative path; a socket has an absolute one
		}
	}
	year := chars.RunEnd(b[:min(len(b), text+4)], text, chars.IsDigit)
	return isFileName(string(b[start:end])) || year == text+4 && year < len(b) && b[year] == '-'
}

func isPgField(c byte) bool { return chars.IsDotted(c) || c == '*' }

// puttyAt finds the private lines of a PuTTY key, whose head is at b[i].
func (s *scan) puttyAt(i, _ int) {
	digits := chars.RunEnd(s.b, i+len("Private-Lines: "), chars.IsDigit)
	start := lineStart(s.b, digits)
	if end := base64Lines(s.b, digits); end > start {
		s.add(start, end, "pem")
		s.past[puttyRule] = end
	}
}

// manifestAt finds the data of a Kubernetes Secret in YAML, whose keys need not name secrets, with
// "kind: " at b[i].
func (s *scan) manifestAt(i, _ int) {
	rest := s.b[i+len("kind: "):]
	if bytes.HasPrefix(rest, []byte(`Secret\n`)) || bytes.HasPrefix(rest, []byte(`Secret\\n`)) {
		s.seen.escaped = true
	}
	s.found = manifest(s.found, s.b, i)
}

// documentAt finds the data of a Kubernetes Secret in JSON, with what follows "kind" at b[at].
func (s *scan) documentAt(_, at int) {
	b := s.b
	if at = openQuote(b, chars.RunEnd(b, at, func(c byte) bool {
		return c == ':' || c == ' '
	})); !bytes.HasPrefix(b[at:], []byte(`Secret"`)) {
		return
	}
	low, high := max(0, at-1<<16), min(len(b), at+1<<16)
	for _, name := range [...]string{`"data":`, `"stringData":`} {
		open := bytes.LastIndex(b[low:at], []byte(name))
		if open < 0 {
			open = bytes.Index(b[at:high], []byte(name)) + at - low
		}
		open = blanks(b, low+open+len(name))
		if open < at-1<<16 || open >= len(b) || b[open] != '{' {
			continue
		}
		for key := range strings.SplitSeq(string(b[open+1:open+1+max(0,
			bytes.IndexByte(b[open+1:], '}'))]), ",") {
			_, value, _ := strings.Cut(key, ":")
			if v := strings.Trim(value, " \n\""); len(v) >= 4 && !standIn([]byte(v)) {
				from := open + bytes.Index(b[open:], []byte(v))
				s.add(from, from+len(v), "secret")
			}
		}
	}
}

func manifest(found []Found, b []byte, i int) []Found {
	at := chars.RunEnd(b, i+len("kind: "), chars.IsQuote)
	word := min(len(b), at+len("Secret"))
	if !bytes.EqualFold(b[at:word], []byte("Secret")) {
		return found
	}
	if word < len(b) && !chars.IsSpace(b[word]) && !chars.IsQuote(b[word]) {
		return found
	}
	line := bytes.LastIndexByte(b[:i], '\n') + 1
	lead := b[line:i] // indentation, or the sign of a diff
	if len(lead) > 32 {
		return found
	}
	low, high := max(0, i-1<<16), min(len(b), i+1<<16)
	if j := bytes.LastIndex(b[low:i], []byte("---")); j >= 0 {
		low += j
	}
	if j := bytes.Index(b[i:high], []byte("\n---")); j >= 0 {
		high = i + j
	}
	for _, word := range [...]string{"data:\n", "stringData:\n"} {
		section := append(append([]byte("\n"), lead...), word...)
		if j := bytes.Index(b[low:high], section); j >= 0 {
			found = dataValues(found, b[:high], low+j+len(section), lead)
		} else if bytes.HasPrefix(b[low:high], section[1:]) {
			found = dataValues(found, b[:high], low+len(section)-1, lead)
		}
	}
	return found
}

// dataValues returns the values of the lines from at on that are indented more than lead. A value
// follows its key on the same line, or is on the lines below, indented more than its key.
func dataValues(found []Found, b []byte, at int, lead []byte) []Found {
	block := 0 // indentation of the key whose value is below it
	for at < len(b) {
		end := lineEnd(b, at)
		line := b[at:end]
		if !bytes.HasPrefix(line, lead) || len(line) == len(lead) ||
			line[len(lead)] != ' ' && line[len(lead)] != '\t' {
			return found
		}
		inner := len(lead) + len(line[len(lead):]) - len(bytes.TrimLeft(line[len(lead):], " \t"))
		from, to := trimCell(line, inner, len(line))
		colon := bytes.Index(line, []byte(": "))
		switch {
		case block > 0 && inner > block:
		case colon > 0 && line[inner] != '#':
			block = 0
			from, to = trimCell(line, colon+2, len(line))
			if v := line[from:to]; len(v) > 0 && (v[0] == '|' || v[0] == '>') {
				block = inner
				from = to
			}
		default:
			from = to
		}
		least := 10
		if colon > 0 && KeyOf(line[:colon]) != NoKey {
			least = 4
		}
		if v := unmarked(line[from:to]); len(v) >= least && !standIn(v) &&
			!bytes.ContainsAny(v, " |") {
			found = append(found, Found{"secret", at + from, at + to})
		}
		at = end + 1
	}
	return found
}

// signatureAt finds the signature in an address that anybody may use who has it: at b[i] sig= of an
// Azure SAS, or that of a presigned URL of S3, CloudFront or Google, in base64 or hexadecimal
// digits, percent-encoded or not.
func (s *scan) signatureAt(i, _ int) {
	b := s.b
	class, least := "azure", 40
	switch {
	case b[i] == 's':
		if i == 0 || !bytes.ContainsRune([]byte("&?; "), rune(b[i-1])) {
			return
		}
	case b[i] == 'S': // of CloudFront and older ones of S3
		least = 27 // of 20 bytes
		if class = "aws"; i == 0 || b[i-1] != '&' && b[i-1] != '?' {
			return
		}
	case b[i+2] == 'A':
		class = "aws"
	default:
		class = "google"
	}
	start := i + bytes.IndexByte(b[i:], '=') + 1
	end := chars.RunEnd(b, start, func(c byte) bool {
		return chars.IsBase64(c) || c == '%' || c == '-' || c == '_' || c == '~'
	})
	s.past[signatureRule] = end
	if bytes.Contains(b[lineStartOf(b, i):i], []byte("?sv=")) {
		least = 16
	}
	if end-start >= least {
		s.add(start, end, class)
	}
}
