// Package tokens is the table of the tokens that are known by their form, such as ghp_ and 36
// letters, and finds them in a text.
package tokens

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// Form is a form of token that is known by itself, without a name beside it.
type Form struct {
	Class   string // the class of its tokens
	Pattern string // the form of the token; see the notation below
	Source  string // where the form is published
	// Drawn also requires that the token looks random, for forms that words and names in programs
	// may have by chance.
	Drawn bool
	// Digests says that public digests have the same form. The word before distinguishes them.
	Digests bool
	// Sure accepts every token of the form, whatever its letters.
	Sure bool
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
			chars.IsDigit(c), chars.IsHex(c) && !chars.IsUpper(c), chars.IsHex(c) &&
				!chars.IsLower(c), chars.IsHex(c),
			chars.IsLetter(c), chars.IsAlnum(c), chars.IsDigit(c) || chars.IsLower(c),
			chars.IsUpperNum(c),
			chars.IsWord(c), chars.IsURLSafe(c), chars.IsDotted(c), chars.IsBase64(c),
			chars.IsURLSafe(c) || c == '/', chars.IsCredential(c),
			chars.IsUpper(c) || '2' <= c && c <= '7',
			chars.IsAlnum(c) && strings.IndexByte("0OIl", c) < 0,
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
	if r.low, err = strconv.Atoi(strings.TrimSuffix(low, "+")); err != nil || r.low < 0 ||
		r.low > maxRun {
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
var errNoAnchor = errors.New(
	"a pattern needs three characters in a row that stand for themselves, " +
		"at its beginning or behind runs of a fixed length")

// Check returns the error in a form, or nil. Forms that it accepts can be searched.
func Check(form string) error {
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

// Beginning is the first bytes of a text, at most four, as a number of which the first byte is the
// lowest one. Mask has the bits of these bytes.
type Beginning struct{ Word, Mask uint32 }

// BeginningOf returns the beginning of a text.
func BeginningOf(text string) (b Beginning) {
	for i := range min(4, len(text)) {
		b.Word |= uint32(text[i]) << (8 * i)
		b.Mask |= 0xff << (8 * i)
	}
	return b
}

// EachBeginning calls add with the beginning of each text by which a token of the form is searched,
// all of three bytes or more. It returns the number of bytes of the token before these texts. A
// literal of two bytes gives a text for each byte that may follow it.
func (f *Form) EachBeginning(add func(Beginning)) (before int) {
	fillAlphabets.Do(setAlphabets)
	a := anchorOf(f.Pattern)
	begin := BeginningOf(a.text)
	if len(a.text) > 2 {
		add(begin)
		return a.before
	}
	mask := uint16(1) << alphabetBit(a.next)
	for c := range alphabets {
		if alphabets[c]&mask != 0 {
			add(Beginning{begin.Word | uint32(c)<<16, 0xffffff})
		}
	}
	return a.before
}

// match is an occurrence of a form: the whole token is b[start:end], and b[from:to] of it is
// secret.
type match struct{ start, end, from, to int }

// At reports whether a token of the form begins at b[start], and returns the secret part of it,
// b[from:to], and the offset up to which it has read. EachBeginning must have been called for
// some form before.
func (f *Form) At(b []byte, start int) (from, to, read int, ok bool) {
	m := match{start, -1, start, -1}
	read = start
	if end := f.walk(f.Pattern, b, start, &m, &read); end < 0 {
		return 0, 0, read, false
	}
	for m.end > start && b[m.end-1] == '.' {
		m.end--
	}
	if m.to < 0 || m.to > m.end {
		m.to = m.end
	}
	return m.from, m.to, read, f.plausible(b, m)
}

// walk matches the rest of a form at b[i:] and returns its end, or -1.
func (f *Form) walk(form string, b []byte, i int, m *match, read *int) int {
	for form != "" {
		switch form[0] {
		case '(':
			m.from, form = i, form[1:]
		case ')':
			m.to, form = i, form[1:]
		case '{':
			return f.walkRun(form, b, i, m, read)
		default:
			if i >= len(b) || b[i] != form[0] {
				return -1
			}
			i, form = i+1, form[1:]
		}
	}
	if i < len(b) && chars.IsAlnum(b[i]) && i > 0 && chars.IsAlnum(b[i-1]) {
		return -1
	}
	m.end = i
	*read = max(*read, i)
	return i
}

// walkRun matches a run and the rest of the form behind it.
func (f *Form) walkRun(form string, b []byte, i int, m *match, read *int) int {
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
		if end-i < r.low || end < len(b) && (alphabets[b[end]]&mask != 0 || chars.IsAlnum(b[end])) {
			return -1
		}
		return f.walk(rest, b, end, m, read)
	}
	for n := end - i; n >= r.low; n-- {
		if z := f.walk(rest, b, i+n, m, read); z >= 0 {
			return z
		}
	}
	return -1
}

// plausible reports whether a match may be a real token: it is no stand-in, and its letters are not
// those of a name.
func (f *Form) plausible(b []byte, m match) bool {
	if f.Sure {
		return true
	}
	body := b[m.from:m.to]
	if m.from == m.start {
		body = body[min(len(body), literalStart(f.Pattern)):]
	}
	v := chars.Measure(body)
	switch {
	case insideBase64(b, m.start, f.Pattern), afterDot(b, m.start, f.Pattern):
		return false
	case chars.Stencil(body), v.Digits == len(body):
		return false
	case bytes.HasPrefix(b[m.end:], []byte("##")): // a mask continues
		return false
	case bytes.HasPrefix(b[m.end:], []byte("(")): // a call of a function
		return false
	}
	if f.Drawn {
		return surelyDrawn(body, v)
	}
	return isCode(body) || v.Digits >= 2 && v.Digits*20 >= v.Length || v.Switches >= 3 ||
		v.Turns*3 >= v.Letters || v.UnlikeWords()
}

// surelyDrawn reports whether letters and digits follow each other as they never do in words and
// names.
func surelyDrawn(body []byte, v chars.Counts) bool {
	if isCode(body) {
		return v.Digits >= 1 && v.Switches >= 2 || v.UnlikeWords()
	}
	if v.Turns+v.Switches < len(body)/5 {
		return false
	}
	return v.Digits*8 >= v.Length && v.Switches*6 >= v.Length ||
		v.Turns*5 >= v.Letters*2 && v.Turns >= 8 || v.Mixed() && v.UnlikeWords()
}

// isCode reports whether a short body has only capitals and digits, like the keys of cloud
// providers.
func isCode(body []byte) bool {
	return chars.Only(body, chars.IsUpperNum) && len(body) <= 32
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
	return start >= 16 && chars.RunEnd(b, start-16, chars.IsBase64) >= start
}

// afterDot reports whether a form with a short literal start is the last part of a file name or a
// selector.
func afterDot(b []byte, start int, form string) bool {
	return literalStart(form) <= 4 && start > 1 && b[start-1] == '.' && chars.IsAlnum(b[start-2])
}
