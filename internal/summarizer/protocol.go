// Package summarizer asks programs for summaries. A helper is a program of the user's choice that
// speaks JSON lines over its standard input and output; docs/summarizers.md describes the protocol.
// A chain asks several helpers in order, remembers which ones cannot be asked for now, and may end
// in the extractive summarizer, which needs no program.
//
// The output of a helper is input from outside: it is bounded, timed, checked and cleaned. Every
// failure of a helper has a Kind, and leaves the cluster as it was. Begin with Chain and Helper.
package summarizer

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed" // the prompt
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
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/wording"
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
		return because(Binary, "wrote bytes that are no text")
	case json.Unmarshal(line, into) != nil:
		return because(Garbage, "wrote a line that is not of the protocol: %s", quoted(line))
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
		return c, because(Garbage, "%v: %s", err, quoted(line))
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
		return a, because(Garbage, "wrote a line that is no answer: %s", quoted(line))
	case a.Claim != claim && answered[a.Claim]:
		return a, because(Twice, "answered claim %s again", child.OneLine(a.Claim, 12))
	case a.Claim != claim:
		return a, because(WrongClaim, "answered claim %s, which it was not given",
			child.OneLine(a.Claim, 12))
	case a.Error != nil && !slices.Contains(saidKinds(), a.Error.Kind):
		return a, because(Garbage, "told of an error of an unknown kind: %s",
			quoted([]byte(a.Error.Kind)))
	case a.Error != nil:
		return a, because(a.Error.Kind, "%s",
			cmp.Or(Plain(a.Error.Message), "it did not say why"))
	}
	return a, nil
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
	by := fmt.Sprintf("%s/%s+prompt/%s", nameOf(c.Name, 40), nameOf(c.Version, 40),
		nameOf(cmp.Or(c.PromptVersion, PromptVersion), 24))
	if model = nameOf(strings.TrimSpace(model), 80); model == "" {
		return by
	}
	return model + "@" + by
}

// Kind is the reason, in one word, why a summarizer gave no summary.
type Kind string

// The kinds of failures that ctx detects.
const (
	Missing    Kind = "missing"     // the program does not exist or cannot be started
	Silent     Kind = "silent"      // it did not write its first line
	Slow       Kind = "slow"        // it did not answer in time
	Crashed    Kind = "crashed"     // it ended before it answered
	Garbage    Kind = "garbage"     // it wrote a line that is not of the protocol
	Binary     Kind = "binary"      // it wrote a line that is not UTF-8, or has zero bytes
	Oversized  Kind = "oversized"   // it wrote a line longer than MaxLine
	WrongClaim Kind = "wrong-claim" // it answered a claim that it was not given
	Twice      Kind = "twice"       // it answered a claim twice
	Empty      Kind = "empty"       // its summary has neither a letter nor a digit
	Longer     Kind = "longer"      // its summary is longer than the source, or than requested
	TooLong    Kind = "too-long"    // the inputs exceed its limit, so it was not asked
)

// The kinds of failures that a helper reports.
const (
	// The quota is used up; asking again does not help until somebody changes that
	Quota     Kind = "quota"
	Capacity  Kind = "capacity"  // too busy now; asking again soon may help
	Transient Kind = "transient" // it failed; the next request may succeed
	// Its settings cannot work, for example a refused key or an unknown model
	Terminal Kind = "terminal"
	Refused  Kind = "refused" // it does not summarize this claim; others may work
)

// None is the kind of the error of a chain in which no member could be asked.
const None Kind = "unavailable"

// saidKinds returns the kinds that a helper may report.
func saidKinds() []Kind { return []Kind{Quota, Capacity, Transient, Terminal, Refused} }

// Failure is the error of one summarizer.
type Failure struct {
	Name string // of the summarizer in the user's settings
	Kind Kind
	Why  string // one line, cleaned
}

