package hooks

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/bigstack"
	"github.com/gemini-ctx/ctx/internal/identity"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/session"
)

// Heard is a call of a hook: what the agent says of an event, and the transcript that it is about.
type Heard struct {
	done  chan struct{} // closed when the rest is set
	event call
	err   error
	found []catalog.Begun // the transcript; of several with the name of one that is not there, all
}

// Hear begins to read the call of a hook, and looks for its transcript.
func Hear(agent *Agent, in io.Reader) *Heard {
	h := &Heard{done: make(chan struct{})}
	go func() {
		defer close(h.done)
		defer func() {
			if p := recover(); p != nil {
				h.err = fmt.Errorf("panic: %v: %s", p, debug.Stack())
			}
		}()
		bigstack.Grow()
		most := int64(maxInput)
		if agent.Plugin() != "" {
			most = maxDocument
		}
		h.event, h.err = readCall(in, most, agent.Event)
		h.locate(agent)
	}()
	return h
}

// wait waits for the call, and reports whether it came in time.
func (h *Heard) wait(ctx context.Context) bool {
	select {
	case <-h.done:
		return true
	case <-ctx.Done():
		return false
	}
}

// Places returns where the session of a call began, as its transcripts say, the newest first, and
// where the agent works, as it says itself. A session of which no record says where it began begins
// where the agent works.
func (h *Heard) Places(ctx context.Context) (began []identity.Session, works string) {
	if !h.wait(ctx) {
		return nil, ""
	}
	works = h.event.Dir
	for _, b := range h.found {
		began = append(began, b.Session)
	}
	if len(began) == 0 {
		began = []identity.Session{{
			Dir: jsonvalue.AsObject(h.event.Document).Object("info").Text("directory")}}
	}
	for i := range began {
		if began[i].Dir == "" {
			began[i].Dir = works
		}
	}
	return began, works
}

// Choose says which of the sessions that Places returned the call is about.
func (h *Heard) Choose(n int) {
	if n < len(h.found) {
		h.event.Transcript = h.found[n].File
	}
}

// LeaveOut notes in a store, once for each session, that a session is not recorded there.
func (h *Heard) LeaveOut(s *session.Store, agent *Agent, began string) {
	t := Trouble{Time: s.Now(), Agent: agent.Name, Event: h.event.Name, Session: h.event.Session,
		Problem: fmt.Sprintf("nothing is recorded: the session began in %q, which is of another "+
			"project; `ctx import --all --path %q` takes what was said there", began, began)}
	list, err := Troubles(s.Dir)
	if err != nil || !slices.ContainsFunc(list, func(was Trouble) bool {
		return was.Session == tame(t.Session, maxTroubleName) &&
			was.Problem == tame(t.Problem, maxTroubleText)
	}) {
		LogTrouble(s.FS, s.Dir, t)
	}
}

// locate finds the transcript of a call that does not name it, and of one whose transcript is not
// where the agent says: an agent that has changed its directory may name the folder of that.
func (h *Heard) locate(agent *Agent) {
	row, _ := catalog.Named(agent.Name)
	root, e := "", &h.event
	if agent.Env.Get != nil && row.Root != nil {
		root = row.Root(agent.Env)
	}
	if e.Transcript == "" && row.File != nil && root != "" && e.Session != "" &&
		filepath.IsLocal(e.Session) && filepath.Base(e.Session) == e.Session {
		e.Transcript = row.File(root, e.Dir, e.Session)
	}
	if below, ok := strings.CutPrefix(e.Transcript, "~/"); ok && agent.Env.Home != "" {
		e.Transcript = filepath.Join(agent.Env.Home, below)
	}
	_, err := os.Stat(e.Transcript)
	does, known := agent.at(e.Name)
	switch {
	case len(e.Document) > 0, e.Transcript != "" && !filepath.IsAbs(e.Transcript):
		return
	case e.Transcript != "" && err == nil:
		h.found = []catalog.Begun{{File: e.Transcript, Session: row.Began(e.Transcript)}}
		return
	case root == "", !known, does == doStart, does == doCatchUp, does == doAsk:
		return // nothing was said yet
	}
	h.found = row.Sessions(root, func(file string) bool { return isOf(&row, file, e) })
	when := func(b catalog.Begun) int64 {
		info, err := os.Stat(b.File)
		if err != nil {
			return 0
		}
		return info.ModTime().UnixNano()
	}
	slices.SortStableFunc(h.found,
		func(a, b catalog.Begun) int { return cmp.Compare(when(b), when(a)) })
	h.Choose(0)
}

// isOf reports whether the name of a file says that it is the transcript of a call, or the one that
// the call names, in another place.
func isOf(row *catalog.Agent, file string, e *call) bool {
	name := row.NameOf(file)
	if row.ReadFile != nil && row.ReadFile(file) != nil || catalog.Plain(file) != file ||
		e.Transcript == "" && e.Session == "" {
		return false
	}
	return e.Session != "" && (name == e.Session || strings.HasSuffix(name, "-"+e.Session)) ||
		e.Transcript != "" && row.Named == nil && filepath.Base(file) == filepath.Base(e.Transcript)
}
