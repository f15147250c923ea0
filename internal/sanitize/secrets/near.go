package secrets

import (
	"bytes"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// This file asks two questions where no rule knows the form of a text: is a word that tells of a
// secret in reach, and does a value there look like one that a person or a generator made?

// maxReach is the number of bytes behind a telling word in which a made value is a secret.
const maxReach = 160

// nearAt adds the made values in reach of the telling word b[i:end].
func (s *scan) nearAt(i, end int) {
	kind := KeyOf(s.b[nameStart(s.b, end):end])
	switch {
	case inMarker(s.b, i, end), end < len(s.b) && s.b[end] == '-':
	case kind == NoKey && end-i == len("pass"):
		s.madeNear(i, end, strongKey)
	case kind == strongKey, kind == weakKey:
		s.madeNear(i, end, kind)
	}
}

// madeNear adds the made values behind the telling word b[i:end] on its line, before it if the line
// is a sentence, and alone on the next line or the one after an empty line.
func (s *scan) madeNear(i, end int, kind Key) {
	b := s.b
	if end < s.past[nearRule] {
		return // the line was read
	}
	low, stop := lineStartOf(b, i), lineEnd(b[:min(len(b), end+maxReach)], end)
	if bytes.Contains(b[low:stop], []byte("ENC[")) { // encrypted by SOPS
		return
	}
	s.past[nearRule] = stop
	at := end
	if kind == strongKey && stop-low < maxReach && !bytes.ContainsAny(b[low:stop], `(){}[];=<>\"`) {
		at = low
	}
	line := b[low:stop]
	for at < stop {
		var from, to int
		from, to, at = nextWord(b, at, stop)
		compared := bytes.HasSuffix(b[:from], []byte("== "))
		if !compared && secretNear(b[from:to], kind, line) {
			s.add(from, to, kind.Class())
		}
	}
	next := stop + len("\n")
	if next >= len(b) || b[stop] != '\n' || end-i == len("pass") && kind == strongKey {
		return // to pass is a verb, too
	}
	if b[next] == '\n' && b[stop-1] == ':' && next+1 < len(b) && !chars.IsQuote(b[next+1]) {
		next++
	}
	last := lineEnd(b[:min(len(b), next+maxReach)], next)
	if bytes.HasPrefix(b[next:last], []byte("2) ")) { // Redis numbers what it prints
		next += len("2) ")
	}
	from, to, _ := nextWord(b, next, last)
	if v := b[from:to]; len(v) < 64 && len(v)+4 > last-next && secretNear(v, kind, line) {
		s.add(from, to, kind.Class())
	}
}

// secretNear decides whether v is a secret near a telling word in a line. Where the line tells of
// digests, what has the length of one is one.
func secretNear(v []byte, kind Key, line []byte) bool {
	switch made := isMade(v); {
	case !made && !isPlainHex(v):
		return false
	case made && kind != strongKey && len(v) < 16 && !isHandmade(v, chars.Measure(v)):
		return false
	case made && len(v) != 43 && len(v) != 44 && len(v) < 64:
		return true
	}
	return !tellsDigest(line)
}

// nextWord returns the next word of b[at:stop] without punctuation, and where to go on.
func nextWord(b []byte, at, stop int) (from, to, next int) {
	from = chars.RunEnd(b[:stop], at, endsWord)
	next = chars.RunEnd(b[:min(len(b), from+2*maxBare)], from, func(c byte) bool {
		return !endsWord(c)
	})
	return from, trimClosers(b, from, next), next
}

func endsWord(c byte) bool {
	return chars.IsSpace(c) || chars.IsQuote(c) ||
		bytes.IndexByte([]byte("()[]{}<>|,;:=\\"), c) >= 0
}

// tellsDigest reports whether a line says something of digests.
func tellsDigest(line []byte) bool {
	line = bytes.ToLower(line)
	for _, w := range [...]string{"hash", "digest", "md5", "sha", "checksum", "commit", " id",
		"salt", "h1:", "integrity"} {
		if bytes.Contains(line, []byte(w)) {
			return true
		}
	}
	return false
}

// isPlainHex reports whether v is 32 hexadecimal digits, which a password or a digest may be.
func isPlainHex(v []byte) bool {
	return len(v) == 32 && lowerHex(v) && chars.Measure(v).Mixed() && !chars.Stencil(v)
}

// isMade reports whether a value looks like one that a person or a generator made to be secret.
func isMade(v []byte) bool {
	if len(v) < 8 || len(v) > maxBare || standIn(v) {
		return false
	}
	m := chars.Measure(v)
	return isHandmade(v, m) || isGenerated(v, m)
}

// isHandmade reports whether v is of letters in both cases, a digit and a sign, as people make
// passwords that a rule takes.
func isHandmade(v []byte, m chars.Counts) bool {
	signs := len(v) - m.Letters - m.Digits
	if signs == 1 { // within a value an operator of code
		v = bytes.TrimRight(v, "%^&*~+?")
	}
	return len(v) >= 8 && len(v) <= 40 && signs > 0 && signs <= 3 && m.Digits > 0 &&
		chars.IsAlnum(v[0]) && hasBothCases(v) && chars.Only(v, func(c byte) bool {
		return chars.IsAlnum(c) || bytes.IndexByte([]byte("!@#$"), c) >= 0
	})
}

// isGenerated reports whether v was drawn by lot, and is no UUID, digest, path or name.
func isGenerated(v []byte, m chars.Counts) bool {
	drawn := m.Digits >= 3 && m.Switches >= 3 || m.Digits >= 2 && len(v) >= 16 && m.UnlikeWords()
	return drawn && len(v) >= 12 && !bytes.HasPrefix(v, []byte("0x")) &&
		(m.Turns+m.Switches)*3 >= len(v) && hasBothCases(v) &&
		chars.Only(v, chars.IsCredential) && !chars.Only(v, chars.IsHex) && !chars.Stencil(v) &&
		!pathOfWords(v) && !wordsAndNumbers(v) && !camelWords(v)
}

func hasBothCases(v []byte) bool {
	return bytes.ContainsFunc(v, func(r rune) bool { return r >= 'a' && r <= 'z' }) &&
		bytes.ContainsFunc(v, func(r rune) bool { return r >= 'A' && r <= 'Z' })
}
