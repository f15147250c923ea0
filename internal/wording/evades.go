package wording

import (
	"strings"

	"github.com/gemini-ctx/ctx/internal/terms"
)

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
