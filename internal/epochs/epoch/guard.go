package epoch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/message"
)

// Message is the part of a message that decides where an update may stand: its calls and results,
// in order.
type Message struct {
	Update   bool // the message itself is an update
	steps    []step
	provided []string // calls that the provider runs itself
}

type step struct {
	Call
	result bool
}

// Call is a tool call. Its id identifies it, or the name of its tool if it has no id.
type Call struct{ ID, Name string }

func (c Call) String() string {
	if c.ID == "" {
		return c.Name
	}
	return c.ID
}

func (c Call) same(d Call) bool { return c.ID == d.ID && (c.ID != "" || c.Name == d.Name) }

// Split finds the first update that stands between a tool call and its result. It looks at the
// updates among the messages, and at a new update after the last message. It returns the calls that
// are open there and the number of messages before; no calls if every update stands well.
//
// A result answers one open call with its id, because an id is unique only within a step of the
// agent. A result without an id answers an open call of its tool. Other results are ignored. A call
// that has no result stays open. Calls that the provider runs itself are not in a Message.
func Split(messages []Message) (open []Call, at int) {
	for i, m := range messages {
		if m.Update && len(open) > 0 {
			return open, i
		}
		for _, s := range m.steps {
			if !s.result {
				open = append(open, s.Call)
				continue
			}
			if n := slices.IndexFunc(open, s.same); n >= 0 {
				open = slices.Delete(open, n, n+1)
			}
		}
	}
	return open, len(messages)
}

// Open returns a list of open calls for an error message.
func Open(calls []Call) string {
	return strings.Join(lists.Map(calls, func(c Call) string { return c.String() }), ", ")
}

// Said returns the Message of an entry, with the calls and results of its parts, or of its header
// if the parts have none.
func Said(parts []byte, calls []format.Call, results []string) Message {
	var m Message
	list, _ := jsonvalue.Elements(parts)
	for _, p := range list {
		m.part(p)
	}
	made, got := m.count()
	for i, c := range calls {
		switch {
		case slices.Contains(m.provided, c.ID):
		case made == 0:
			m.steps = append(m.steps, step{Call: Call{c.ID, c.Tool}})
		case made == len(calls):
			m.name(i, false, c.ID)
		}
	}
	for i, id := range results {
		switch {
		case got == 0:
			m.steps = append(m.steps, step{Call{ID: id}, true})
		case got == len(results):
			m.name(i, true, id)
		}
	}
	return m
}

func (m *Message) count() (calls, results int) {
	for _, s := range m.steps {
		if s.result {
			results++
		} else {
			calls++
		}
	}
	return calls, results
}

// name sets an id for the nth call or result if it has none.
func (m *Message) name(n int, result bool, id string) {
	for i := range m.steps {
		if m.steps[i].result != result {
			continue
		}
		if n == 0 && m.steps[i].ID == "" {
			m.steps[i].ID = id
		}
		n--
	}
}

// ReadMessages reads the messages that a model will get: a JSON array, a message on each line, or a
// document as `render` prints it for ctx, Gemini, OpenAI or Anthropic. It reads calls, results and
// updates, and passes over every other member.
func ReadMessages(b []byte) ([]Message, error) {
	var out []Message
	d := json.NewDecoder(bytes.NewReader(b))
	for n := 1; ; n++ {
		var raw json.RawMessage
		if err := d.Decode(&raw); err == io.EOF {
			return out, nil
		} else if err != nil {
			return nil, fmt.Errorf("%w: message %d: not JSON", ErrInput, n)
		}
		list, err := jsonvalue.Elements(raw)
		if err != nil {
			fields, ok := object(raw)
			if !ok {
				return nil,
					fmt.Errorf("%w: message %d: neither an object nor an array", ErrInput, n)
			}
			list = []json.RawMessage{raw}
			for _, name := range []string{"tail", "contents", "messages", "input"} {
				if inner, err := jsonvalue.Elements(fields[name]); err == nil {
					list = inner
				}
			}
		}
		for _, raw := range list {
			m, ok := readMessage(raw)
			if !ok {
				return nil, fmt.Errorf("%w: message %d: not an object", ErrInput, len(out)+1)
			}
			m.Update = m.Update && len(out) > 0 // the first message is no update
			out = append(out, m)
		}
	}
}

