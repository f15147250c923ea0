package summarize

// Fragment is a sentence of prose, or a line of code.
type Fragment struct {
	Text string // one line, white space squeezed to single spaces; it has a letter or a digit
	Code bool   // it stood inside a fence of three backquotes or tildes
}

// Fragments returns the sentences of a text, and the lines inside its fences, in order. Words that say
// nothing are cut off the front of a sentence, and a sentence of more than 60 words is cut in parts.
// Of a text over 256 KiB the middle is left out.
func Fragments(text string) []Fragment {
	list := split(text, false)
	out := make([]Fragment, len(list))
	for i, p := range list {
		out[i] = Fragment{Text: p.text, Code: p.line}
	}
	return out
}
