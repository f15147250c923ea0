package sanitize

import (
	"strings"

	"github.com/gemini-ctx/ctx/internal/sanitize/controls"
)

// Line makes a foreign text one line that can neither move the cursor of a terminal nor begin a new
// line, reorder its letters or hide some. Line ends and tabs become spaces. Other controls, marks
// of direction, spaces without width and tag characters become U+FFFD.
func Line(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r' || r == 0x2028 || r == 0x2029:
			return ' '
		case r < ' ' || r == 0x7f || controls.IsC1(r) || Hides(r):
			return '\uFFFD'
		}
		return r
	}, s)
}

// Hides reports whether a character hides text or reorders it: marks and overrides of direction,
// spaces without width, byte order marks, and the tag characters, which a model can read and a
// person does not see.
func Hides(r rune) bool {
	return r == 0x061c || r == 0x200b || r == 0x2060 || r == 0xfeff ||
		r >= 0x200e && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 ||
		r >= 0xe0000 && r <= 0xe007f
}

// Shown returns a text of several lines without C1 controls, carriage returns and what Hides: all
// of it can be seen where it is shown to a person, or quoted to a model.
func Shown(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\r' || controls.IsC1(r) || Hides(r) {
			return -1
		}
		return r
	}, s)
}
