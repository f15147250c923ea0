// Package message says what the parts of a message mean: which text a person said, which tools were
// called, and what they answered. Every reader of parts asks this package, so that all of them
// agree.
//
// A part is a JSON object in the shape of the Gemini API. Names of members are compared byte for
// byte: "Text" is an unknown member, and no text. Unknown members and members with a value of
// another kind say nothing here; they stay in Part.Raw.
package message

import (
	"encoding/json"
)

// Part is one part of a message. A part may have a text, a result and a call at the same time.
type Part struct {
	Text    string // "" where the part has none
	HasText bool   // the part has a text, which may be ""
	// Thought says that the text is what the model thought, and not what it said. A call or a
	// result beside a thought counts as any other. The mark is a member "thought" with any value
	// but false, null and "".
	Thought bool
	Call    *Call   // functionCall; nil where the part has none
	Result  *Result // functionResponse; nil where the part has none
	Media   *Media  // inlineData or fileData; nil where the part has none
	// Malformed says that the part is neither a string nor an object, or that a known member in it
	// has a value of another kind, such as a text that is a number. Such a member says nothing, and
	// no provider takes such a part.
	Malformed bool
	Raw       json.RawMessage // the whole part, as it was written
}

// Call asks for a run of a tool.
type Call struct {
	ID, Name string          // "" where the part does not say
	Args     json.RawMessage // any JSON value; nil when absent or null
}

// Result is what a tool answered to a call.
type Result struct {
	ID, Name string            // of the call; "" where the part does not say
	Response json.RawMessage   // any JSON value; nil when absent or null
	Parts    []json.RawMessage // what the tool attached, such as images; nil when absent
}

// Media is data that is no text: the bytes themselves, or the address of a file.
type Media struct {
	MimeType string
	Data     string // base64; "" where there is an address
	URI      string
}

// Calls returns the calls in parts, in their order.
func Calls(parts []Part) []Call {
	var calls []Call
	for i := range parts {
		if c := parts[i].Call; c != nil {
			calls = append(calls, *c)
		}
	}
	return calls
}

// Results returns the results in parts, in their order.
func Results(parts []Part) []Result {
	var results []Result
	for i := range parts {
		if r := parts[i].Result; r != nil {
			results = append(results, *r)
		}
	}
	return results
}
