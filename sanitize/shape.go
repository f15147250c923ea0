package sanitize

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// shape is a form of token that is known by itself, without a name beside it.
type shape struct {
	class  string // the class of its tokens
	form   string // the form of the token; see the notation below
	source string // where the form is published
	// drawn also requires that the token looks random, for forms that words and names in programs
	// may have by chance.
	drawn bool
	// digests says that public digests have the same form. The word before distinguishes them: see
	// namesDigest.
	digests bool
	// sure accepts every token of the form, whatever its letters.
	sure bool
}

// The notation of a form. Every character stands for itself, except:
//
//	{n36}      36 characters of an alphabet
//	{n20-40}   20 to 40 of them
//	{n20+}     20 or more
//	( )        around the secret part; without them all of it is secret
//
// The letter before the number is the alphabet:
//
//	d  digits                        h  hexadecimal digits, lower case
//	a  letters                       H  hexadecimal digits, upper case
//	n  letters and digits            g  hexadecimal digits, either case
//	x  lower-case letters, digits    w  letters, digits and _
//	X  upper-case letters, digits    u  letters, digits, _ and - (base64url)
//	A  base32, upper case            v  the same and the dot
//	c  base58                        b  base64: letters, digits, +, / and =
//	p  a path: base64url and /       t  letters, digits and -._~+/= (a token in a header)
//
// The token must end where its last alphabet ends.

// maxRun is the largest number of characters of one alphabet in a token.
const maxRun = 8192

// alphabetLetters lists the alphabets. The index of a letter is its bit in alphabets.
const alphabetLetters = "dhHganxXwuvbptAc"

func alphabetBit(letter byte) int { return strings.IndexByte(alphabetLetters, letter) }

// alphabets gives for each byte the set of alphabets that contain it. It is filled when the first
// table of forms is made.
var (
	alphabets     [256]uint16
	fillAlphabets sync.Once
)

func setAlphabets() {
	for i := range alphabets {
		c := byte(i)
		for bit, ok := range [...]bool{
			isDigit(c), isHex(c) && !isUpper(c), isHex(c) && !isLower(c), isHex(c),
			isLetter(c), isAlnum(c), isDigit(c) || isLower(c), isUpperNum(c),
			isWord(c), isURLSafe(c), isDotted(c), isBase64(c),
			isURLSafe(c) || c == '/', isCredential(c),
			isUpper(c) || '2' <= c && c <= '7', isAlnum(c) && strings.IndexByte("0OIl", c) < 0,
		} {
			if ok {
				alphabets[i] |= 1 << bit
			}
		}
	}
}

// run is one run of a form: {n20-40}.
type run struct {
	alphabet  byte
	low, high int // high is maxRun if there is no upper bound
}

// cutRun parses the run at the start of a form, which begins with {.
func cutRun(form string) (r run, rest string, err error) {
	inside, rest, ok := strings.Cut(form[1:], "}")
	if !ok || len(inside) < 2 || alphabetBit(inside[0]) < 0 {
		return run{}, "", fmt.Errorf("not a run such as {n20}: %.20q", form)
	}
	r.alphabet = inside[0]
	low, high, ranged := strings.Cut(inside[1:], "-")
	if r.low, err = strconv.Atoi(strings.TrimSuffix(low, "+")); err != nil || r.low < 0 || r.low > maxRun {
		return run{}, "", fmt.Errorf("not a run such as {n20}: %.20q", form)
	}
	r.high = r.low
	switch {
	case strings.HasSuffix(low, "+"):
		r.high = maxRun
	case ranged:
		if r.high, err = strconv.Atoi(high); err != nil || r.high < r.low || r.high > maxRun {
			return run{}, "", fmt.Errorf("not a run such as {n20-40}: %.20q", form)
		}
	}
	return r, rest, nil
}

// errNoAnchor says that a form has no text to search for.
var errNoAnchor = errors.New("a pattern needs three characters in a row that stand for themselves, " +
	"at its beginning or behind runs of a fixed length")

// checkForm returns the error in a form, or nil. Forms that it accepts can be searched.
func checkForm(form string) error {
	runs, opened, closed := 0, 0, 0
	for rest := form; rest != ""; {
		switch rest[0] {
		case '{':
			r, after, err := cutRun(rest)
			if err != nil {
				return err
			}
			runs += r.low
			rest = after
			continue
		case '}':
			return errors.New("a } without a {")
		case '(':
			opened++
		case ')':
			closed++
		}
		if rest[0] <= ' ' || rest[0] >= 0x7f {
			return fmt.Errorf("not a visible ASCII character: %q", rest[0])
		}
		rest = rest[1:]
	}
	first, last := strings.IndexByte(form, '('), strings.IndexByte(form, ')')
	if opened > 1 || closed > opened || closed == 1 && last < first {
		return errors.New("( and ) must enclose one part, once")
	}
	if runs < minForm {
		return fmt.Errorf("its runs have %d characters, and a secret has %d", runs, minForm)
	}
	if a := anchorOf(form); len(a.text) < 3 {
		return errNoAnchor
	}
	return nil
}

// minForm is the smallest number of characters in the runs of a form.
const minForm = 8

// anchor is the first literal text of a form, with the number of bytes before it.
type anchor struct {
	text   string
	before int
	next   byte // the alphabet of the run behind it, or 0
}

