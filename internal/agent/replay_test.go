package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// Replay is a conversation, and those of its subagents, as steps make it.
type Replay struct {
	Threads map[string][]transcript.Message // by name; "" is the main one
	Rewinds int
	Session string
}

// NewReplay begins with nothing.
func NewReplay() *Replay {
	return &Replay{Threads: map[string][]transcript.Message{}}
}

// Step takes the next step. It refuses a step that does not follow from those before.
func (r *Replay) Step(st transcript.Step) error {
	list := r.Threads[st.Thread]
	at := func(o transcript.Origin) int {
		return slices.IndexFunc(list, func(m transcript.Message) bool { return m.Origin == o })
	}
	r.Session = st.Session
	switch st.Kind {
	case transcript.KindRewind:
		i := at(st.RewindTo)
		if i < 0 {
			return fmt.Errorf("rewind to %v, which is not in the conversation", st.RewindTo)
		}
		list = list[:i]
		r.Rewinds++
	default:
		if err := check(&st.Message); err != nil {
			return err
		}
		if i := at(st.Message.Origin); i >= 0 {
			list[i] = st.Message
		} else {
			list = append(list, st.Message)
		}
	}
	r.Threads[st.Thread] = list
	return nil
}

func check(m *transcript.Message) error {
	var list []json.RawMessage
	switch {
	case m.Text != "" && m.Parts != nil:
		return fmt.Errorf("%v has text and parts", m.Origin)
	case m.Parts != nil && json.Unmarshal(m.Parts, &list) != nil:
		return fmt.Errorf("%v: parts are no array: %s", m.Origin, m.Parts)
	case m.Origin.Agent == "" || m.Origin.Message == "":
		return fmt.Errorf("%v is not named", m.Origin)
	case transcript.Fit(m.Origin.Message) != m.Origin.Message ||
		transcript.Fit(m.Origin.Session) != m.Origin.Session:
		return fmt.Errorf("%v: a name that no header holds", m.Origin)
	case !strings.Contains(" user model tool system ", " "+m.Role+" "):
		return fmt.Errorf("%v: role %q", m.Origin, m.Role)
	}
	return nil
}
