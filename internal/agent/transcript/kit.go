package transcript

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Replay is a conversation, and those of its subagents, as steps make it: for tests, and for
// reading back what was written.
type Replay struct {
	Threads map[string][]Message // by name; "" is the main one
	known   map[Origin]Message
	Rewinds int
	Session string
}

// NewReplay begins with nothing.
func NewReplay() *Replay {
	return &Replay{Threads: map[string][]Message{}, known: map[Origin]Message{}}
}

// Step takes the next step. It refuses a step that does not follow from those before.
func (r *Replay) Step(st Step) error {
	list := r.Threads[st.Thread]
	at := func(o Origin) int { return slices.IndexFunc(list, func(m Message) bool { return m.Origin == o }) }
	r.Session = st.Session
	switch st.Kind {
	case KindRewind:
		i := at(st.RewindTo)
		if i < 0 {
			return fmt.Errorf("rewind to %v, which is not in the conversation", st.RewindTo)
		}
		list = list[:i]
		r.Rewinds++
	default:
		if err := st.Message.check(); err != nil {
			return err
		}
		if i := at(st.Message.Origin); i >= 0 {
			list[i] = st.Message
		} else {
			list = append(list, st.Message)
		}
		r.known[st.Message.Origin] = st.Message
	}
	r.Threads[st.Thread] = list
	return nil
}

func (m *Message) check() error {
	var list []json.RawMessage
	switch {
	case m.Text != "" && m.Parts != nil:
		return fmt.Errorf("%v has text and parts", m.Origin)
	case m.Parts != nil && json.Unmarshal(m.Parts, &list) != nil:
		return fmt.Errorf("%v: parts are no array: %s", m.Origin, m.Parts)
	case m.Origin.Agent == "" || m.Origin.Message == "":
		return fmt.Errorf("%v is not named", m.Origin)
	case Fit(m.Origin.Message) != m.Origin.Message || Fit(m.Origin.Session) != m.Origin.Session:
		return fmt.Errorf("%v: a name that no header holds", m.Origin)
	case !strings.Contains(" user model tool system ", " "+m.Role+" "):
		return fmt.Errorf("%v: role %q", m.Origin, m.Role)
	}
	return nil
}

// Equal reports whether two messages say the same, where they come from included.
func Equal(a, b *Message) bool {
	h := Diff(a, b)
	return h.Empty()
}
