package view

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/epochs/epoch"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/message"
)

// kind is the kind of an item.
type kind int

const (
	textItem kind = iota
	callItem
	resultItem
	mediaItem // bytes, or a reference to them
	otherItem // any other part of a model's message
	updateItem
)

// item is one piece of a message, in the same form for all providers.
type item struct {
	kind     kind
	text     string            // what a reader sees; of a result the output of the tool
	id, name string            // of a call, or of the call that a result names
	wire     string            // the id in the Gemini part; it may lack where the message knows one
	key      string            // joins a call and its result; "" for a result without its call
	args     json.RawMessage   // of a call: an object
	response json.RawMessage   // of a result: an object
	failed   bool              // the result is an error
	parts    []json.RawMessage // of a result: attachments, which only Gemini takes
	notes    []string          // texts in place of attachments, for others
	// The Gemini part as stored; nil if there is none, or if the item was changed
	raw json.RawMessage
}

// messageItems is a message and its items.
type messageItems struct {
	Message
	items []item
	start int  // index of the oldest message on which it depends
	cut   bool // a part of the message is missing
	// digest: this is not a message, but sentences of several.
	digest  bool
	inWords bool // calls and results are described in text
}

// readAll reads messages and pairs their calls and results.
func readAll(messages []Message) []messageItems {
	out := make([]messageItems, len(messages))
	for i, m := range messages {
		out[i] = messageItems{Message: m, items: readItems(m), start: i}
	}
	pair(out)
	return out
}

const goneText = "[forgotten]"

// readItems returns the items of a message, without thoughts. If the parts have no calls or
// results, those that the message lists are added, so that an imported plain text still pairs.
func readItems(m Message) []item {
	var items []item
	switch {
	case m.Update:
		return []item{{kind: updateItem, text: epoch.Wrap(m.Text)}}
	case m.Gone:
		items = []item{{kind: textItem, text: goneText}}
	case m.isReplacement():
		items = []item{{kind: textItem,
			text: ReplacementLead(m.Replaces, "message", m.ID) + m.Text}}
	case m.Parts == nil:
		items = []item{{kind: textItem, text: m.Text}}
	default:
		items = readParts(m)
	}
	items = addCalls(items, m.Calls)
	return addResults(items, m.Results)
}

// functionCall and functionResult are members of a Gemini part that is not printed as stored.
type functionCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type functionResult struct {
	ID       string            `json:"id,omitempty"`
	Name     string            `json:"name"`
	Response json.RawMessage   `json:"response"`
	Parts    []json.RawMessage `json:"parts,omitempty"`
}

func readParts(m Message) []item {
	parts, err := message.Parse(m.Parts)
	if err != nil {
		return []item{textOf(cmp.Or(m.Text, string(m.Parts)))}
	}
	var items []item
	for _, p := range message.Split(parts) {
		if it, ok := readPart(&p); ok {
			items = append(items, it)
		}
	}
	return items
}

// readPart returns the item of a part with one meaning; false for a thought.
func readPart(p *message.Part) (item, bool) {
	raw := p.Raw
	if p.Malformed || raw[0] != '{' {
		raw = nil // it cannot be printed as stored
	}
	switch {
	case p.Call != nil:
		c := p.Call
		return item{kind: callItem, id: c.ID, wire: c.ID, name: c.Name,
			args: object(c.Args, "value"), raw: raw}, true
	case p.Result != nil:
		return readResult(p.Result, raw), true
	case p.Thought:
		return item{}, false
	case p.Media != nil:
		return item{kind: mediaItem, text: note(p.Media), raw: raw}, true
	case p.HasText:
		return item{kind: textItem, text: p.Text, raw: raw}, true
	}
	return item{kind: otherItem, text: "[part " + compact(p.Raw) + "]", raw: raw}, true
}

