package document

import (
	"fmt"
	"time"

	"github.com/gemini-ctx/ctx/internal/hooks"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/refs"
)

// Hooks is the state of an agent's hooks.
type Hooks struct {
	Hook     *Hook   `json:"hook"`     // the last one that ran; null where none is known
	Last     []Hook  `json:"hooks"`    // the last one of each agent that has called one
	Troubles int     `json:"troubles"` // what hooks could not do, as far as the log goes back
	Trouble  *string `json:"trouble"`  // the last of it
	// Removed are sessions that go on and were removed: hooks leave them out.
	Removed []string `json:"removed"`
}

// Hook is one run of a hook.
type Hook struct {
	Agent   string `json:"agent"`
	Event   string `json:"event"`
	Session string `json:"session"`
	Time    string `json:"time"`
}

func hooksOf(s *session.Store, view *refs.View) (h Hooks, err error) {
	h.Last, h.Removed = []Hook{}, []string{}
	var newest time.Time
	for _, agent := range hooks.Agents() {
		l, ok := hooks.LastHook(s, agent.Name)
		if !ok {
			continue
		}
		h.Last = append(h.Last,
			Hook{Agent: agent.Name, Event: l.Event, Session: l.Session, Time: TimeText(l.Time)})
		if h.Hook == nil || l.Time.After(newest) {
			last := h.Last[len(h.Last)-1]
			h.Hook, newest = &last, l.Time
		}
	}
	list, err := hooks.Troubles(s.Dir)
	list, removed := hooks.Failures(list)
	for _, session := range removed {
		if len(view.Names("sessions/"+session+"/")) == 0 {
			h.Removed = append(h.Removed, session)
		}
	}
	if err != nil || len(list) == 0 {
		return h, err
	}
	last := list[len(list)-1]
	text := fmt.Sprintf("%s %s: %s", TimeText(last.Time), last.Event, last.Problem)
	h.Troubles, h.Trouble = len(list), &text
	return h, nil
}
