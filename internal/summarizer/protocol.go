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
	"github.com/gemini-ctx/ctx/internal/child"
)

// Version is the version of the protocol. Every line of either side has it as "v".
const Version = 1

// The limits of what a helper may write.
const (
	MaxLine = 1 << 20 // bytes of a line; a summary has a few thousand
)

// minInput is the smallest limit that a helper may have: a part of a cluster must be longer than
// its summary.
const minInput = 256

// maxInput keeps sums of tokens from overflowing.
const maxInput = 100_000_000

// Capability is the first line of a helper.
type Capability struct {
	Ctx     string `json:"ctx"` // "summarizer"
	V       int    `json:"v"`
	Name    string `json:"name"`
	Version string `json:"version"`
	// MaxInputTokens bounds all inputs of one request, as summarize.Tokens counts.
	MaxInputTokens int `json:"max_input_tokens"`
	// PromptVersion is that of the helper's own prompt. "" and PromptVersion both mean that it uses
	// the prompt of the request.
	PromptVersion string `json:"prompt_version,omitempty"`
}

// Request is one claim in the form that a helper reads.
type WireRequest struct {
	V      int    `json:"v"`
	Claim  string `json:"claim"`  // repeated in the answer
	Tokens int    `json:"tokens"` // the most tokens of the summary
	// The length to tell a model, which stays within Tokens
	Words         int    `json:"words"`
	TimeoutMS     int64  `json:"timeout_ms"` // how long ctx waits for the answer
	PromptVersion string `json:"prompt_version"`
	Prompt        string `json:"prompt"`
	// What the summary must keep before all else. Prompt has it, too
	Focus  string      `json:"focus,omitempty"`
	Inputs []WireInput `json:"inputs"`
}

// Input is one input of a request.
type WireInput struct {
	Kind   string `json:"kind"` // "entry" or "summary"
	ID     string `json:"id"`
	Role   string `json:"role,omitempty"`
	Author string `json:"author,omitempty"`
	Time   string `json:"time,omitempty"` // RFC 3339, UTC
	Text   string `json:"text"`
}

// Answer is the answer of a helper: a text or an error.
type WireAnswer struct {
	V     int          `json:"v"`
	Claim string       `json:"claim"`
	Text  string       `json:"text,omitempty"`
	Model string       `json:"model,omitempty"` // the model that wrote the text
	Error *AnswerError `json:"error,omitempty"`
}

// AnswerError says why there is no text.
type AnswerError struct {
	Kind    Kind   `json:"kind"` // quota, capacity, transient, terminal or refused
	Message string `json:"message"`
}

func requestOf(ask summarize.Request, timeout time.Duration) WireRequest {
	r := WireRequest{V: Version, Claim: ask.Claim.String(), Tokens: ask.Tokens,
		Words: wordsFor(ask.Tokens), TimeoutMS: timeout.Milliseconds(),
		PromptVersion: PromptVersion, Prompt: PromptOn(ask.Focus), Focus: ask.Focus,
		Inputs: make([]WireInput, 0, len(ask.Inputs))}
	for _, p := range ask.Inputs {
		in := WireInput{Kind: "entry", ID: p.ID.String(), Role: p.Role,
			Author: p.Author, Text: p.Text}
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

// wordsFor returns the number of words to ask for: half the number of tokens. By summarize.Tokens,
// an English word with its space takes about one and a half tokens, and so does a character of a
// script without spaces, which leaves a reserve of a quarter.
func wordsFor(tokens int) int { return max(tokens/2, 1) }

// encodeLine returns v as a line of JSON. It does not escape characters for HTML, because helpers
// read the line with all kinds of tools.
func encodeLine(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// decodeLine decodes a line of a helper. The caller sets the name of the failure.
func decodeLine(line []byte, into any) *Failure {
	switch {
	case bytes.IndexByte(line, 0) >= 0 || !utf8.Valid(line):
		return &Failure{Kind: Binary, Why: "wrote bytes that are no text"}
	case json.Unmarshal(line, into) != nil:
		return &Failure{Kind: Garbage,
			Why: fmt.Sprintf("wrote a line that is not of the protocol: %s", quoted(line))}
	}
	return nil
}

// decodeCapability decodes a helper's first line.
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
	case c.MaxInputTokens < minInput || c.MaxInputTokens > maxInput:
		return fmt.Errorf("max_input_tokens is %d, not from %d to %d", c.MaxInputTokens,
			minInput, maxInput)
	}
	return nil
}

// decodeAnswer decodes the answer to a claim. It also returns a failure that the helper reports.
func decodeAnswer(line []byte, claim string, answered map[string]bool) (WireAnswer, *Failure) {
	var a WireAnswer
	if f := decodeLine(line, &a); f != nil {
		return a, f
	}
	switch {
	case a.V != Version || a.Claim == "" || a.Error != nil && a.Text != "":
		return a,
			&Failure{Kind: Garbage,
				Why: fmt.Sprintf("wrote a line that is no answer: %s", quoted(line))}
	case a.Claim != claim && answered[a.Claim]:
		return a,
			&Failure{Kind: Twice,
				Why: fmt.Sprintf("answered claim %s again", child.OneLine(a.Claim, 12))}
	case a.Claim != claim:
		return a,
			&Failure{Kind: WrongClaim,
				Why: fmt.Sprintf("answered claim %s, which it was not given",
					child.OneLine(a.Claim, 12))}
	case a.Error != nil && !slices.Contains(saidKinds(), a.Error.Kind):
		return a,
			&Failure{Kind: Garbage,
				Why: fmt.Sprintf("told of an error of an unknown kind: %s",
					quoted([]byte(a.Error.Kind)))}
	case a.Error != nil:
		return a, &Failure{Kind: a.Error.Kind, Why: told(a.Error.Message)}
	}
	return a, nil
}

func told(message string) string {
	if message = child.OneLine(message, maxWhy); message == "" {
		return "it did not say why"
	}
	return message
}

// nameOf makes a helper's description of itself fit for a header: it replaces every character that
// would need an escape by a minus, and trims these at the ends.
func nameOf(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf &&
			(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
				strings.ContainsRune("._:/-", r)) {
			return r
		}
		return '-'
	}, s)
	return strings.Trim(s[:min(len(s), most)], "-")
}

// versionOf returns the version of the maker of an answer: model@helper/version+prompt/version, at
// most 200 bytes.
func versionOf(c Capability, model string) string {
	prompt := c.PromptVersion
	if prompt == "" {
		prompt = PromptVersion
	}
	by := fmt.Sprintf("%s/%s+prompt/%s", nameOf(c.Name, 40), nameOf(c.Version, 40),
		nameOf(prompt, 24))
	if model = nameOf(strings.TrimSpace(model), 80); model == "" {
		return by
	}
	return model + "@" + by
}
