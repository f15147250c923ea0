package summarizer

import (
	"fmt"
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/child"
	"github.com/gemini-ctx/ctx/internal/wording"
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

// aboutInputs returns a failure for a text that is no summary of its inputs; see wording.Evades.
func aboutInputs(ask summarize.Request, text string) *Failure {
	var sources []string
	for _, p := range ask.Inputs {
		sources = append(sources, p.Text)
	}
	if f := wording.Evades(text, sources); f != nil {
		return &Failure{Kind: Kind(f.Kind), Why: f.Why}
	}
	return nil
}

func sourceTokens(ask summarize.Request) int {
	n := 0
	for _, p := range ask.Inputs {
		n += summarize.Tokens(p.Text)
	}
	return n
}

func quoted(line []byte) string { return fmt.Sprintf("%q", child.OneLine(string(line), 60)) }

// Plain makes a reason fit to be shown to people: cleaned, on one line, of bounded length.
func Plain(s string) string { return child.OneLine(s, maxWhy) }
