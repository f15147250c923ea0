package epoch

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
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
	names := make([]string, len(calls))
	for i, c := range calls {
		names[i] = c.String()
	}
	return strings.Join(names, ", ")
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