// anchorOf returns the anchor of a form: the first literal of at least two bytes, with only runs of
// a fixed length before it.
func anchorOf(form string) (a anchor) {
	for form != "" {
		switch form[0] {
		case '(', ')':
			form = form[1:]
			continue
		case '{':
			r, rest, err := cutRun(form)
			if err != nil || r.low != r.high {
				return anchor{}
			}
			a.before += r.low
			form = rest
			continue
		}
		n := strings.IndexAny(form, "{()")
		if n < 0 {
			n = len(form)
		}
		if n >= 2 {
			a.text = form[:n]
			if rest := strings.TrimLeft(form[n:], "()"); len(rest) > 1 && rest[0] == '{' {
				a.next = rest[1]
			}
			return a
		}
		a.before += n
		form = form[n:]
	}
	return anchor{}
}

// match is an occurrence of a form: the whole token is b[start:end], and b[from:to] of it is
// secret.
type match struct{ start, end, from, to int }

// at matches the form at b[start:]. read is the offset up to which it has read.
func (s *shape) at(b []byte, start int) (m match, read int, ok bool) {
	m = match{start, -1, start, -1}
	read = start
	if end := s.walk(s.form, b, start, &m, &read); end < 0 {
		return m, read, false
	}
	for m.end > start && b[m.end-1] == '.' {
		m.end--
	}
	if m.to < 0 || m.to > m.end {
		m.to = m.end
	}
	return m, read, s.plausible(b, m)
}

// walk matches the rest of a form at b[i:] and returns its end, or -1.
func (s *shape) walk(form string, b []byte, i int, m *match, read *int) int {
	for form != "" {
		switch form[0] {
		case '(':
			m.from, form = i, form[1:]
		case ')':
			m.to, form = i, form[1:]
		case '{':
			return s.walkRun(form, b, i, m, read)
		default:
			if i >= len(b) || b[i] != form[0] {
				return -1
			}
			i, form = i+1, form[1:]
		}
	}
	if i < len(b) && isAlnum(b[i]) && i > 0 && isAlnum(b[i-1]) {
		return -1
	}
	m.end = i
	*read = max(*read, i)
	return i
}

// walkRun matches a run and the rest of the form behind it.
func (s *shape) walkRun(form string, b []byte, i int, m *match, read *int) int {
	r, rest, err := cutRun(form)
	if err != nil {
		return -1
	}
	mask := uint16(1) << alphabetBit(r.alphabet)
	end := i
	for stop := min(len(b), i+r.high); end < stop && alphabets[b[end]]&mask != 0; end++ {
	}
	*read = max(*read, end)
	if rest == "" || rest == ")" {
		if end-i < r.low || end < len(b) && (alphabets[b[end]]&mask != 0 || isAlnum(b[end])) {
			return -1
		}
		return s.walk(rest, b, end, m, read)
	}
	for n := end - i; n >= r.low; n-- {
		if z := s.walk(rest, b, i+n, m, read); z >= 0 {
			return z
		}
	}
	return -1
}

// plausible reports whether a match may be a real token: it is no stand-in, and its letters are not
// those of a name.
func (s *shape) plausible(b []byte, m match) bool {
	if s.sure {
		return true
	}
	body := b[m.from:m.to]
	if m.from == m.start {
		body = body[min(len(body), literalStart(s.form)):]
	}
	v := measure(body)
	switch {
	case insideBase64(b, m.start, s.form), afterDot(b, m.start, s.form):
		return false
	case stencil(body), v.digits == len(body):
		return false
	case bytes.HasPrefix(b[m.end:], []byte("##")): // a mask continues
		return false
	case bytes.HasPrefix(b[m.end:], []byte("(")): // a call of a function
		return false
	}
	if s.drawn {
		return surelyDrawn(body, v)
	}
	return isCode(body) || v.digits >= 2 && v.digits*20 >= v.length || v.switches >= 3 ||
		v.turns*3 >= v.letters || v.unlikeWords()
}

// surelyDrawn reports whether letters and digits follow each other as they never do in words and
// names.
func surelyDrawn(body []byte, v shapeOf) bool {
	if isCode(body) {
		return v.digits >= 1 && v.switches >= 2 || v.unlikeWords()
	}
	if v.turns+v.switches < len(body)/5 {
		return false
	}
	return v.digits*8 >= v.length && v.switches*6 >= v.length ||
		v.turns*5 >= v.letters*2 && v.turns >= 8 || v.mixed() && v.unlikeWords()
}

// isCode reports whether a short body has only capitals and digits, like the keys of cloud
// providers.
func isCode(body []byte) bool {
	return runEnd(body, 0, isUpperNum) == len(body) && len(body) <= 32
}

// literalStart returns the length of the literal text at the start of a form.
func literalStart(form string) int {
	if n := strings.IndexAny(form, "{("); n >= 0 {
		return n
	}
	return len(form)
}

// insideBase64 reports whether a form with a short literal start is inside a run of base64, where
// it occurs by chance.
func insideBase64(b []byte, start int, form string) bool {
	n := literalStart(form)
	if n > 4 || start == 0 || b[start-1] != '+' && b[start-1] != '/' {
		return false
	}
	return start >= 16 && runEnd(b, start-16, isBase64) >= start
}

// afterDot reports whether a form with a short literal start is the last part of a file name or a
// selector.
func afterDot(b []byte, start int, form string) bool {
	return literalStart(form) <= 4 && start > 1 && b[start-1] == '.' && isAlnum(b[start-2])
}

// stencil reports whether v is what documents use in place of a token: one or two characters
// repeated, a long run of one, the alphabet, the word EXAMPLE, or abc123.
func stencil(v []byte) bool {
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
	case distinct <= 2, longest*2 > len(v), longest >= 8 && longest*3 > len(v):
		return true
	case rising >= 16 && len(v) <= 36:
		return true
	case len(v) <= 40 && bytes.Contains(v, []byte("EXAMPLE")):
		return true
	}
	return bytes.Contains(v, []byte("abc123"))
}
