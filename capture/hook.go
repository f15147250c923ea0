package capture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gemini-ctx/ctx/session"
	"github.com/gemini-ctx/ctx/upkeep"
)

// GeminiCLI is the agent's name, in sources and in the log of trouble.
const GeminiCLI = "gemini-cli"

// The points in the agent's work at which it calls a hook.
const (
	sessionStart = "SessionStart"
	sessionEnd   = "SessionEnd"
	beforeAgent  = "BeforeAgent"
	afterAgent   = "AfterAgent"
	preCompress  = "PreCompress"
)

// Events are the points at which Gemini CLI is to call the hook.
func Events() []string {
	return []string{sessionStart, beforeAgent, preCompress, afterAgent, sessionEnd}
}

// keepHooks is for how long what hooks know of a session is kept in the cache.
const keepHooks = 60 * 24 * time.Hour

// Run does the work of one call of a hook by Gemini CLI: it reads what the agent says from in, and returns what is to be printed, nil for nothing. It
// returns when the setting hook.deadline has passed, whatever it was doing: what was not recorded by then the next call records. It never fails: what went
// wrong is in the store's log of trouble.
func Run(ctx context.Context, s *session.Store, in io.Reader) []byte {
	ctx, cancel := context.WithTimeout(ctx, s.Config.Hook.Deadline)
	defer cancel()
	h := &hook{s: s}
	done := make(chan []byte, 1)
	go func() {
		var out []byte
		defer func() {
			if p := recover(); p != nil {
				h.note(fmt.Sprintf("panic: %v: %s", p, debug.Stack()))
				out = nil
			}
			done <- out
		}()
		out = h.run(ctx, in)
	}()
	select {
	case out := <-done:
		return out
	case <-ctx.Done():
	}
	at := h.at.Load()
	if at == nil {
		at = &stage{doing: "waiting for the agent's input"}
	}
	why := "interrupted"
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		why = fmt.Sprintf("stopped after %v, the setting hook.deadline,", s.Config.Hook.Deadline)
	}
	Note(s.FS, s.Dir, Trouble{Time: s.Now(), Agent: GeminiCLI, Event: at.event.Name, Session: at.event.Session, Problem: why + " while " + at.doing})
	return nil
}

// hook is one call.
type hook struct {
	s     *session.Store
	event Event
	at    atomic.Pointer[stage] // for who watches the deadline
}

// stage is what a hook is at.
type stage struct {
	event Event
	doing string
}

func (h *hook) begin(doing string) { h.at.Store(&stage{h.event, doing}) }

func (h *hook) note(problem string) {
	Note(h.s.FS, h.s.Dir, Trouble{Time: h.s.Now(), Agent: GeminiCLI, Event: h.event.Name, Session: h.event.Session, Problem: problem})
}

// run does what an event asks for. After an error in one part it does the others.
func (h *hook) run(ctx context.Context, in io.Reader) (out []byte) {
	h.s.Warn = h.note
	event, err := ReadEvent(in)
	h.event = event
	if err != nil {
		h.note(err.Error())
	}
	recorded := 0
	switch event.Name {
	case beforeAgent:
		h.begin("looking for what to tell the model")
		out, err = h.tell(ctx, event)
		h.failed(ctx, "nothing is told to the model", err)
	case sessionStart, preCompress, afterAgent:
		recorded = h.record(ctx, false)
	case sessionEnd:
		recorded = h.record(ctx, true)
		saveLast(h.s, GeminiCLI, event, recorded)
		h.summarize(ctx)
		h.tidy(ctx)
		return nil
	case "":
		return nil
	default:
		h.note("an event that ctx does not know")
		return nil
	}
	saveLast(h.s, GeminiCLI, event, recorded)
	return out
}

// failed notes an error. That of the deadline is noted by who watches it.
func (h *hook) failed(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		h.note(what + ": " + err.Error())
	}
}

// record copies what was said since the last time, that of subagents too, and returns how many messages and the like that was.
func (h *hook) record(ctx context.Context, check bool) (recorded int) {
	if h.event.Transcript == "" {
		if h.event.Name == afterAgent {
			h.note("nothing is recorded: the agent names no transcript")
		}
		return 0
	}
	h.begin("recording: the next hook goes on with it")
	paths := append([]string{h.event.Transcript}, subagents(h.event)...)
	if h.event.Name == sessionStart {
		paths = append(paths, unfinished(h.s, h.event)...)
	}
	var children []session.Child
	for i, path := range paths {
		done, err := copyTranscript(ctx, h.s, path, check)
		recorded += done.new
		children = append(children, done.children...)
		if i == 0 && errors.Is(err, fs.ErrNotExist) && h.event.Name != afterAgent {
			continue // nothing was said yet, or the agent has removed it
		}
		h.failed(ctx, "the turn is not recorded", err)
		if skipped := skippedText(done.skipped); skipped != "" {
			h.note("records were skipped: " + skipped)
		}
	}
	if len(children) > 0 {
		_, err := h.s.LinkChildren(ctx, children)
		h.failed(ctx, "a subagent's session is not linked", err)
	}
	return recorded
}

// skippedText names what could not be used. A torn tail is a record that the agent is still writing.
func skippedText(skipped map[string]int) string {
	var said []string
	for _, reason := range slices.Sorted(maps.Keys(skipped)) {
		if reason != "torn tail" {
			said = append(said, fmt.Sprintf("%s %d", reason, skipped[reason]))
		}
	}
	return strings.Join(said, ", ")
}

// summarize makes the summaries of a session that has ended, and evicts what is above the limit. A
// model is not asked: that takes longer than a hook has. Where one is to be asked, its summaries wait for
// `ctx compact`, since a summary of ours in their place would keep it from being asked.
func (h *hook) summarize(ctx context.Context) {
	if h.event.Session == "" || h.s.Config.Summarize.Chain[0] != session.Extractive {
		return
	}
	h.begin("summarising: `ctx compact` does that without a deadline")
	_, err := h.s.Compact(ctx, session.CompactOptions{
		Branches: []session.BranchName{{Session: h.event.Session, Branch: session.MainBranch}},
	})
	if errors.Is(err, session.ErrNotFound) {
		return // nothing of it was recorded
	}
	h.failed(ctx, "summaries have to wait", err)
}

// tidy packs what is loose, if there is much of it and time for it.
func (h *hook) tidy(ctx context.Context) {
	h.begin("packing the store: `ctx gc` does that without a deadline")
	h.s.Cache.DropHooks(h.s.Now().Add(-keepHooks))
	_, err := upkeep.GC(ctx, h.s, upkeep.GCOptions{Auto: true})
	h.failed(ctx, "gc has to wait", err)
}

// answer is what a hook prints for the agent to add to the prompt.
func answer(text string) ([]byte, error) {
	type specific struct {
		Event   string `json:"hookEventName"`
		Context string `json:"additionalContext"`
	}
	return json.Marshal(struct {
		Specific specific `json:"hookSpecificOutput"`
	}{specific{beforeAgent, text}})
}
