// Package wording judges what a summariser or a worker brings back: one rule for the built-in chain, for helper programs and for texts that
// `ctx compact --commit` and `ctx replace --commit` take.
package wording

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/sanitize"
)

// Kinds of a Fault.
const (
	Binary  = "binary"  // not UTF-8, or with a zero byte
	Garbage = "garbage" // it cannot be cleaned, or does not say who made it
	Empty   = "empty"   // without a letter or digit
	Longer  = "longer"  // longer than what it sums up, or than was asked for
)

// Few is how many tokens nobody is asked to sum up: of a line or two nothing can be left out. A summary of so few tokens may be as long as its source.
const Few = 32

// Fault is why an answer is not taken: Kind in one word, Why in one line.
type Fault struct{ Kind, Why string }

func (f *Fault) Error() string { return f.Why }

// Reason returns the kind, for those who count by it.
func (f *Fault) Reason() string { return f.Kind }

func fault(kind, why string, args ...any) *Fault { return &Fault{kind, fmt.Sprintf(why, args...)} }

// Clean makes the words of somebody outside fit to be stored and rendered: UTF-8 without secrets, control characters and characters that change the
// direction of text, with the tags of ctx and of agents in square brackets, without white space around them. Words that are clean come back as they
// are. A *Fault is for words that cannot be cleaned, and for none.
func Clean(text string) (string, *Fault) {
	clean, _, err := sanitize.Text([]byte(strings.Map(shown, text)))
	if err != nil {
		return "", fault(Garbage, "the answer cannot be cleaned")
	}
	out := strings.TrimSpace(disarm(string(clean)))
	if strings.IndexFunc(out, isWord) < 0 {
		return "", fault(Empty, "the answer has no text")
	}
	return out, nil
}

// Summary returns the words of a summary as Clean cleans them. tokens is the most that was asked for, source what its inputs have. A *Fault is for what
// Clean refuses, and for a summary that is longer.
func Summary(text string, tokens, source int) (string, *Fault) {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return "", fault(Binary, "the answer is not text")
	}
	out, f := Clean(text)
	if f != nil {
		return "", f
	}
	switch n := summarize.Tokens(out); {
	case n > source || n == source && source > Few:
		return "", fault(Longer, "the answer has %d tokens, its source %d", n, source)
	case n > tokens:
		return "", fault(Longer, "the answer has %d tokens, %d were asked for", n, tokens)
	}
	return out, nil
}

// Maker returns who made an answer, or its version, as it is stored: cleaned, on one line. It may be empty.
func Maker(name string) (string, *Fault) {
	clean, _, err := sanitize.Text([]byte(strings.Map(shown, name)))
	if err != nil {
		return "", fault(Garbage, "the answer cannot be cleaned")
	}
	out := strings.TrimSpace(disarm(string(clean)))
	if _, err := format.EncodeName(out); err != nil {
		return "", fault(Garbage, "the answer does not say who made it: %v", err)
	}
	return out, nil
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
