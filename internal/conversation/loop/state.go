package loop

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/sanitize"
)

// MaxState is the most bytes of a state: every character of the text may be written as an escape.
const MaxState = 128 << 10

// maxMark is the most bytes of a Mark.
const maxMark = 300

// maxCount is where counting ends. Nobody tells a million loops from more.
const maxCount = 1_000_000

const stateVersion = 1

// ErrState says that something is not a state that this package wrote.
var ErrState = errors.New("not a state of loop detection")

type stateDoc struct {
	V       int       `json:"v"`
	Mark    string    `json:"mark,omitempty"`
	Prompt  string    `json:"prompt,omitempty"`
	Count   int       `json:"count"`
	Rule    string    `json:"rule,omitempty"`
	Period  int       `json:"period,omitempty"`
	Calls   []callDoc `json:"calls,omitempty"` // oldest first
	Text    string    `json:"text,omitempty"`
	Reading marks     `json:"reading"`
}

type callDoc struct {
	Key string `json:"key"`
	ID  string `json:"id,omitempty"`
}

// Encode returns the state as JSON. The text in it is cleaned: what looks like a secret is not
// written to a disk, here as elsewhere. A loop of text with secrets in it may so be found later
// than without a stop in between. Everything else is as it was: calls and prompts are digests.
func (d *Detector) Encode() ([]byte, error) {
	text, _, err := sanitize.Text([]byte(string(d.content.text)))
	if err != nil {
		return nil, fmt.Errorf("cannot sanitize the state of loop detection: %w", err)
	}
	if all := []rune(string(text)); len(all) > maxText {
		// A marker may be longer than what it stands for
		text = []byte(string(all[len(all)-maxText:]))
	}
	doc := stateDoc{
		V: stateVersion, Mark: d.Mark, Prompt: d.prompt, Count: d.count, Rule: d.found.Rule,
		Period: d.found.Period, Text: string(text),
		Reading: d.content.marks,
	}
	for _, c := range d.calls {
		doc.Calls = append(doc.Calls, callDoc{c.key, c.id})
	}
	if err := doc.check(); err != nil {
		return nil, err
	}
	return json.Marshal(doc)
}

// Decode reads what Encode wrote. ErrState says that it is something else, or of another version.
func Decode(b []byte) (*Detector, error) {
	if len(b) > MaxState {
		return nil, fmt.Errorf("%w: it has %d bytes, %d is the most", ErrState, len(b), MaxState)
	}
	var doc stateDoc
	if err := jsonvalue.Exact(b, &doc); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrState, err)
	}
	if err := doc.check(); err != nil {
		return nil, err
	}
	d := &Detector{Mark: doc.Mark, prompt: doc.Prompt, count: doc.Count}
	d.found = Verdict{Detected: doc.Rule != "", Rule: doc.Rule, Period: doc.Period}
	for _, c := range doc.Calls {
		d.calls = append(d.calls, call{c.Key, c.ID})
	}
	for _, r := range doc.Text {
		d.content.push(r)
	}
	d.content.marks = doc.Reading
	return d, nil
}

// check holds a state to what a Detector can be.
func (doc *stateDoc) check() error {
	bad := func(what string) error { return fmt.Errorf("%w: bad %s", ErrState, what) }
	switch {
	case doc.V != stateVersion:
		return fmt.Errorf("%w: version %d, known is %d", ErrState, doc.V, stateVersion)
	case len(doc.Mark) > maxMark || !utf8.ValidString(doc.Mark):
		return bad("mark")
	case doc.Prompt != "" && !isDigest(doc.Prompt):
		return bad("prompt")
	case doc.Count < 0 || doc.Count > maxCount:
		return bad("count")
	case doc.Rule != "" && doc.Rule != RuleCalls && doc.Rule != RuleContent:
		return bad("rule")
	case (doc.Rule == "") != (doc.Period == 0) || doc.Period < 0 || doc.Period > maxText ||
		doc.Rule != "" && doc.Count == 0:
		return bad("period")
	case len(doc.Calls) > maxCalls:
		return bad("calls")
	case utf8.RuneCountInString(doc.Text) > maxText:
		return bad("text")
	}
	for _, c := range doc.Calls {
		if !isDigest(c.Key) || c.ID != "" && !isDigest(c.ID) {
			return bad("call")
		}
	}
	if m := doc.Reading; m.Ticks < 0 || m.Ticks > 2 || m.State < 0 || m.State >= lineStates ||
		utf8.RuneCountInString(m.Begin) > maxBegin || m.State != lineBegins && m.Begin != "" {
		return bad("reading")
	}
	return nil
}

func isDigest(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == len(digest(""))/2 && strings.ToLower(s) == s
}
