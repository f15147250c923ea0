package sanitize

import "strings"

// Line makes one line of text that others wrote, so that it can neither move the cursor of a terminal nor start a line of its own: line ends and
// tabs become spaces, other controls U+FFFD.
func Line(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0:
			return '\uFFFD'
		}
		return r
	}, s)
}
