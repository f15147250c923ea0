package printmode

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/gemini-ctx/ctx/summarizer"
	"github.com/gemini-ctx/ctx/summarizer/model"
)

// said is an error that the agent tells of in its output.
type said struct{ text string }

func (e *said) Error() string { return e.text }

// errNoOutput says that the output of an agent has neither an answer nor an error.
var errNoOutput = errors.New("no answer in its output")

// errLate says that the agent was killed since its time was over.
var errLate = errors.New("did not answer in time; summarizer.NAME.timeout sets how long it may take")

// errTool says that the agent used a tool. None was offered, so its version does not do what the flags say.
var errTool = errors.New("a tool was used, though none is allowed: this version is not known to work without tools")

// sign is a pattern in what an agent says of its failure, and what it means.
type sign struct {
	pattern *regexp.Regexp
	kind    summarizer.Kind
}

// signs are looked for in this order: what lasts comes before what passes, since both are often called a quota, and the answer 429.
var signs = []sign{
	{regexp.MustCompile(`(?i)prompt is too long|context (window|length)|context_length|input token count|too many tokens|\b413\b`), summarizer.Refused},
	{regexp.MustCompile(`(?i)insufficient_quota|billing|credit|usage limit|spend limit|(hit|reached) your\b.*\blimit|daily|per ?day|\b402\b`), summarizer.Quota},
	{regexp.MustCompile(`(?i)overloaded|rate.?limit|too many requests|capacity|high demand|resource.?exhausted|\b(429|503|529)\b`), summarizer.Capacity},
	{regexp.MustCompile(`(?i)quota`), summarizer.Quota},
	{regexp.MustCompile(`(?i)log ?in\b|logged in|logged out|api.?key|auth method|authenticat|unauthori[sz]ed|credential|oauth|\b(401|403)\b`), login},
	{regexp.MustCompile(`(?i)not ?found|unknown (option|argument|flag|model)|unexpected argument|invalid (model|value)|unsupported|\b(400|404)\b`), summarizer.Terminal},
}

// login is terminal, and has a remedy of its own. It is never told to ctx.
const login summarizer.Kind = "login"

// explain says why a run gave no answer. err is that of the reader; what the agent says of itself comes first, which some write to their standard
// error, and then the last line there.
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
		text = own.text
	case errors.Is(err, errTool):
		return &model.Error{Kind: summarizer.Terminal, Message: fmt.Sprintf("%s: %v", r.Agent.Name, err)}
	default:
		text = strings.TrimPrefix(e.told(), ": ")
	}
	kind := kindOf(text)
	switch {
	case errors.Is(e.err, errLate) && text != "":
		text = fmt.Sprintf("%v; the last that it said: %s", errLate, text)
	case errors.Is(e.err, errLate):
		text = errLate.Error()
	case text == "":
		text = errNoOutput.Error()
		if err != nil {
			text = err.Error()
		}
		if e.err != nil {
			text += fmt.Sprintf(" (%v)", e.err)
		}
	}
	message := fmt.Sprintf("%s: %s", r.Agent.Name, strings.TrimSpace(text))
	if kind == login {
		kind, message = summarizer.Terminal, message+": "+r.Agent.Login
	}
	return &model.Error{Kind: kind, Message: message}
}

func kindOf(text string) summarizer.Kind {
	for _, s := range signs {
		if s.pattern.MatchString(text) {
			return s.kind
		}
	}
	return summarizer.Transient
}
