// Package controls removes control characters from texts and repairs their UTF-8.
package controls

import (
	"encoding/binary"
	"math/bits"
	"sort"
	"unicode/utf8"
)

// Strip removes controls and terminal sequences, and replaces every byte that is not part of valid
// UTF-8 by U+FFFD. It returns the number of removed controls, where a sequence counts once, and of
// replaced bytes, and b itself if there are none. Removing a control never joins two broken halves
// of a rune, because each half is replaced on its own. Strip notes in moved, unless that is nil,
// where the offsets of out differ from those of b.
func Strip(b []byte, moved *Shifts) (out []byte, controls, broken int) {
	i := firstDirty(b)
	if i < 0 {
		return b, 0, 0
	}
	out = append(make([]byte, 0, len(b)+utf8.UTFMax), b[:i]...)
	for i < len(b) {
		if n := control(b[i:]); n > 0 {
			controls++
			i += n
			moved.note(len(out), i)
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			broken++
		}
		out = utf8.AppendRune(out, r)
		i += n
		if r == utf8.RuneError {
			moved.note(len(out), i)
		}
	}
	return out, controls, broken
}

// control returns the length of what Strip removes as one at the start of b, or 0.
func control(b []byte) int {
	switch c := b[0]; {
	case c >= utf8.RuneSelf || c == esc:
		if n := sequence(b); n > 0 {
			return n
		}
	case isControl(c):
		return 1
	}
	return overstrike(b)
}

// firstDirty returns the offset of the first byte that Strip would change, or -1.
func firstDirty(b []byte) int {
	for i := 0; i < len(b); {
		if i+8 <= len(b) {
			special := notPlain(binary.LittleEndian.Uint64(b[i:]))
			if special == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(special) / 8
		}
		if c := b[i]; c < utf8.RuneSelf {
			if c == backspace {
				_, n := utf8.DecodeLastRune(b[:i]) // which may be struck over
				return i - n
			}
			if isControl(c) {
				return i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 || IsC1(r) {
			return i
		}
		i += n
	}
	return -1
}

// notPlain marks bytes of a word that are not from 0x20 to 0x7e: the first of them has its highest
// bit set in the result, and no byte before it. The highest bit of a byte of low is set if that
// byte is below 0x20, and that of deleted if it is 0x7f.
func notPlain(word uint64) uint64 {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	low := (word - ' '*ones) &^ word
	deleted := ((word ^ 0x7f*ones) - ones) &^ (word ^ 0x7f*ones)
	return (word | low | deleted) & high
}

// IsC1 reports whether r is a C1 control. A terminal may treat U+009B like ESC [, and the others
// similarly; text does not need them.
func IsC1(r rune) bool { return r >= 0x80 && r < 0xa0 }

// isControl reports whether c is a C0 control other than TAB, LF and CR, or DEL.
func isControl(c byte) bool {
	return c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7f
}

// Shifts maps offsets in a stripped text to offsets in the original. Between one shift and the
// next, both offsets advance together.
type Shifts []struct{ now, before int }

// note adds a shift. If several shifts have the same offset, the last one counts.
func (s *Shifts) note(now, before int) {
	if s != nil {
		*s = append(*s, struct{ now, before int }{now, before})
	}
}

// Before returns the original offset of the byte at the offset at of the stripped text.
func (s Shifts) Before(at int) int {
	i := sort.Search(len(s), func(i int) bool { return s[i].now > at })
	was := at
	if i > 0 {
		was += s[i-1].before - s[i-1].now
	}
	if i < len(s) { // a replacement is longer than the byte it replaced
		was = min(was, s[i].before-1)
	}
	return was
}
