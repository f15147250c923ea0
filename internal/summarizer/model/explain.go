package model

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/gemini-ctx/ctx/internal/summarizer"
)

// said is an error that the agent reports in its output.
type said struct{ text string }

func (e *said) Error() string { return e.text }

// errNoOutput says that the output of an agent has neither an answer nor an error.
var errNoOutput = errors.New("no answer in its output")

// errLate says that the agent was killed because its time was over.
var errLate = errors.New("did not answer in time; " +
	"summarizer.NAME.timeout sets how long it may take")

// errOffline is the error of an agent that was killed because it reaches no server.
var errOffline = errors.New("no connection")

// errTool says that the agent used a tool. None was offered, so this version of the agent does not
// follow its flags.
var errTool = errors.New("a tool was used, though none is allowed: " +
	"this version is not known to work without tools")

// sign maps words in an agent's error to a kind.
type sign struct {
	kind     summarizer.Kind
	patterns []string // regular expressions that ignore case
}

// signs are searched in this order: lasting errors come before temporary ones, because both are
// often called a quota and both come with HTTP 429.
var signs = compiled([]sign{
	{summarizer.Refused, []string{
		`prompt is too long`, `context (window|length)`, `context_length`, `input token count`,
		`too many tokens`, `\b413\b`,
	}},
	{summarizer.Quota, []string{
		`insufficient_quota`, `billing`, `credit`, `usage limit`, `spend limit`,
		`(hit|reached) your\b.*\blimit`, `daily`, `per ?day`, `\b402\b`,
	}},
	{summarizer.Capacity, []string{
		`overloaded`, `rate.?limit`, `too many requests`, `capacity`, `high demand`,
		`resource.?exhausted`, `\b(429|503|529)\b`,
	}},
	{summarizer.Quota, []string{`quota`}},
	{login, []string{
		`log ?in\b`, `logged (in|out)`, `api.?key`, `auth method`, `authenticat`,
		`unauthori[sz]ed`, `credential`, `oauth`, `\b(401|403)\b`,
	}},
	{summarizer.Terminal, []string{
		`not ?found`, `unknown (option|argument|flag|model)`, `unexpected argument`,
		`invalid (model|value)`, `unsupported`, `\b(400|404)\b`,
	}},
})

// compiledSign is a sign as one regular expression.
type compiledSign struct {
	kind    summarizer.Kind
	pattern *regexp.Regexp
}

func compiled(list []sign) []compiledSign {
	var out []compiledSign
	for _, s := range list {
		all := "(?i)" + strings.Join(s.patterns, "|")
		out = append(out, compiledSign{s.kind, regexp.MustCompile(all)})
	}
	return out
}

// login is a terminal failure with its own remedy. It is never reported to ctx.
const login summarizer.Kind = "login"

// explain returns the reason why a run gave no answer. err is the error of the reader. The agent's
// own error comes first, which some agents write to their standard error, then the last line of the
// standard error.
func (r *Runner) explain(e ended, err error) error {
	if errors.Is(err, errNoOutput) {
		if _, other := r.Agent.read(e.stderr); other != nil {
			err = other
		}
	}
	var own *said
	text := ""
	switch {
	case errors.As(err, &own):
		text = strings.TrimSpace(own.text)
	case errors.Is(err, errTool):
		return failure(summarizer.Terminal, "%s: %v", r.Agent.Name, err)
	default:
		text = strings.TrimPrefix(e.told(), ": ")
	}
	kind := kindOf(text)
	switch {
	case errors.Is(e.err, errLate) && text != "":
		text = fmt.Sprintf("%v; the last that it said: %s", errLate, text)
	case errors.Is(e.err, errLate):
		text = errLate.Error()
	case errors.Is(e.err, errOffline):
		kind, text = summarizer.Transient, fmt.Sprintf("%v: %s", errOffline, text)
	case text == "":
		text = errNoOutput.Error()
		if err != nil {
			text = err.Error()
		}
		if e.err != nil {
			text += fmt.Sprintf(" (%v)", e.err)
		}
	}
	if kind == login {
		kind, text = summarizer.Terminal, text+": "+r.Agent.Login
	}
	return failure(kind, "%s: %s", r.Agent.Name, text)
}

func failure(kind summarizer.Kind, text string, args ...any) error {
	return &Error{Kind: kind, Message: fmt.Sprintf(text, args...)}
}

func kindOf(text string) summarizer.Kind {
	for _, s := range signs {
		if s.pattern.MatchString(text) {
			return s.kind
		}
	}
	return summarizer.Transient
}
