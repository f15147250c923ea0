package epoch

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Message is what of a message matters to where an update may stand: the calls that it makes and
// the results that it brings, in order.
type Message struct {
	Update   bool // it is itself something that the model is told by the system
	steps    []step
	provided []string // calls that the provider runs itself
}

type step struct {
	Call
	result bool
}

// Call is a tool call. It is known by its id, or where it has none by its tool's name.
type Call struct{ ID, Name string }

func (c Call) String() string {
	if c.ID == "" {
		return c.Name
	}
	return c.ID
}

func (c Call) same(d Call) bool { return c.ID == d.ID && (c.ID != "" || c.Name == d.Name) }

// Split finds the first place at which an update would part a tool call from its result: an update
// among the messages, or else one after the last of them. It returns the calls that are open there
// and how many messages are before it; no calls where every place is good.
//
// A result answers one open call of its id, since an id is unique within a step of the agent only;
// one without an id answers one of its tool. Results that answer nothing are passed over. A call
// that nobody ever answered is open for good. Calls that the provider runs itself are not among
// those of a Message.
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

// Open says in words which calls are open.
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

// name gives the nth call or result an id if it has none.
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
