package browse

import "strings"

// style is what a terminal does to show a text: the parameters of the control sequence SGR
// (ECMA-48). The colours are those of ctx, of the 8 that every terminal has.
type style string

const (
	normal  style = ""
	bold    style = "1"
	faint   style = "2"
	reverse style = "7"
	ofRole  style = "1;36" // who said it
	ofID    style = "33"
	ofGone  style = "31" // what is missing, or went wrong
	removed style = "31"
	added   style = "32"
)

// span is a harmless text in a style, and line is a line of a screen.
type span struct {
	style style
	text  string
}

type line []span

// String returns the text of a line.
func (l line) String() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.text)
	}
	return b.String()
}

// paint returns a text in a style. Without colours, bold, faint and reverse stay: NO_COLOR says
// nothing against them, and the selection is known by them.
func (m *model) paint(s style, text string) string {
	if m.plain {
		switch s {
		case ofRole:
			s = bold
		case ofID, ofGone, added:
			s = normal
		}
	}
	if s == normal || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[m"
}

// paintLine returns exactly width columns of a line.
func (m *model) paintLine(l line, width int) string {
	var b strings.Builder
	left := width
	for i, s := range l {
		text := s.text
		if i == len(l)-1 || columns(text) >= left {
			text = fit(text, left)
		}
		left -= columns(text)
		b.WriteString(m.paint(s.style, text))
		if left <= 0 {
			return b.String()
		}
	}
	return b.String() + strings.Repeat(" ", left)
}
