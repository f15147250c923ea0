package summarizer

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/wording"
	"github.com/gemini-ctx/ctx/sanitize"
)

// maxWhy is the largest length in bytes of a reason for people.
const maxWhy = 300

// Clean makes a summary fit to be stored, by the rules of wording.Summary: it must have at most the
// requested tokens and must not be longer than its inputs. Cleaning a clean text changes nothing.
func Clean(ask summarize.Request, text string) (string, *Failure) {
	out, f := wording.Summary(strings.ToValidUTF8(text, "\ufffd"), ask.Tokens, sourceTokens(ask))
	if f != nil {
		return "", &Failure{Kind: Kind(f.Kind), Why: f.Why}
	}
	return out, nil
}

func sourceTokens(ask summarize.Request) int {
	n := 0
	for _, p := range ask.Inputs {
		n += summarize.Tokens(p.Text)
	}
	return n
}

// oneLine makes a text from outside fit to be shown to people: cleaned, without line ends, at most
// most bytes and an ellipsis.
func oneLine(s string, most int) string {
	s = s[:min(len(s), 8*most)]
	clean, _, err := sanitize.Text([]byte(wording.Shown(s)))
	if err != nil {
		return ""
	}
	s = strings.Join(strings.Fields(string(clean)), " ")
	if len(s) <= most {
		return s
	}
	cut := most
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

func quoted(line []byte) string { return fmt.Sprintf("%q", oneLine(string(line), 60)) }

// Plain makes a reason fit to be shown to people: cleaned, on one line, of bounded length.
func Plain(s string) string { return oneLine(s, maxWhy) }
