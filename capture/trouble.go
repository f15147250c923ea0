package capture

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/index"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/sanitize"
	"github.com/gemini-ctx/ctx/session"
)

// Trouble is something that a hook could not do.
type Trouble struct {
	V       int       `json:"v"`
	Time    time.Time `json:"time"`
	Agent   string    `json:"agent"`
	Event   string    `json:"event"`
	Session string    `json:"session"`
	Problem string    `json:"problem"`
}

// The log of trouble is log/hook, a JSON object a line, and the one before it log/hook.1.
const (
	maxTroubleLog  = 256 << 10
	maxTroubleText = 1000
	maxTroubleName = 200
)

func troubleLog(dir string) string { return filepath.Join(dir, "log", "hook") }

// Note writes trouble into the log of the store in dir. What cannot be written there cannot be told anywhere.
func Note(fsys *lock.FS, dir string, t Trouble) {
	t.V, t.Time = 1, t.Time.UTC().Truncate(time.Millisecond)
	t.Event, t.Session, t.Problem = tame(t.Event, maxTroubleName), tame(t.Session, maxTroubleName), tame(t.Problem, maxTroubleText)
	b, err := json.Marshal(t)
	if err != nil {
		return
	}
	_ = fsys.AppendHint(troubleLog(dir), append(b, '\n'), maxTroubleLog)
}

// tame takes out of a text from outside what must not be written, and makes it one line.
func tame(s string, most int) string {
	b, _, err := sanitize.Text([]byte(s[:min(len(s), 4*most)]))
	if err != nil {
		return "(a text that cannot be sanitised)"
	}
	s = strings.Join(strings.Fields(strings.ToValidUTF8(string(b), "\uFFFD")), " ")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// Troubles returns what the log of a store has, oldest first. A line that cannot be read is left out.
func Troubles(dir string) ([]Trouble, error) {
	var list []Trouble
	for _, path := range []string{troubleLog(dir) + ".1", troubleLog(dir)} {
		b, err := lock.ReadAtMost(path, 2*maxTroubleLog)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return list, err
		}
		for line := range strings.Lines(string(b)) {
			var t Trouble
			if json.Unmarshal([]byte(line), &t) == nil && t.V == 1 {
				list = append(list, t)
			}
		}
	}
	return list, nil
}

// Last is the last hook that ran to its end.
type Last struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"`
	Session string    `json:"session"`
	// Recorded is when a hook last brought something into the store, and how much of it in all since the file was made.
	Recorded time.Time `json:"recorded"`
	Messages int       `json:"messages"`
}

// LastHook returns the last hook of an agent in a store; ok is false where none is known.
func LastHook(s *session.Store, agent string) (l Last, ok bool) {
	payload, _, ok := s.Cache.Load(index.HookName(agent))
	return l, ok && json.Unmarshal(payload, &l) == nil && !l.Time.IsZero()
}

func saveLast(s *session.Store, agent string, e Event, messages int) {
	l, _ := LastHook(s, agent)
	l.Time, l.Event, l.Session = s.Now().UTC(), tame(e.Name, maxTroubleName), tame(e.Session, maxTroubleName)
	if messages > 0 {
		l.Recorded, l.Messages = l.Time, l.Messages+messages
	}
	if b, err := json.Marshal(l); err == nil {
		_ = s.Cache.Store(index.HookName(agent), index.Stamp{}, b) // a hint for people
	}
}