func readResult(r *message.Result, raw json.RawMessage) item {
	it := item{
		kind: resultItem, id: r.ID, wire: r.ID, name: r.Name,
		response: object(r.Response, "output"), parts: r.Parts, raw: raw,
		text: r.Printed(), failed: r.Failed(),
	}
	for _, attached := range r.Parts {
		p, err := message.ParsePart(attached)
		if err != nil {
			it.notes = append(it.notes, compact(attached))
		} else if inner, ok := readPart(&p); ok {
			it.notes = append(it.notes, inner.text)
		}
	}
	return it
}

// note is the text in place of media.
func note(m *message.Media) string {
	if m.URI != "" {
		return fmt.Sprintf("[attachment %s, %s]", m.MimeType, m.URI)
	}
	return fmt.Sprintf("[attachment %s, %d bytes]", m.MimeType,
		len(strings.TrimRight(m.Data, "="))*3/4)
}

// object returns v if it is a JSON object, {} for nothing, and {name: v} for anything else.
func object(v json.RawMessage, name string) json.RawMessage {
	switch v = bytes.TrimSpace(v); {
	case len(v) == 0 || string(v) == "null":
		return json.RawMessage("{}")
	case v[0] == '{':
		return v
	}
	return json.RawMessage(`{"` + name + `":` + string(v) + `}`)
}

// addCalls appends the listed calls if the items have no call at all. Otherwise it sets the ids of
// parts without an id.
func addCalls(items []item, calls []format.Call) []item {
	at := indexes(items, callItem)
	if len(at) == 0 {
		for _, c := range calls {
			items = append(items, item{kind: callItem, id: c.ID, wire: c.ID, name: c.Tool,
				args: json.RawMessage("{}")})
		}
		return items
	}
	for n, i := range at {
		if items[i].id == "" && len(at) == len(calls) {
			items[i].id = calls[n].ID
		}
	}
	return items
}

// addResults does the same for results. A plain text that answers a call is the output of the tool;
// if the message answers several calls, the text belongs to the first.
func addResults(items []item, results []string) []item {
	at := indexes(items, resultItem)
	for n, i := range at {
		if items[i].id == "" && len(at) == len(results) {
			items[i].id = results[n]
		}
	}
	if len(at) > 0 || len(results) == 0 {
		return items
	}
	var words []string
	var others []item
	for _, it := range items {
		if it.kind == textItem {
			words = append(words, it.text)
		} else {
			others = append(others, it)
		}
	}
	out := make([]item, 0, len(results)+len(others))
	for n, id := range results {
		text := ""
		if n == 0 {
			text = strings.Join(words, "\n")
		}
		out = append(out, resultOf(id, "", text, false))
	}
	return append(out, others...)
}

// resultOf makes a result from plain text.
func resultOf(id, name, text string, failed bool) item {
	field := "output"
	if failed {
		field = "error"
	}
	response := json.RawMessage(`{"` + field + `":` + encode(text) + `}`)
	return item{kind: resultItem, id: id, wire: id, name: name, text: text, failed: failed,
		response: response}
}

func indexes(items []item, k kind) []int {
	var at []int
	for i := range items {
		if items[i].kind == k {
			at = append(at, i)
		}
	}
	return at
}

func textOf(s string) item { return item{kind: textItem, text: s} }

// readable returns the text of an item for a reader.
func readable(it item) string {
	switch it.kind {
	case callItem:
		return "[tool call " + it.name + " " + compact(it.args) + "]"
	case resultItem:
		return "[tool result " + it.name + "] " + withNotes(it)
	}
	return it.text
}

// withNotes returns the output of a tool, with the texts in place of its attachments.
func withNotes(it item) string {
	return strings.Join(append([]string{it.text}, it.notes...), "\n")
}

func readableAll(items []item) string {
	return strings.Join(lists.Map(items, readable), "\n")
}

// isBlank reports whether a model's message has nothing to print, as one that is only a thought.
func (m messageItems) isBlank() bool {
	return m.Role == "model" && !m.Gone && strings.TrimSpace(readableAll(m.items)) == ""
}
