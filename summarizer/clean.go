package summarizer

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/wording"
	"github.com/gemini-ctx/ctx/sanitize"
)

// maxWhy bounds the reasons that are told to people, in bytes.
const maxWhy = 300

// Clean makes a summary fit to be stored, as wording.Summary judges every answer: within the tokens asked for, and not longer than its inputs.
// Cleaning what was cleaned changes nothing.
func Clean(ask summarize.Ask, text string) (string, *Failure) {
	out, f := wording.Summary(strings.ToValidUTF8(text, "\ufffd"), ask.Tokens, sourceTokens(ask))
	if f != nil {
		return "", &Failure{Kind: Kind(f.Kind), Why: f.Why}
	}
	return out, nil
}

func sourceTokens(ask summarize.Ask) int {
	n := 0
	for _, p := range ask.Inputs {
		n += summarize.Tokens(p.Text)
	}
	return n
}

// oneLine makes something from outside fit to be told to a person: cleaned, without line ends, of at most so many bytes.
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

// Plain makes a reason fit for a person: cleaned, on one line, of a bounded length.
func Plain(s string) string { return oneLine(s, maxWhy) }
