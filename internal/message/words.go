package message

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/sanitize/controls"
)

// Text returns the text for people: all texts except thoughts and empty ones, joined by line feeds.
// Calls and results are omitted.
func Text(parts []Part) string {
	var said []string
	for i := range parts {
		if p := &parts[i]; p.Text != "" && !p.Thought {
			said = append(said, p.Text)
		}
	}
	return strings.Join(said, "\n")
}

// Words returns everything in the parts that search and summaries use, joined by line feeds in the
// order of the parts: texts, calls as "[call NAME] ARGS", and what results printed. The contents
// of one part have the order of Split. Thoughts, empty texts and media are omitted.
func Words(parts []Part) string {
	var said []string
	for _, p := range Split(parts) {
		switch {
		case p.Call != nil:
			said = append(said, "[call "+p.Call.Name+"] "+plain(p.Call.Args))
		case p.Result != nil:
			said = append(said, p.Result.Printed())
		case p.Text != "" && !p.Thought:
			said = append(said, p.Text)
		}
	}
	return strings.Join(said, "\n")
}

// Output returns the output of the tool as text. If the response is a string, or an object with a
// single member that is a string, the result is that string. Any other response is returned as JSON
// without white space and unnecessary escapes, with its members in their order. The result is "" if
// there is no response.
func (r *Result) Output() string { return plain(r.Response) }

// Printed is Output without the JSON object that older Codex puts around what a tool printed.
func (r *Result) Printed() string {
	text := r.Output()
	if printed, exits, _ := Unwrap(text); exits != nil {
		return printed
	}
	return text
}

// Unwrap reads an output that is a JSON object with "output", and the exit status in "metadata", as
// older Codex has it, or beside it; of a script, those of its commands. exits is nil for none.
func Unwrap(text string) (printed string, exits []int, ok bool) {
	var wrapped struct {
		Output   *string `json:"output"`
		Exit     *int    `json:"exit_code"` // of a command in a script
		Exits    []int   `json:"exit_codes"`
		Metadata struct {
			Exit *int `json:"exit_code"`
		} `json:"metadata"`
	}
	if !strings.HasPrefix(text, "{") || json.Unmarshal([]byte(text), &wrapped) != nil ||
		wrapped.Output == nil {
		return "", nil, false
	}
	// What is within the object is not clean yet: its controls are written as escapes.
	clean, _, _ := controls.Strip([]byte(*wrapped.Output), nil)
	if exit := cmp.Or(wrapped.Metadata.Exit, wrapped.Exit); exit != nil {
		return string(clean), []int{*exit}, true
	}
	return string(clean), wrapped.Exits, true
}

// plain returns a value as text, as Output describes.
func plain(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return ""
	}
	if text, ok := jsonvalue.Text(raw); ok {
		return text
	}
	if only, ok := onlyText(raw); ok {
		return only
	}
	v := jsontext.Value(bytes.Clone(raw))
	if v.Format(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		return string(raw) // not JSON, so not from Parse
	}
	return string(v)
}

// onlyText returns the string in an object whose single member is a string.
func onlyText(raw json.RawMessage) (text string, ok bool) {
	members, _ := jsonvalue.MembersWithin(raw) // none if raw is not an object
	if len(members) != 1 {
		return "", false
	}
	return jsonvalue.Text(members[0].Value)
}
