package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/bigstack"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/importer"
	"github.com/gemini-ctx/ctx/internal/maintenance/gc"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/summaries"
)

// keepHooks is how long the cache keeps what hooks know about a session.
const keepHooks = 60 * 24 * time.Hour

// Run handles one call of a hook by an agent, and returns what to print, or nil for nothing. It
// returns after the setting hook.deadline at the latest; the next call records what this one has
// not. It never fails: failures go to the trouble log of the store.
func Run(ctx context.Context, s *session.Store, agent *Agent, in *Heard) []byte {
	ctx, cancel := context.WithTimeout(ctx, s.Config.Hook.Deadline)
	defer cancel()
	h := &hook{s: s, agent: agent}
	done := make(chan []byte, 1)
	go func() {
		var out []byte
		defer func() {
			if p := recover(); p != nil {
				h.log(fmt.Sprintf("panic: %v: %s", p, debug.Stack()))
				out = nil
			}
			done <- out
		}()
		bigstack.Grow()
		out = h.run(ctx, in)
	}()
	select {
	case out := <-done:
		if !h.stopped.Load() {
			return out
		}
	case <-ctx.Done():
	}
	at := h.at.Load()
	if at == nil {
		at = &stage{doing: "waiting for the agent's input"}
	}
	why := "interrupted"
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		why = fmt.Sprintf("stopped after %v, the setting hook.deadline,", s.Config.Hook.Deadline)
	} else if does, _ := agent.at(at.event.Name); does == doAside || at.event.Name == "" {
		return nil // the agent ends, perhaps before it said a word, and calls the hook for that
	}
	LogTrouble(s.FS, s.Dir,
		Trouble{Time: s.Now(), Agent: agent.Name, Event: at.event.Name, Session: at.event.Session,
			Problem: why + " while " + at.doing})
	return nil
}

// hook is one call of a hook.
type hook struct {
	s     *session.Store
	agent *Agent
	event call
	// session is the store's session of the event: the agent's own, or the one that it goes on with.
	session string

	lacks bool // the message that the event's document begins after is not in the store

	at atomic.Pointer[stage] // what to blame if the deadline passes

	stopped atomic.Bool // a part of the work failed after the deadline, and logged nothing
}

// stage is what a hook is doing.
type stage struct {
	event call
	doing string
}

func (h *hook) begin(doing string) { h.at.Store(&stage{h.event, doing}) }

func (h *hook) log(problem string) {
	LogTrouble(h.s.FS, h.s.Dir,
		Trouble{Time: h.s.Now(), Agent: h.agent.Name, Event: h.event.Name, Session: h.event.Session,
			Problem: problem})
}

// run does the work for an event. After an error in one part it goes on with the next.
func (h *hook) run(ctx context.Context, in *Heard) (out []byte) {
	h.s.History.Warn = h.log
	if !in.wait(ctx) {
		return nil // Run says so
	}
	event, err := in.event, in.err
	h.event, h.session = event, event.Session
	if err != nil {
		h.log(err.Error())
	}
	if event.Name == "" {
		return nil
	}
	if was, ok := loadCopied(h.s, event.Transcript); ok && was.Session != "" {
		h.session = was.Session
	}
	recorded := 0
	does, known := h.agent.at(event.Name)
	switch {
	case !known:
		h.log("an event that ctx does not know")
		return nil
	case does == doAsk:
		h.begin("looking for what to tell the model")
		out, err = h.inject(ctx, event)
		h.failed(ctx, "nothing is told to the model", err)
	case does.tells() != nil:
		h.begin("looking for what to tell the model")
		out, err = does.tells()(h, event)
		h.failed(ctx, "nothing is told to the model", err)
		return out
	case does == doStart:
		recorded = h.record(ctx, does)
		h.begin("looking for what to tell the model")
		out, err = h.brief(event)
		h.failed(ctx, "nothing is told to the model", err)
	case does == doKeep:
		recorded = h.record(ctx, does)
		h.begin("looking for what a summary must keep")
		out, err = h.keep(event)
		h.failed(ctx, "nothing is told to the model", err)
	default:
		recorded = h.record(ctx, does)
	}
	if h.lacks {
		out = []byte(askWhole)
	}
	saveLast(h.s, h.agent.Name, event, recorded)
	if does == doEnd {
		h.summarize(ctx)
		h.index(ctx)
		h.tidy(ctx)
	}
	return out
}

