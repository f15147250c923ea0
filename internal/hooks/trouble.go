package hooks

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/sanitize"
)

// Disabled is the variable that switches hooks off.
const Disabled = "CTX_HOOK_DISABLE"

// Trouble is what a hook logged: a failure, or that it left out a session that was removed.
type Trouble struct {
	V       int       `json:"v"`
	Time    time.Time `json:"time"`
	Agent   string    `json:"agent"`
	Event   string    `json:"event"`
	Session string    `json:"session"`
	Problem string    `json:"problem"`
	// Removed is the session that was removed from the store; "" for a failure.
	Removed string `json:"removed,omitempty"`
}

// The trouble log is log/hook, one JSON object per line, and the older log is log/hook.1.
const (
	maxTroubleLog  = 256 << 10
	maxTroubleText = 1000
	maxTroubleName = 200
)

func TroubleLog(dir string) string { return filepath.Join(dir, "log", "hook") }

// LogTrouble writes to the trouble log of the store in dir. It ignores errors: there is nowhere
// else to report them.
func LogTrouble(fsys *durable.FS, dir string, t Trouble) {
	t.V, t.Time = 1, t.Time.UTC().Truncate(time.Millisecond)
	t.Event, t.Session, t.Problem = tame(t.Event, maxTroubleName), tame(t.Session, maxTroubleName),
		tame(t.Problem, maxTroubleText)
	t.Removed = tame(t.Removed, maxTroubleName)
	b, err := json.Marshal(t)
	if err != nil {
		return
	}
	path := TroubleLog(dir)
	err = fsys.AppendNoSync(path, append(b, '\n'), maxTroubleLog)
	if errors.Is(err, fs.ErrNotExist) && os.Mkdir(filepath.Dir(path), 0o700) == nil {
		_ = fsys.AppendNoSync(path, append(b, '\n'), maxTroubleLog)
	}
}

// tame removes secrets from a text from outside, shortens it to most bytes and makes it one line.
func tame(s string, most int) string {
	b, _, err := sanitize.Text([]byte(s[:min(len(s), 4*most)]))
	if err != nil {
		return "(a text that cannot be sanitized)"
	}
	s = strings.Join(strings.Fields(strings.ToValidUTF8(string(b), "\uFFFD")), " ")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// Troubles returns the entries of a store's trouble log, oldest first. It leaves out lines that it
// cannot read.
func Troubles(dir string) ([]Trouble, error) {
	var list []Trouble
	for _, path := range []string{TroubleLog(dir) + ".1", TroubleLog(dir)} {
		b, err := durable.ReadAtMost(path, 2*maxTroubleLog)
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

// Failures returns what of a trouble log hooks could not do, and apart from it the sessions that
// they have left out because they were removed, the last one first.
func Failures(list []Trouble) (failed []Trouble, removed []string) {
	for _, t := range slices.Backward(list) {
		switch {
		case t.Removed == "":
			failed = append(failed, t)
		case !slices.Contains(removed, t.Removed):
			removed = append(removed, t.Removed)
		}
	}
	slices.Reverse(failed)
	return failed, removed
}

// Last describes the last hook that ran to its end.
type Last struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"`
	Session string    `json:"session"`
	// Recorded is when a hook last brought something into the store. Messages counts what all hooks
	// have brought in since the file was made.
	Recorded time.Time `json:"recorded"`
	Messages int       `json:"messages"`
}

// LastHook returns the last hook of an agent in a store. ok is false if none is known.
func LastHook(s *session.Store, agent string) (l Last, ok bool) {
	return l, s.History.Cache.GetJSON(cache.HookName(agent), &l) && !l.Time.IsZero()
}

func saveLast(s *session.Store, agent string, e call, messages int) {
	l, _ := LastHook(s, agent)
	l.Time, l.Event, l.Session = s.Now().UTC(), tame(e.Name, maxTroubleName),
		tame(e.Session, maxTroubleName)
	if messages > 0 {
		l.Recorded, l.Messages = l.Time, l.Messages+messages
	}
	_ = s.History.Cache.PutJSON(cache.HookName(agent), cache.Stamp{}, l) // may be lost
}
