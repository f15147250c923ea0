package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/gemini-ctx/ctx/failure"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session"
)

// arguments are those of a tool.
type arguments interface {
	check() error
	binding() any // what a cursor holds for: all but where to go on, and how much to return
}

// Texts in arguments are bounded by these.
const (
	maxQuery = 4096
	maxRev   = 1024
)

// decode reads the arguments of a call. One that the tool has not is refused: an agent that meant something by it should know. null is as good as nothing.
func decode(raw json.RawMessage, into any) error {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil && d.More() {
		err = errors.New("more than one value")
	}
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong) && wrong.Field != "":
		return failure.Usagef("bad %s: a %s is no %s", wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:], wrong.Value, plainType(wrong.Type.Kind().String()))
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("they end too early")
	}
	return failure.Usagef("bad arguments: %s", strings.TrimPrefix(err.Error(), "json: "))
}

// plainType is what JSON calls a type of Go.
func plainType(kind string) string {
	switch kind {
	case "bool":
		return "boolean"
	case "int":
		return "integer"
	case "slice":
		return "array"
	}
	return kind
}

// ofBranch says which branch of which session is meant.
type ofBranch struct {
	Session string `json:"session,omitempty"`
	Branch  string `json:"branch,omitempty"`
}

func (o ofBranch) check() error {
	if o.Session != "" {
		if err := checkName("session", o.Session); err != nil {
			return err
		}
	}
	if o.Branch != "" {
		return checkName("branch", o.Branch)
	}
	return nil
}

// branch is the branch that is meant; main where none is named.
func (o ofBranch) branch() string {
	if o.Branch == "" {
		return session.MainBranch
	}
	return o.Branch
}

// session is the session that is meant; the one that HEAD names where none is named.
func (o ofBranch) session(view *refs.View) (string, error) {
	if o.Session != "" {
		return session.NamedOr(view, o.Session)
	}
	return session.HEAD(view)
}

func checkName(what, name string) error {
	if err := format.CheckName(name); err != nil {
		return failure.Usagef("bad %s name: %.80q: %v", what, name, err)
	}
	return nil
}

// checkText bounds a text that is looked for, or looked up.
func checkText(what, s string, most int) error {
	if len(s) > most {
		return failure.Usagef("bad %s: %d bytes: %d is the most", what, len(s), most)
	}
	return nil
}

// between bounds a number; 0 is for the default.
func between(what string, n, least, most int) error {
	switch {
	case n != 0 && n < least:
		return failure.Usagef("bad %s: %d: %d is the least", what, n, least)
	case n > most:
		return failure.Usagef("bad %s: %d: %d is the most", what, n, most)
	}
	return nil
}

// How much a result may have, in tokens as ctx estimates them. Agents warn of, or cut, results of 10,000 to 25,000.
const (
	leastTokens   = 1000
	defaultTokens = 6000
	mostTokens    = 20000
)

// paging says how much is returned, and where it goes on.
type paging struct {
	MaxTokens int    `json:"max_tokens,omitempty"`
	Cursor    string `json:"cursor,omitempty"`
}

func (p paging) check() error {
	if err := between("max_tokens", p.MaxTokens, leastTokens, mostTokens); err != nil {
		return err
	}
	if len(p.Cursor) > maxCursor {
		return badCursor()
	}
	return nil
}

func (p paging) tokens() int {
	if p.MaxTokens == 0 {
		return defaultTokens
	}
	return p.MaxTokens
}

// param is an argument as a schema says it.
type param struct {
	name, kind, text string
	required         bool
	least, most      int      // of a number; 0 for no bound
	initial          any      // what it is when it is not given; nil for nothing to say
	oneOf            []string // of a text
}

// schemaOf is the JSON schema of a tool's arguments. It is there to tell; check refuses.
func schemaOf(params []param) map[string]any {
	properties := map[string]any{}
	var required []string
	for _, p := range params {
		one := map[string]any{"type": p.kind, "description": p.text}
		if p.kind == "array" {
			one["items"] = map[string]any{"type": "string"}
		}
		if p.least != 0 {
			one["minimum"] = p.least
		}
		if p.most != 0 {
			one["maximum"] = p.most
		}
		if p.initial != nil {
			one["default"] = p.initial
		}
		if p.oneOf != nil {
			one["enum"] = p.oneOf
		}
		if p.required {
			required = append(required, p.name)
		}
		properties[p.name] = one
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if required != nil {
		schema["required"] = required
	}
	return schema
}

func sessionParam() param {
	return param{name: "session", kind: "string", text: "The session (default: the one that HEAD names)."}
}

func branchParam() param {
	return param{name: "branch", kind: "string", text: "The branch of the session.", initial: session.MainBranch}
}

func pagingParams() []param {
	return []param{
		{name: "max_tokens", kind: "integer", text: "At most so many tokens in the result.", least: leastTokens, most: mostTokens, initial: defaultTokens},
		{name: "cursor", kind: "string", text: "To go on where a result ended: its `next`, with the same other arguments."},
	}
}

func readerParam() param {
	return param{name: "reader", kind: "string", text: "Only what a reader in this branch, or at this revision, of the session may see."}
}