// tells returns the function that says what the model is told at an event at which nothing is
// recorded; nil for any other event.
func (w work) tells() func(*hook, call) ([]byte, error) {
	switch w {
	case doAnswer:
		return (*hook).answers
	case doHeed:
		return (*hook).heeded
	case doMend:
		return (*hook).mended
	}
	return nil
}

// failed logs an error. After the deadline it logs nothing: Run does.
func (h *hook) failed(ctx context.Context, what string, err error) {
	switch {
	case err == nil:
	case ctx.Err() == nil:
		h.log(what + ": " + err.Error())
	default:
		h.stopped.Store(true)
	}
}

// unrecorded logs why a turn is not recorded. That its session was removed is logged once, and is
// no failure: nobody has to do anything.
func (h *hook) unrecorded(ctx context.Context, err error) {
	var removed *importer.RemovedError
	if !errors.As(err, &removed) {
		h.failed(ctx, "the turn is not recorded", err)
		return
	}
	list, _ := Troubles(h.s.Dir)
	if _, known := Failures(list); !slices.Contains(known, tame(removed.Session, maxTroubleName)) {
		LogTrouble(h.s.FS, h.s.Dir, Trouble{Time: h.s.Now(), Agent: h.agent.Name,
			Event: h.event.Name, Session: removed.Session, Removed: removed.Session,
			Problem: err.Error()})
	}
}

// record copies what was said since the last copy, by subagents too, and has HEAD follow the
// person. It returns how many messages, notes, versions and rewinds are new.
func (h *hook) record(ctx context.Context, does work) (recorded int) {
	before, err := h.s.Refs.Read()
	if err != nil {
		h.failed(ctx, "the turn is not recorded", err)
		return 0
	}
	recorded = h.copy(ctx, does)
	// Even with nothing new: a client may have ended the hook that recorded it before HEAD moved.
	if before.Get("HEAD").Name != h.session {
		h.begin("looking for the session that a person spoke in last")
		h.failed(ctx, "HEAD stays where it was", h.s.FollowPerson(ctx, before))
	}
	return recorded
}

// copy is the part of record that copies.
func (h *hook) copy(ctx context.Context, does work) (recorded int) {
	if len(h.event.Document) > 0 {
		h.begin("recording: `ctx import opencode` does that without a deadline")
		done, err := h.take(ctx)
		h.unrecorded(ctx, err)
		if done.session != "" {
			h.session = done.session
		}
		return done.new
	}
	// At the end of a turn there is something to record, unless the agent writes it later.
	must := h.event.Name == h.agent.Turn && !h.agent.Late && h.agent.Plugin() == ""
	if h.event.Transcript == "" {
		if must {
			h.log("nothing is recorded: the agent names no transcript")
		}
		return 0
	}
	h.awaitAnswer(ctx)
	h.begin("recording: `ctx import --all` does that without a deadline")
	if does == doEnd && h.agent.Late {
		settle(ctx, h.event.Transcript)
	}
	paths := append([]string{h.event.Transcript}, h.subagents()...)
	if does == doStart || does == doCatchUp {
		paths = append(paths, h.missed()...)
	}
	var children []importer.Child
	for i, path := range paths {
		done, err := catchUp(ctx, h.s, h.agent.Name, path, does == doEnd)
		if i == 0 && done.session != "" {
			h.session = done.session
		}
		recorded += done.new
		children = append(children, done.children...)
		if i == 0 && must && (errors.Is(err, fs.ErrNotExist) || err == nil && done.empty) {
			why := "is not there"
			if done.empty {
				why = "has no whole record"
			}
			h.log(fmt.Sprintf("nothing is recorded: the transcript %q %s", path, why))
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			if i == 0 && h.agent.Late {
				was, _ := loadCopied(h.s, path)
				size := min(was.Size, -1)
				if h.event.Name == h.agent.Turn {
					if size == -2 { // a turn ago, too
						h.log(fmt.Sprintf("nothing is recorded: the transcript %q is not there", path))
					}
					size = -2
				}
				h.failed(ctx, "the next hook may miss the turn",
					(copiedFile{Path: path, Size: size}).save(h.s))
			}
			// Nothing was said yet, the agent has removed the file, or its own subagents have none
			continue
		}
		h.unrecorded(ctx, err)
		if skipped := skippedText(done.skipped); skipped != "" {
			h.log("records were skipped: " + skipped)
		}
	}
	if len(children) > 0 {
		_, err := h.s.Importer.LinkChildren(ctx, children)
		h.failed(ctx, "a subagent's session is not linked", err)
	}
	return recorded
}

