package markup

import (
	"strings"
)

// Piece is a part of the words of a message. The texts of all pieces, joined by line feeds, are the
// words that `ctx expand` prints.
type Piece struct {
	Kind   string // PieceText, PieceCall or PieceResult
	Tool   string // of a call or a result; "" if it is not known
	File   string // that a call names; "" for none
	Text   string
	Failed bool // of a result
}

// The kinds of pieces.
const (
	PieceText   = "t"
	PieceCall   = "c"
	PieceResult = "r"
)

// longPiece is from how many bytes on a result is shown in a box that scrolls.
const longPiece = 1200

// appendPieces appends the words of a message. The text content of the element is exactly the
// words: what makes them readable is markup around them.
func appendPieces(b []byte, list []Piece) []byte {
	if len(list) == 1 {
		return appendPiece(b, &list[0], "w ")
	}
	b = append(b, "<div class=w>"...)
	for i := range list {
		if i > 0 {
			b = append(b, '\n')
		}
		b = appendPiece(b, &list[i], "")
	}
	return append(b, "</div>"...)
}

func appendPiece(b []byte, p *Piece, class string) []byte {
	class += p.Kind
	if p.Failed {
		class += " err"
	}
	if len(p.Text) > longPiece && p.Kind != PieceText {
		class += " long"
	}
	b = appendValue(append(b, "<div class="...), class)
	if p.Tool != "" {
		b = appendValue(append(b, " data-t="...), p.Tool)
	}
	if p.File != "" {
		b = appendValue(append(b, " data-f="...), p.File)
	}
	if strings.HasSuffix(class, " long") {
		b = append(b, " tabindex=0"...) // it scrolls, so the keyboard has to reach it
	}
	b = append(b, '>')
	switch head := "[call " + p.Tool + "] "; {
	case p.Kind == PieceCall && strings.HasPrefix(p.Text, head):
		b = append(b, "<s>[call </s><b>"...)
		b = append(appendText(b, p.Tool), "</b>"...)
		b = appendArgs(b, "] ", p.Text[len(head):])
	case p.Kind == PieceText:
		b = appendProse(b, p.Text)
	default:
		b = appendLines(b, p.Text)
	}
	return append(b, "</div>"...)
}

// isDiff reports whether lines of a text that begin with + and - were added and removed.
func isDiff(s string) bool {
	return strings.Contains(s, "\n@@ ") || strings.HasPrefix(s, "@@ ") ||
		strings.HasPrefix(s, "diff --git ") ||
		strings.Contains(s, "*** Begin Patch")
}

// appendLines appends a text. The lines of a diff are marked.
func appendLines(b []byte, s string) []byte {
	if !isDiff(s) {
		return appendText(b, s)
	}
	for line := range strings.Lines(s) {
		tag := lineTag(line)
		if tag == "" {
			b = appendText(b, line)
			continue
		}
		b = append(append(append(b, '<'), tag...), '>')
		b = appendText(b, line)
		b = append(append(append(b, "</"...), tag...), '>')
	}
	return b
}

// lineTag returns the element of a line of a diff; "" for a line that stays.
func lineTag(line string) string {
	switch {
	case strings.HasPrefix(line, "+++") || strings.HasPrefix(line, "---"):
		return ""
	case strings.HasPrefix(line, "+"):
		return "ins"
	case strings.HasPrefix(line, "-"):
		return "del"
	}
	return ""
}
