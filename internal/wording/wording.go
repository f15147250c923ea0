// Package wording checks and cleans the text that a summarizer or a worker returns. The same rules
// hold for the built-in chain, for helper programs, and for texts given to `ctx compact --commit`
// and `ctx replace --commit`. Begin with Summary and Clean.
package wording

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/terms"
	"github.com/gemini-ctx/ctx/sanitize"
)

// The kinds of a Fault.
const (
	Binary  = "binary"  // not UTF-8, or contains a zero byte
	Garbage = "garbage" // cannot be cleaned, or does not name its maker
	Empty   = "empty"   // has neither a letter nor a digit
	Longer  = "longer"  // longer than its source, or than requested
)

// Few is the number of tokens up to which a source is too short to leave anything out. Its summary
// may be as long as the source.
const Few = 32

// Fault is the reason why an answer is refused: Kind is one word, Why one line.
type Fault struct{ Kind, Why string }

func (f *Fault) Error() string { return f.Why }

// Reason returns the kind, for statistics.
func (f *Fault) Reason() string { return f.Kind }

func fault(kind, why string, args ...any) *Fault { return &Fault{kind, fmt.Sprintf(why, args...)} }

// Clean makes a text from outside fit to be stored and rendered. The result is UTF-8 without
// secrets, control characters, characters that change the direction of text, and surrounding white
// space. Tags of ctx and of agents are in square brackets. Clean returns a clean text unchanged. It
// returns a *Fault for a text that cannot be cleaned or has no letter or digit.
func Clean(text string) (string, *Fault) {
	clean, _, err := sanitize.Text([]byte(sanitize.Shown(text)))
	if err != nil {
		return "", fault(Garbage, "the answer cannot be cleaned")
	}
	out := strings.TrimSpace(disarm(string(clean)))
	if strings.IndexFunc(out, isWord) < 0 {
		return "", fault(Empty, "the answer has no text")
	}
	return out, nil
}

// Summary returns the cleaned text of a summary. tokens is the requested maximum, source the number
// of tokens of the inputs. Summary returns a *Fault if Clean does, if the text is not UTF-8, or if
// the summary is too long.
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

// Maker returns the name or version of the maker of an answer in the form that is stored: cleaned,
// on one line. An empty name is a fault.
func Maker(name string) (string, *Fault) {
	clean, _, err := sanitize.Text([]byte(sanitize.Shown(name)))
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

// Refused is the kind of a Fault: the text is no summary, but says why there is none.
const Refused = "refused"

// excuses begin the answers of models that do not summarize. A summary speaks of the user and the
// model, and never as one of them.
var excuses = [...]string{"i'm sorry", "i am sorry", "i’m sorry", "sorry, ", "i apologize",
	"i cannot ", "i can't ", "i can’t ", "i'm unable", "i am unable", "i’m unable",
	"i don't have", "i do not have", "as an ai", "please provide", "it seems you haven't",
	"there is nothing to summari", "nothing to summari", "no content to summari"}

// Excuse returns a *Fault for a text that says why there is no summary. Extracts are not to be
// judged by it: they may begin with words of a user.
func Excuse(text string) *Fault {
	begin := strings.ToLower(strings.TrimLeft(text, " \n*_#>\"'"))
	for _, excuse := range excuses {
		if strings.HasPrefix(begin, excuse) {
			return fault(Refused, "the answer is an excuse: %.60q", text)
		}
	}
	return nil
}

// mostStrange is how many words an answer has at most that is refused for having none of its
// inputs: a greeting, or a remark of a model that has seen nothing.
const mostStrange = 30

// Evades returns a *Fault for a text that is no summary of its sources: it excuses itself, or has
// no word of them.
func Evades(text string, sources []string) *Fault {
	if f := Excuse(text); f != nil {
		return f
	}
	has := map[uint64]bool{}
	terms.Scan(text, func(t terms.Token) { has[t.Term] = true })
	// Of stop words alone nothing can be said. A long text may be in another language.
	found := len(has) == 0 || len(has) > mostStrange
	for _, s := range sources {
		if found {
			break
		}
		terms.Scan(s, func(t terms.Token) { found = found || has[t.Term] })
	}
	if !found {
		return fault(Refused, "the answer has no word of its inputs: %.60q", text)
	}
	return nil
}