// skippedText lists the records that could not be used. It leaves out a torn tail: the agent is
// still writing that record.
func skippedText(skipped map[string]int) string {
	var said []string
	for _, reason := range slices.Sorted(maps.Keys(skipped)) {
		if reason != "torn tail" {
			said = append(said, fmt.Sprintf("%s %d", reason, skipped[reason]))
		}
	}
	return strings.Join(said, ", ")
}

// summarize writes the summaries of a session that has ended, and evicts clusters above the limit.
// It does not ask a model, which takes longer than a hook may. If the chain begins with a model,
// the session waits for `ctx compact`: an extractive summary in the meantime would keep the model
// from being asked.
func (h *hook) summarize(ctx context.Context) {
	if h.event.Session == "" || h.s.Config.Summarize.Chain[0] != summaries.Extractive {
		return
	}
	h.begin("summarizing: `ctx compact` does that without a deadline")
	_, err := h.s.Compaction.Compact(ctx, compaction.CompactOptions{
		Branches: []history.BranchName{{Session: h.session, Branch: history.MainBranch}},
	})
	if errors.Is(err, history.ErrNotFound) {
		return // the store has nothing of the session
	}
	h.failed(ctx, "summaries have to wait", err)
}

// index brings the search index up to date, for hooks that a model waits for.
func (h *hook) index(ctx context.Context) {
	h.begin("indexing: a search does that without a deadline")
	v, err := h.s.Refs.Read()
	if err == nil {
		err = h.s.Recall.CatchUpAll(v, func() bool { return ctx.Err() != nil })
	}
	h.failed(ctx, "the search index has to wait", err)
}

// tidy merges packs if there are many and there is time.
func (h *hook) tidy(ctx context.Context) {
	h.begin("packing the store: `ctx gc` does that without a deadline")
	h.s.History.Cache.DropHooks(h.s.Now().Add(-keepHooks))
	_, err := gc.Run(ctx, h.s.Opened, gc.Options{Auto: true})
	h.failed(ctx, "gc has to wait", err)
}

// answer returns the JSON with which a hook adds a text to what the model reads, in the agent's
// form.
func (h *hook) answer(event, text string) ([]byte, error) {
	if h.agent.Answer != nil {
		return json.Marshal(h.agent.Answer(event, text))
	}
	type specific struct {
		Event   string `json:"hookEventName"`
		Context string `json:"additionalContext"`
	}
	return json.Marshal(struct {
		Specific specific `json:"hookSpecificOutput"`
	}{specific{event, text}})
}

// askWhole is the answer to a plugin whose document begins after a message that the store lacks.
// The plugin then hands over the whole session.
const askWhole = `{"whole":true}`

// take records the document of the event. A document that begins after a message is recorded if the
// session has that message: all before it was handed over then, and has not changed since.
func (h *hook) take(ctx context.Context) (copied, error) {
	row, _ := catalog.Named(h.agent.Name)
	in := bytes.NewReader(h.event.Document)
	if h.event.After == "" {
		done, changed, err := importWhole(ctx, h.s, &row, "", in, &transcript.Mark{})
		if err == nil {
			err = graduate(ctx, h.s, changed)
		}
		return done, err
	}
	there, err := h.s.Importer.HasMessage(h.event.Session, row.Source, h.event.After)
	if err != nil || !there {
		h.lacks = true
		return copied{}, err
	}
	out, err := h.s.Importer.ImportLive(
		ctx, "", func(emit func(transcript.Step) error) (transcript.Stats, error) {
			return row.Read("", in, emit)
		})
	if err == nil {
		err = h.s.Importer.AddDrift(importer.DriftOf(row.Name, "", &out))
	}
	return report(out, false), err
}