// because returns a failure whose name the caller sets.
func because(kind Kind, why string, args ...any) *Failure {
	return &Failure{Kind: kind, Why: fmt.Sprintf(why, args...)}
}

func (f *Failure) Error() string {
	return fmt.Sprintf("summarizer %s: %s: %s", f.Name, f.Kind, f.Why)
}

// Reason returns the kind as text, for statistics.
func (f *Failure) Reason() string { return string(f.Kind) }

// ofAnswer reports whether a failure concerns only one answer. After any other failure the helper
// is stopped, because its next line could belong to the failed request, or because it would fail
// again.
func (k Kind) ofAnswer() bool {
	switch k {
	case Empty, Longer, TooLong, Refused:
		return true
	}
	return false
}

// Unanswered is the error of a chain in which no member gave a summary.
type Unanswered struct {
	Failures []*Failure // of the asked members, in order
	Skipped  []Passed   // the members that were not asked, in order
}

// Passed is a member that was not asked.
type Passed struct {
	Skip
	Since *Failure // the earlier failure in this run that is the reason; nil if the reason is older
}

func (u *Unanswered) Error() string {
	all := lists.Map(u.Failures, func(f *Failure) string {
		return fmt.Sprintf("%s: %s: %s", f.Name, f.Kind, f.Why)
	})
	for _, s := range u.Skipped {
		if s.Since != nil {
			all = append(all, fmt.Sprintf("%s: %s: %s", s.Name, s.Since.Kind, s.Since.Why))
			continue
		}
		all = append(all, fmt.Sprintf("%s: not asked: %s", s.Name, s.Reason))
	}
	return "no summarizer answered: " + strings.Join(all, "; ")
}

// Reason returns the kind of the last failure in this run, or None if no member was asked.
func (u *Unanswered) Reason() string {
	if n := len(u.Failures); n > 0 {
		return u.Failures[n-1].Reason()
	}
	for _, s := range u.Skipped {
		if s.Since != nil {
			return s.Since.Reason()
		}
	}
	return string(None)
}

// maxWhy is the largest length in bytes of a reason for people.
const maxWhy = 300

// Clean makes a summary fit to be stored, by the rules of wording.Summary: it must have at most the
// requested tokens and must not be longer than its inputs. Cleaning a clean text changes nothing.
func Clean(ask summarize.Request, text string) (string, *Failure) {
	out, f := wording.Summary(strings.ToValidUTF8(text, "\ufffd"), ask.Tokens, sourceTokens(ask))
	if f != nil {
		return "", because(Kind(f.Kind), "%s", f.Why)
	}
	return out, nil
}

// aboutInputs returns a failure for a text that is no summary of its inputs; see wording.Evades.
func aboutInputs(ask summarize.Request, text string) *Failure {
	sources := lists.Map(ask.Inputs, func(p summarize.Input) string { return p.Text })
	if f := wording.Evades(text, sources); f != nil {
		return because(Kind(f.Kind), "%s", f.Why)
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

// PromptVersion is the version of the prompt. Every change of the text changes it.
const PromptVersion = "1"

// prompt is the instruction that a helper gives to its model. The text is the same for every claim,
// so that one digest identifies it and a provider can cache it; lengths are sent beside it. The
// rule about instructions comes first, because the quoted inputs may contain text that was written
// to be obeyed.
//
//go:embed prompt.txt
var prompt string

// PromptOn returns the prompt with what the user asked the summary to keep, unless that is "". It
// is a part of the instruction, so that it reaches the model of every helper.
func PromptOn(focus string) string {
	text := strings.TrimSuffix(prompt, "\n")
	if focus == "" {
		return text
	}
	return text + "\n\nThe user asks that this summary keep, before all else and in detail, what " +
		"the inputs say about the following. What they do not say about it is not to be added.\n" +
		focus
}

// PromptID returns the SHA-256 of the prompt for a focus.
func PromptID(focus string) format.ID {
	return format.ID(sha256.Sum256([]byte(PromptOn(focus))))
}
