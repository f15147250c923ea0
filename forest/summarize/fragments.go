package summarize

import "strings"

// Fragment is a sentence of prose, or a line of code.
type Fragment struct {
	Text string // one line with single spaces; contains a letter or a digit
	Code bool   // inside a fence of three backquotes or tildes
	More bool   // the sentence or line goes on in the next fragment
}

// Fragments returns the sentences of a text and the lines inside its fences, in order. It removes
// filler words from the start of a sentence and splits a sentence of more than 60 words. It leaves
// out the middle of a text of more than 256 KiB.
func Fragments(text string) []Fragment { return fragments(split(text, false)) }

// WholeFragments is Fragments with all words of each sentence: "yes" answers a question.
func WholeFragments(text string) []Fragment {
	return fragments(sentences(text, false, strings.TrimSpace))
}

func fragments(list []piece) []Fragment {
	out := make([]Fragment, len(list))
	for i, p := range list {
		out[i] = Fragment{Text: p.text, Code: p.line, More: p.more}
	}
	return out
}
