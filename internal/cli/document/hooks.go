package document

import (
	"fmt"

	"github.com/gemini-ctx/ctx/internal/hooks"
	"github.com/gemini-ctx/ctx/internal/session"
)

// Hooks is the state of an agent's hooks.
type Hooks struct {
	Hook     *Hook   `json:"hook"`     // the last one that ran; null where none is known
	Troubles int     `json:"troubles"` // what hooks could not do, as far as the log goes back
	Trouble  *string `json:"trouble"`  // the last of it
}

// Hook is one run of a hook.
type Hook struct {
	Agent   string `json:"agent"`
	Event   string `json:"event"`
	Session string `json:"session"`
	Time    string `json:"time"`
}

func hooksOf(s *session.Store) (h Hooks, err error) {
	if l, ok := hooks.LastHook(s, hooks.GeminiCLI); ok {
		h.Hook = &Hook{Agent: hooks.GeminiCLI, Event: l.Event, Session: l.Session, Time: TimeText(l.Time)}
	}
	list, err := hooks.Troubles(s.Dir)
	if err != nil || len(list) == 0 {
		return h, err
	}
	last := list[len(list)-1]
	text := fmt.Sprintf("%s %s: %s", TimeText(last.Time), last.Event, last.Problem)
	h.Troubles, h.Trouble = len(list), &text
	return h, nil
}
