package chars

import "bytes"

// Counts is how many characters of each kind a value has. It tells random strings from words.
type Counts struct {
	Length   int
	Letters  int // ASCII letters
	Digits   int
	Symbols  int // punctuation that words, numbers and paths do not have
	Switches int // places where a letter and a digit meet
	Turns    int // places where a lower-case and an upper-case letter meet
	OneCase  int // longest run of letters in one case
	Pieces   int // words, capitals and numbers that follow each other, as in X+509+Cert
	pairs    int // neighbouring letters, except a capital after a lower-case letter
	rare     int // pairs that are rare in words
}

func Measure(v []byte) Counts {
	m := Counts{Length: len(v)}
	run := 0
	for i, c := range v {
		switch {
		case IsLetter(c):
			m.Letters++
		case IsDigit(c):
			m.Digits++
		case bytes.IndexByte([]byte("!@#^~$%&*"), c) >= 0:
			m.Symbols++
		}
		if i == 0 {
			run = 1
			continue
		}
		p := v[i-1]
		if IsLetter(p) && IsDigit(c) || IsDigit(p) && IsLetter(c) {
			m.Switches++
			m.Pieces++
		}
		if IsUpper(c) && IsLower(p) || IsLower(c) && IsUpper(p) && i > 1 && IsUpper(v[i-2]) {
			m.Pieces++
		}
		if IsLower(p) && IsUpper(c) || IsUpper(p) && IsLower(c) {
			m.Turns++
		}
		if IsLetter(p) && IsLetter(c) && !(IsLower(p) && IsUpper(c)) {
			m.pairs++
			if isRarePair(p, c) {
				m.rare++
			}
		}
		if IsLower(p) && IsLower(c) || IsUpper(p) && IsUpper(c) {
			run++
		} else {
			run = 1
		}
		if IsLetter(c) {
			m.OneCase = max(m.OneCase, run)
		}
	}
	return m
}

// Mixed reports whether the value has letters and digits.
func (m Counts) Mixed() bool { return m.Letters > 0 && m.Digits > 0 }

// Random reports whether the value looks random although it has few digits or none: its case
// changes far more often than in camel case, it is long and changes as often as base64 does, it is
// longer than any word, or its letters are unlike those of words.
func (m Counts) Random() bool {
	switch {
	case m.Length >= 16 && m.Turns*5 >= m.Letters*2 && m.Letters*4 >= m.Length*3:
		return true
	case m.Length >= 30 && m.Mixed() && m.Turns+m.Switches >= 10:
		return true
	}
	return m.OneCase >= 24 || m.Length >= 10 && m.UnlikeWords()
}

// Scrambled reports whether letters of both cases and digits take turns as they do in no name: a
// piece has less than two of them, or few and unlike those of words. This holds for one of a
// hundred names with a digit in Go's source, and for nine of ten values of eight drawn characters.
func (m Counts) Scrambled() bool {
	pieces := m.Pieces + 1
	return m.Length >= 8 && m.Mixed() && m.Turns > 0 &&
		(m.Length < 2*pieces || m.rare > 0 && m.Length*5 < pieces*13)
}

// IsNumber reports whether the value is a number, a version, a date or an amount with a unit.
func (m Counts) IsNumber() bool { return m.Digits > 0 && m.Letters <= 2 }

// letterPairs has a row for each letter with a bit for each letter after it. The bits are set for
// the 439 pairs that make up 98.5 % of the pairs in words of prose and in parts of names in
// programs. Random strings have the other 237 just as often.
var letterPairs = [26]uint32{
	0x1febdff, 0x11edb3f, 0x13efdff, 0x1fffb7f, 0x1fffdff, 0x11ef97f, 0x01ef9f7, 0x11e5919,
	0x2aefc7f, 0x0144011, 0x0142151, 0x17ffdff, 0x11efd3f,
	0x13efdff, 0x0fefd7f, 0x15eddff, 0x0161004, 0x17ffdff, 0x1fffdff, 0x3fef9ff, 0x28ff97f,
	0x04ff9bf, 0x006799d, 0x0acd93f, 0x00cb114, 0x2004110,
}

// isRarePair reports whether these two letters seldom follow each other in words.
func isRarePair(a, b byte) bool {
	return letterPairs[a|0x20-'a']>>(b|0x20-'a')&1 == 0
}

// UnlikeWords reports whether the sequence of letters is unusual for words, and that of capitals
// for names. This holds for about 2 % of the 288,000 different names in Go's own source, nearly all
// of them keys and test data.
func (m Counts) UnlikeWords() bool {
	switch {
	case m.rare >= 3 && m.rare*4 >= m.pairs:
		return true
	case m.rare >= 2 && m.rare*5 >= m.pairs && m.Turns*3 >= m.Letters && m.Turns >= 4:
		return true
	}
	return m.rare >= 1 && m.rare*8 >= m.pairs && m.Turns*5 >= m.Letters*2 && m.Turns >= 4
}

// Stencil reports whether v is what documents use in place of a token: one or two characters
// repeated, a long run of one, the alphabet, the word EXAMPLE, or abc123.
func Stencil(v []byte) bool {
	var seen [256]bool
	distinct, same, longest, steps, rising := 0, 1, 1, 0, 0
	for i, c := range v {
		if !seen[c] {
			seen[c] = true
			distinct++
		}
		if i == 0 {
			continue
		}
		same++
		if c != v[i-1] {
			same = 1
		}
		steps++
		if c != v[i-1]+1 {
			steps = 0
		}
		longest, rising = max(longest, same), max(rising, steps)
	}
	switch {
	case distinct <= 2, longest*2 > len(v), longest >= 8 && longest*4 >= len(v):
		return true
	case rising >= 16 && len(v) <= 36:
		return true
	case len(v) <= 40 && bytes.Contains(v, []byte("EXAMPLE")):
		return true
	}
	return bytes.Contains(v, []byte("abc123"))
}
