// Package message defines the meaning of the parts of a message: the text that somebody said, the
// called tools, and their results. All readers of parts use this package, so that they agree.
//
// A part is a JSON object in the form of the Gemini API. Names of members are compared byte for
// byte: "Text" is an unknown member, not a text. Unknown members, and known members with a value of
// another kind, have no meaning here; they stay in Part.Raw.
//
// Begin with Part and Parse, for notes with Note (notes.go). The package is pure.
package message

import (
	"encoding/json"
)

// Part is one part of a message. A part may have a text, a result and a call at the same time.
type Part struct {
	Text    string // "" if the part has none
	HasText bool   // the part has a text, which may be ""
	// Thought marks the text as a thought of the model, which nobody was told. A call or a result
	// beside it is not affected. The JSON member "thought" with any value except false, null and ""
	// sets it.
	Thought bool
	Call    *Call   // functionCall; nil if the part has none
	Result  *Result // functionResponse; nil if the part has none
	Media   *Media  // inlineData or fileData; nil if the part has none
	// Malformed says that the part is neither a string nor an object, or that a known member has a
	// value of another kind, for example a number as text. Such a member is ignored, and no
	// provider accepts such a part.
	Malformed bool
	Raw       json.RawMessage // the whole part as written
}

// Call is a request to run a tool.
type Call struct {
	ID, Name string          // "" if absent
	Args     json.RawMessage // any JSON value; nil if absent or null
	Failed   bool            // its client tells beside it that it failed; Calls sets it
}

// Result is the result of a call.
type Result struct {
	ID, Name string            // of the call; "" if absent
	Response json.RawMessage   // any JSON value; nil if absent or null
	Parts    []json.RawMessage // attachments of the tool, such as images; nil if absent
}

// Media is binary data, or the address of a file.
type Media struct {
	MimeType string
	Data     string // base64; "" if there is an address
	URI      string
}

// Calls returns the calls in parts, in their order.
func Calls(parts []Part) []Call {
	var calls []Call
	for i := range parts {
		if c := parts[i].Call; c != nil {
			c.Failed = parts[i].callFailed()
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
