package summarizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
)

// Version is the version of the protocol: each line from either side has it as "v".
const Version = 1

// Bounds of what a helper may write.
const (
	MaxLine   = 1 << 20  // bytes of a line: a summary is a few thousand
	MaxStderr = 64 << 10 // bytes of its standard error that are kept, the newest ones
)

// minInput is the least that a helper has to take: a piece of a cluster has to be longer than the summary of it.
const minInput = 256

// mostInput keeps sums of tokens from overflowing.
const mostInput = 100_000_000

// Capability is the first line of a helper.
type Capability struct {
	Ctx            string `json:"ctx"` // "summarizer"
	V              int    `json:"v"`
	Name           string `json:"name"`
	Version        string `json:"version"`
	MaxInputTokens int    `json:"max_input_tokens"`         // of the inputs of one request in all, as summarize.Tokens counts
	PromptVersion  string `json:"prompt_version,omitempty"` // of a prompt of its own; "" or PromptVersion: the one it is sent
}

// Request is one claim, as a helper reads it.
type Request struct {
	V             int     `json:"v"`
	Claim         string  `json:"claim"`      // to be repeated in the answer
	Tokens        int     `json:"tokens"`     // the most the summary may have
	Words         int     `json:"words"`      // what a model should be told: so many words stay within Tokens
	TimeoutMS     int64   `json:"timeout_ms"` // how long ctx waits for the answer
	PromptVersion string  `json:"prompt_version"`
	Prompt        string  `json:"prompt"`
	Inputs        []Input `json:"inputs"`
}

// Input is one input of a request.
type Input struct {
	Kind   string `json:"kind"` // "entry" or "summary"
	ID     string `json:"id"`
	Role   string `json:"role,omitempty"`
	Author string `json:"author,omitempty"`
	Time   string `json:"time,omitempty"` // RFC 3339, UTC
	Text   string `json:"text"`
}

// Answer is what a helper says to a request: a text or an error.
type Answer struct {
	V     int          `json:"v"`
	Claim string       `json:"claim"`
	Text  string       `json:"text,omitempty"`
	Model string       `json:"model,omitempty"` // who wrote the text
	Error *AnswerError `json:"error,omitempty"`
}

// AnswerError is why there is no text.
type AnswerError struct {
	Kind    Kind   `json:"kind"` // quota, capacity, transient, terminal or refused
	Message string `json:"message"`
}

func requestOf(ask summarize.Ask, timeout time.Duration) Request {
	r := Request{V: Version, Claim: ask.Claim.String(), Tokens: ask.Tokens, Words: wordsFor(ask.Tokens), TimeoutMS: timeout.Milliseconds(),
		PromptVersion: PromptVersion, Prompt: Prompt, Inputs: make([]Input, 0, len(ask.Inputs))}
	for _, p := range ask.Inputs {
		in := Input{Kind: "entry", ID: p.ID.String(), Role: p.Role, Author: p.Author, Text: p.Text}
		if p.Summary {
			in.Kind = "summary"
		}
		if !p.Time.IsZero() {
			in.Time = format.FormatTime(p.Time)
		}
		r.Inputs = append(r.Inputs, in)
	}
	return r
}

// wordsFor is how many words are asked for: half as many as there may be tokens. An English word with its space takes some one and a half by
// summarize.Tokens, so that there is a quarter to spare; a character of a script without spaces takes one and a half as well.
func wordsFor(tokens int) int { return max(tokens/2, 1) }

// encodeLine returns v as a line of JSON. Characters that mean something in HTML stay as they are: helpers read it with all kinds of tools.
func encodeLine(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// decodeLine reads a line from a helper. The error, if any, has a kind and a reason; who said it is for the caller to fill in.
func decodeLine(line []byte, into any) *Failure {
	switch {
	case bytes.IndexByte(line, 0) >= 0 || !utf8.Valid(line):
		return &Failure{Kind: Binary, Why: "wrote bytes that are no text"}
	case json.Unmarshal(line, into) != nil:
		return &Failure{Kind: Garbage, Why: fmt.Sprintf("wrote a line that is not of the protocol: %s", quoted(line))}
	}
	return nil
}

// decodeCapability reads a helper's first line.
func decodeCapability(line []byte) (Capability, *Failure) {
	var c Capability
	if f := decodeLine(line, &c); f != nil {
		return c, f
	}
	if err := c.check(); err != nil {
		return c, &Failure{Kind: Garbage, Why: fmt.Sprintf("%v: %s", err, quoted(line))}
	}
	return c, nil
}

func (c Capability) check() error {
	switch {
	case c.Ctx != "summarizer":
		return errors.New(`first line has no "ctx":"summarizer"`)
	case c.V != Version:
		return fmt.Errorf("speaks version %d of the protocol, not %d", c.V, Version)
	case c.Name == "" || c.Version == "":
		return errors.New("first line has no name or no version")
	case c.MaxInputTokens < minInput || c.MaxInputTokens > mostInput:
		return fmt.Errorf("max_input_tokens is %d, not from %d to %d", c.MaxInputTokens, minInput, mostInput)
	}
	return nil
}

// decodeAnswer reads the answer to a claim. It returns the failure that the helper tells of, too.
func decodeAnswer(line []byte, claim string, answered map[string]bool) (Answer, *Failure) {
	var a Answer
	if f := decodeLine(line, &a); f != nil {
		return a, f
	}
	switch {
	case a.V != Version || a.Claim == "" || a.Error != nil && a.Text != "":
		return a, &Failure{Kind: Garbage, Why: fmt.Sprintf("wrote a line that is no answer: %s", quoted(line))}
	case a.Claim != claim && answered[a.Claim]:
		return a, &Failure{Kind: Twice, Why: fmt.Sprintf("answered claim %s again", oneLine(a.Claim, 12))}
	case a.Claim != claim:
		return a, &Failure{Kind: WrongClaim, Why: fmt.Sprintf("answered claim %s, which it was not given", oneLine(a.Claim, 12))}
	case a.Error != nil && !slices.Contains(saidKinds(), a.Error.Kind):
		return a, &Failure{Kind: Garbage, Why: fmt.Sprintf("told of an error of an unknown kind: %s", quoted([]byte(a.Error.Kind)))}
	case a.Error != nil:
		return a, &Failure{Kind: a.Error.Kind, Why: told(a.Error.Message)}
	}
	return a, nil
}

func told(message string) string {
	if message = oneLine(message, maxWhy); message == "" {
		return "it did not say why"
	}
	return message
}

// nameOf makes what a helper said of itself fit for a header: every character that would have to be escaped there becomes a minus,
// and goes at the ends.
func nameOf(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._:/-", r)) {
			return r
		}
		return '-'
	}, s)
	return strings.Trim(s[:min(len(s), most)], "-")
}

// versionOf is the version of who answered: model@helper/version+prompt/version, at most 200 bytes.
func versionOf(c Capability, model string) string {
	prompt := c.PromptVersion
	if prompt == "" {
		prompt = PromptVersion
	}
	by := fmt.Sprintf("%s/%s+prompt/%s", nameOf(c.Name, 40), nameOf(c.Version, 40), nameOf(prompt, 24))
	if model = nameOf(strings.TrimSpace(model), 80); model == "" {
		return by
	}
	return model + "@" + by
}