func readMessage(raw json.RawMessage) (Message, bool) {
	fields, ok := object(raw)
	if !ok {
		return Message{}, false
	}
	m := Message{}
	switch role := text(fields["role"]); {
	case text(fields["kind"]) == "update", role == "system", role == "developer":
		m.Update = true
	case role == "tool" && text(fields["tool_call_id"]) != "": // OpenAI, chat
		m.result(text(fields["tool_call_id"]), "")
	}
	switch text(fields["type"]) { // OpenAI, responses
	case "function_call", "custom_tool_call":
		m.call(text(fields["call_id"]), text(fields["name"]))
	case "function_call_output", "custom_tool_call_output":
		m.result(text(fields["call_id"]), "")
	}
	content := fields["content"]
	if inner, ok := object(content); ok { // an event of the ADK
		content = inner["parts"]
	}
	for _, list := range []json.RawMessage{fields["parts"], content} {
		parts, _ := jsonvalue.Elements(list)
		for _, p := range parts {
			m.part(p)
		}
	}
	calls, _ := jsonvalue.Elements(fields["tool_calls"])
	for _, raw := range calls {
		if c, _ := object(raw); !isTrue(c["providerExecuted"]) {
			m.call(text(c["id"]), "")
		}
	}
	m.headed(fields)
	return m, true
}

// headed takes the calls and results that `log` prints beside the text of a message whose parts
// have none.
func (m *Message) headed(fields map[string]json.RawMessage) {
	if len(m.steps)+len(m.provided) > 0 {
		return
	}
	calls, _ := jsonvalue.Elements(fields["calls"])
	for _, raw := range calls {
		c, _ := object(raw)
		m.call(text(c["id"]), text(c["tool"]))
	}
	results, _ := jsonvalue.Elements(fields["results"])
	for _, id := range results {
		m.result(text(id), "")
	}
}

// part takes the call or result of a part of Gemini or a block of Anthropic. A tool that the
// provider runs itself has parts of other kinds, or a member that says so.
func (m *Message) part(raw json.RawMessage) {
	fields, ok := object(raw)
	if !ok {
		return
	}
	if p, err := message.ParsePart(raw); err == nil {
		m.gemini(p, fields)
	}
	switch text(fields["type"]) {
	case "tool_use":
		m.call(text(fields["id"]), text(fields["name"]))
	case "tool_result":
		m.result(text(fields["tool_use_id"]), "")
	}
}

// gemini takes the call and the result of a part of Gemini.
func (m *Message) gemini(part message.Part, fields map[string]json.RawMessage) {
	for _, p := range message.Split([]message.Part{part}) {
		if r := p.Result; r != nil {
			m.result(r.ID, r.Name)
		}
		if p.Call == nil {
			continue
		}
		call, _ := object(fields["functionCall"])
		if isTrue(fields["providerExecuted"]) || isTrue(call["providerExecuted"]) {
			m.provided = append(m.provided, p.Call.ID)
		} else {
			m.call(p.Call.ID, p.Call.Name)
		}
	}
}

func (m *Message) call(id, name string)   { m.steps = append(m.steps, step{Call: Call{id, name}}) }
func (m *Message) result(id, name string) { m.steps = append(m.steps, step{Call{id, name}, true}) }

// object reads a JSON object. Of members with one name the last counts.
func object(raw json.RawMessage) (fields map[string]json.RawMessage, ok bool) {
	ok = json.Unmarshal(raw, &fields) == nil && fields != nil
	return fields, ok
}

func isTrue(raw json.RawMessage) bool { return string(raw) == "true" }

// text returns what a JSON string says, and "" for any other value.
func text(raw json.RawMessage) string {
	s, _ := jsonvalue.Text(raw)
	return s
}
