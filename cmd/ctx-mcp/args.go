package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/when"
)

// arguments are the arguments of a tool.
type arguments interface {
	check() error
	binding() any // what a cursor holds for: all but where to go on, and how much to return
}

// The maximum bytes of texts in arguments.
const (
	maxQuery = 4096
	maxRev   = 1024
)

// decode reads the arguments of a call. It refuses unknown arguments, since the agent meant
// something by them. null is like no value.
func decode(raw json.RawMessage, into any) error {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(plainly(raw)))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil && d.More() {
		err = errors.New("more than one value")
	}
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case strings.HasPrefix(err.Error(), unknownField):
		return command.Usagef("there is no argument %s: there are %s",
			strings.TrimPrefix(err.Error(), unknownField), strings.Join(namesOf(into), ", "))
	case errors.As(err, &wrong) && wrong.Field == "":
		return command.Usagef("bad arguments: %s is no object", aOrAn(wrong.Value))
	case errors.As(err, &wrong):
		return command.Usagef("bad %s: %s is no %s",
			wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:], aOrAn(wrong.Value),
			plainType(wrong.Type.Kind().String()))
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("they end too early")
	}
	return command.Usagef("bad arguments: %s", strings.TrimPrefix(err.Error(), "json: "))
}

// unknownField begins the error of a decoder about an argument that a tool does not have.
const unknownField = "json: unknown field "

// namesOf returns the names of the arguments that a pointer to a struct has room for.
func namesOf(into any) (names []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeOf(into).Elem()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// plainly returns arguments with each number and truth as JSON has them: models also write 10.0,
// "10" and "true".
func plainly(raw json.RawMessage) json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return raw
	}
	for _, name := range [...]string{"limit", "max_tokens", "line", "to"} {
		n, err := strconv.ParseFloat(strings.Trim(string(all[name]), `"`), 64)
		if err == nil && n == math.Trunc(n) && math.Abs(n) < 1e9 {
			all[name] = json.RawMessage(strconv.Itoa(int(n)))
		}
	}
	for _, name := range [...]string{"reverse", "rewound"} {
		if v := strings.Trim(string(all[name]), `"`); v == "true" || v == "false" {
			all[name] = json.RawMessage(v)
		}
	}
	for _, name := range [...]string{"id", "supersedes", "evidence"} {
		var id string
		if json.Unmarshal(all[name], &id) == nil && id != "" {
			all[name], _ = json.Marshal(plainID(id)) // a string has no error
		}
	}
	if role := all["role"]; role != nil {
		all["role"] = bytes.ToLower(role)
	}
	if plain, err := json.Marshal(all); err == nil && len(all) > 0 {
		return plain
	}
	return raw
}

// plainID returns an id as tools take it: models also copy the brackets and the dots around one, or
// write it in capitals. Any other name stays as it is.
func plainID(id string) string {
	digits := strings.TrimRight(strings.Trim(id, " \t\n[]()<>`\"'"), ".…")
	for _, c := range []byte(digits) {
		if !strings.ContainsRune("0123456789abcdefABCDEF", rune(c)) {
			return id
		}
	}
	return strings.ToLower(digits)
}

// aOrAn puts the article before a word.
func aOrAn(word string) string {
	if strings.IndexAny(word, "aeiou") == 0 {
		return "an " + word
	}
	return "a " + word
}

// plainType returns the JSON name of a Go kind.
func plainType(kind string) string {
	switch kind {
	case "bool":
		return "boolean"
	case "int":
		return "integer"
	}
	return kind
}

// ofBranch names a branch of a session.
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

// branch returns the branch, main by default.
func (o ofBranch) branch() string {
	return cmp.Or(o.Branch, history.MainBranch)
}

// sessionOf returns the session, by default the one that HEAD names.
func (cl *call) sessionOf(o ofBranch) (string, error) {
	return cl.store.Recall.NamedOr(cl.view, o.Session)
}

func checkName(what, name string) error {
	if err := format.CheckName(name); err != nil {
		return command.Usagef("bad %s name: %.80q: %v", what, name, err)
	}
	return nil
}

// checkText limits the length of a text.
func checkText(what, s string, most int) error {
	if len(s) > most {
		return command.Usagef("bad %s: %d bytes: %d is the most", what, len(s), most)
	}
	return nil
}

// between limits a number. 0 means the default.
func between(what string, n, least, most int) error {
	switch {
	case n != 0 && n < least:
		return command.Usagef("bad %s: %d: %d is the least", what, n, least)
	case n > most:
		return command.Usagef("bad %s: %d: %d is the most", what, n, most)
	}
	return nil
}

// The size of a result in estimated tokens. Agents warn of, or cut, results of 10,000 to 25,000.
const (
	leastTokens   = 1000
	defaultTokens = 6000
	mostTokens    = 20000
)

// paging says how much to return, and where to continue.
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
	return cmp.Or(p.MaxTokens, defaultTokens)
}

// idDigits is how many digits of an id are shown. All that takes an id takes so many, tool or
// command.
const idDigits = 12

// span returns what an argument with a time means, in UTC as all times that the tools print; the
// zero span if it is not given.
func span(what, text string, now time.Time) (when.Span, error) {
	if text == "" {
		return when.Span{}, nil
	}
	at, err := when.Parse(text, now.UTC())
	if err != nil {
		err = command.Usagef("bad %s: %.80q: a time is like %s", what, text, when.Examples)
	}
	return at, err
}
