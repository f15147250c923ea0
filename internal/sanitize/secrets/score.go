package secrets

import (
	"bytes"
	"strings"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// This file has the one decision of the package: a value is a secret if its making, as far as it
// can be told, is enough for the place where it stands and for the word that tells of it.

// making is how a value was made, in the order in which it speaks for a secret.
type making uint8

const (
	standsIn making = iota // a mask, a placeholder, a variable, a path, the name of a secret, code
	term                   // a word or a number, which only the place can make a secret
	named                  // a name with a digit or a sign, such as a path, a type or a version
	digits                 // hexadecimal digits or a UUID, which secrets and digests share
	mixed                  // letters with digits or signs, no name: a password of a person
	token                  // letters and digits in turn, or letters unlike words
	drawn                  // letters and digits of a length and mixture that only lots have
	handmade               // both cases, a digit and a sign, as rules for passwords want it
)

// place is where a value stands.
type place uint8

const (
	inQuotes place = iota // a literal under a key
	bare                  // a value under a key without quotes, which may be code
	setting               // the value of NAME=value, which is no code
	argument              // a value beside a flag or a name in a command
	only                  // a value where nothing but a secret stands
	said                  // a word that a sentence or a prompt announces
	near                  // a word in reach of a telling word
	below                 // a word alone on the line below a telling word
	numPlaces
)

// need is the least that makes a value a secret: its making and its length. At a place where hex
// is not 0, as many hexadecimal digits are enough, too.
type need struct {
	making     making
	least, hex int
}

// never is a need that no value meets.
var never = need{making: handmade + 1}

// needs has a row for each place: what a password needs, a token, a "key", and what stands beside
// the name of a vendor. The numbers are those with which the vectors of gitleaks and the shapes of
// the tests are found, while Go's own source has less than two findings in a megabyte.
var needs = [numPlaces][4]need{
	inQuotes: {{named, 5, 0}, {token, 8, 8}, {drawn, 20, 32}, {token, 16, 16}},
	bare:     {{named, 6, 0}, {token, 8, 8}, {drawn, 20, 32}, {token, 16, 16}},
	setting:  {{term, 6, 6}, {token, 8, 8}, {drawn, 20, 32}, {token, 16, 16}},
	argument: {{named, 4, 0}, {token, 8, 8}, {drawn, 20, 32}, {token, 16, 16}},
	only:     {{term, 4, 4}, {term, 4, 4}, {term, 4, 4}, {term, 4, 4}},
	said:     {{mixed, 6, 32}, {drawn, 12, 32}, never, {token, 16, 16}},
	near:     {{drawn, 12, 32}, {drawn, 16, 32}, never, {drawn, 12, 20}},
	below:    {{drawn, 12, 32}, {drawn, 16, 32}, never, never},
}

// takes reports whether v, which stands at this place under a key of this kind, is a secret.
func (p place) takes(v []byte, kind Key) bool { return p.takesIn(v, kind, nil) }

// takesIn is takes for a value in a line that may tell of digests.
func (p place) takesIn(v []byte, kind Key, line []byte) bool {
	column := columns[kind]
	if column < 0 {
		return kind == authKey && userAndPassword(v)
	}
	if scheme, credential, ok := bytes.Cut(v, []byte(" ")); ok && kind == headerKey {
		return isCredentialOf(string(scheme), credential, true)
	}
	n := needs[p][column]
	if len(v) < min(n.least, 8) || n == never || p >= said && len(v) > maxBare {
		return false
	}
	made := makingOf(v, p == bare || p >= said)
	switch {
	case made == handmade && p >= said:
		return true
	case len(v) < n.least, kind == vendorKey && !chars.Only(v, chars.IsCredential),
		made == drawn && p >= said && !hasBothCases(v):
		return false
	case made == digits && n.making > digits,
		made == token && kind == vendorKey && p == near:
		return n.hex > 0 && hexLength(v) >= n.hex &&
			(p < said || kind == vendorKey || (p == said || len(v) == n.hex) && !tellsDigest(line))
	case p == said && made < handmade && isMeasure(v):
		return false
	case made == drawn && p >= said && (len(v) == 43 || len(v) == 44 || len(v) >= 64):
		return n.making <= drawn && !tellsDigest(line)
	}
	return made >= n.making
}

// columns has the column of each kind of key in needs.
var columns = [...]int{strongKey: 0, userKey: 0, weakKey: 1, headerKey: 1, plainKey: 2,
	vendorKey: 3, NoKey: -1, authKey: -1}

// isMeasure reports whether v is a path, or a number, a time or a version with at most two letters.
func isMeasure(v []byte) bool {
	number := chars.RunEnd(v, 0, func(c byte) bool {
		return chars.IsDigit(c) || bytes.IndexByte([]byte(".:-/+,vT"), c) >= 0
	})
	return len(v)-number <= 2 || bytes.IndexByte(v, '/') >= 0 ||
		bytes.IndexByte(v, '.') >= 0 && chars.Only(v, chars.IsDotted)
}

// hexLength returns how long v is as hexadecimal digits. A number counts less, and so do a UUID and
// the fingerprint of a key, which are seldom secrets.
func hexLength(v []byte) int {
	switch {
	case chars.Only(v, chars.IsDigit):
		return 15
	case chars.IsUUID(v), isFingerprint(v):
		return 31
	}
	return len(v)
}

// makingOf tells how a value was made. A bare one may be code.
func makingOf(v []byte, bare bool) making {
	if len(v) < 4 || bytes.ContainsAny(v, " \t\r\n") || standIn(v) || bare && code(v) {
		return standsIn
	}
	m := chars.Measure(v)
	switch {
	case m.Digits == len(v) && len(v) >= 16 && !chars.Stencil(v):
		return digits
	case m.Digits >= 6 && m.Digits == len(v):
		return named
	case m.Digits+m.Symbols == 0 && (KeyOf(v) != NoKey || isStandInWord(v)):
		return standsIn
	case !m.Mixed() && !m.Random() && (m.Symbols == 0 || m.Letters == 0 || len(v) < 8):
		return term
	case isHandmade(v, m):
		return handmade
	case bare && (isListed("algorithm", strings.ToLower(string(v))) || compound(v, m)):
		return term
	case m.IsNumber(), chars.Stencil(v), pathOfWords(v), wordsAndNumbers(v), compound(v, m):
		return named
	}
	hex := bytes.TrimPrefix(v, []byte("0x"))
	isToken := len(v) >= 8 && (m.Switches >= 3 || m.Digits >= 4 || m.Digits == 3 && !bare ||
		m.Random() || m.Scrambled())
	switch {
	case isToken && m.Switches >= 3 && (chars.Only(hex, chars.IsHex) || chars.IsUUID(v)):
		return digits
	case !isToken && !m.Mixed() || lowerHex(hex):
		return named
	case isDrawn(v, m):
		return drawn
	case isToken:
		return token
	}
	return mixed
}

// isDrawn reports whether v was drawn by lot: letters and digits alternate often in it, or it is
// unlike words and changes its case or kind often.
func isDrawn(v []byte, m chars.Counts) bool {
	changes := m.Turns + m.Switches
	joints := bytes.Count(v, []byte("-")) + bytes.Count(v, []byte("_"))
	if len(v) < 12 || joints > 4 || !chars.Only(v, chars.IsCredential) ||
		len(v) < 20 && m.Turns == 0 {
		return false
	}
	return changes*3 >= len(v) && (m.Digits >= 3 && m.Switches >= 3 ||
		m.Digits >= 2 && len(v) >= 16 && m.UnlikeWords()) ||
		changes*4 >= len(v) && len(v) >= 20 && m.Digits > 0 && m.Turns >= 4 && m.UnlikeWords()
}
