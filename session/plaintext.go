package session

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/message"
)

// plainText is what an entry says to the summariser: its text, or its parts with a command under its prompt, what a tool printed line by line,
// and how it ended. Words says the same for people in fewer lines.
func plainText(shown *Shown) string {
	if shown.Parts == nil {
		return shown.Text
	}
	parts, err := message.Parse(shown.Parts)
	if err != nil {
		return shown.Text
	}
	var said []string
	for _, p := range parts {
		if p.Text != "" && !p.Thought {
			said = append(said, p.Text)
		}
		if p.Call != nil {
			said = append(said, callText(p.Call.Name, p.Call.Args))
		}
		if p.Result != nil {
			said = append(said, fields("", p.Result.Response, maxNesting))
		}
	}
	return strings.Join(said, "\n")
}

// callText is a command as it was given, or a tool and what it was asked.
func callText(name string, args json.RawMessage) string {
	var of struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(args, &of) == nil && of.Command != "" {
		return "$ " + of.Command
	}
	return "[call " + name + "] " + fields("", args, maxNesting)
}

// maxNesting is how deep a value is taken apart; what lies deeper stays JSON.
const maxNesting = 8

// fields writes a JSON value for reading: a text as it is, and of an object or array every value on a line of its own, with its key.
func fields(key string, raw json.RawMessage, nesting int) string {
	lead := ""
	if key != "" {
		lead = key + ": "
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if key == "output" || key == "result" || key == "content" {
			return text
		}
		return lead + text
	}
	if nesting == 0 {
		return lead + string(raw)
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) == nil && object != nil {
		var names, lines []string
		for name := range object {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			if string(object[name]) != "null" { // an error that is null is none
				lines = append(lines, fields(name, object[name], nesting-1))
			}
		}
		return strings.Join(lines, "\n")
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && list != nil {
		var lines []string
		for _, v := range list {
			lines = append(lines, fields(key, v, nesting-1))
		}
		return strings.Join(lines, "\n")
	}
	return lead + string(raw)
}
