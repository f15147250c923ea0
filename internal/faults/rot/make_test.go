package rot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/epochs/epoch"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/internal/maintenance/gc"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/state"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/internal/view"
	"github.com/gemini-ctx/ctx/lock"
)

// Start is the time at which the clock of every made store begins.
var Start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

// Settings are the settings of the made stores: a dozen messages fill the window, and the log is
// kept for a day.
const Settings = `[window]
graduate_at = 4
evict_at = 7

[forest]
max_cold_clusters = 2

[log]
keep = "1d"

[gc]
grace = "1d"

[mask]
protected_tokens = 10
gate_tokens = 10
`

// Clock returns a clock that advances by a second at each reading.
func Clock(t time.Time) func() time.Time {
	return func() time.Time {
		t = t.Add(time.Second)
		return t
	}
}

// Env returns the environment of a store in dir, in which nothing depends on the machine.
func Env(dir string, fsys *durable.FS) repo.Env {
	return repo.Env{
		WorkDir: dir, StoreDir: dir, Now: Clock(Start),
		Random: bytes.NewReader(bytes.Repeat([]byte("fixed randomness"), 8)),
		Owner:  lock.Owner{PID: 1, Host: "test", Command: "test"}, FS: fsys,
	}
}

// Open opens the store in dir like a new process, with a clock that starts at at.
func Open(dir string, fsys *durable.FS, at time.Time) (*session.Store, error) {
	e := Env(dir, fsys)
	e.Now = Clock(at)
	r, err := repo.Open(e)
	if err != nil {
		return nil, err
	}
	return session.New(r), nil
}

// Later is a time long after a maker's work, when everything that it left is old.
var Later = Start.Add(40 * day)

// maker builds a store. It does nothing after the first error.
type maker struct {
	s   *session.Store
	c   context.Context
	r   *rand.Rand
	err error
}

func begin(project string, seed uint64) (*maker, error) {
	e := Env(project, nil)
	if _, _, err := repo.Init(e, project); err != nil {
		return nil, err
	}
	dir := filepath.Join(project, ".gemini", "context")
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(Settings), 0o600); err != nil {
		return nil, err
	}
	s, err := Open(dir, nil, Start)
	if err != nil {
		return nil, err
	}
	return &maker{s: s, c: context.Background(), r: rand.New(rand.NewPCG(seed, 1))}, nil
}

func (m *maker) do(what string, do func() error) {
	if m.err == nil {
		if err := do(); err != nil {
			m.err = fmt.Errorf("%s: %w", what, err)
		}
	}
}

func (m *maker) finish() (dir string, err error) {
	return m.s.Dir, errors.Join(m.err, m.s.Close())
}

var topics = []string{
	"postgres migration schema port %d table index",
	"parser lexer token line %d nil pointer panic",
	"deploy rollback release server %d traffic canary",
	"invoice customer payment refund %d ledger",
	"camera lens shutter exposure %d tripod",
}

func (m *maker) chatter() string {
	return fmt.Sprintf(topics[m.r.IntN(len(topics))], m.r.IntN(10000))
}

// say appends n messages one by one.
func (m *maker) say(name, branch string, n int) {
	for i := range n {
		m.append(name, branch,
			conversation.Message{Role: []string{"user", "model"}[i%2], Text: m.chatter()})
	}
}

func (m *maker) append(name, branch string, batch ...conversation.Message) (ids []format.ID) {
	m.do("append", func() error {
		done, _, err := m.s.Conversation.Append(m.c, name, branch, batch,
			conversation.AppendOptions{})
		for _, d := range done {
			ids = append(ids, d.ID)
		}
		return err
	})
	return ids
}

func (m *maker) compact(name string, strategy string) {
	m.do("compact", func() error {
		_, err := m.s.Compaction.Compact(m.c,
			compaction.CompactOptions{
				Branches: []history.BranchName{{Session: name, Branch: history.MainBranch}},
				Strategy: strategy,
			})
		return err
	})
}

func (m *maker) observe(name string, value int) {
	m.do("observe", func() error {
		set, err := epoch.Read(
			fmt.Appendf(nil,
				`{"key":"core/date","value":%d,"first":"It is %d.","changed":"It is %d now.","removed_text":"It is over."}`, value, value, value))
		if err == nil {
			_, err = m.s.Epochs.Observe(m.c, name, history.MainBranch, set, epochs.ObserveOptions{})
		}
		return err
	})
}

// call appends a tool call with a long output, which can be masked.
func (m *maker) call(name string, n int) {
	// A string always encodes
	output, _ := json.Marshal(strings.Repeat(fmt.Sprint("word", n, " "), 100))
	id := fmt.Sprint("c", n)
	m.append(name, history.MainBranch,
		conversation.Message{Role: "model",
			Parts: json.RawMessage(`[{"text":"look"},{"functionCall":{"id":"` + id +
				`","name":"read_file","args":{}}}]`)},
		conversation.Message{Role: "tool",
			Parts: json.RawMessage(
				`[{"functionResponse":{"id":"` + id + `","name":"read_file","response":{"output":` +
					string(output) + `}}}]`)})
}

func (m *maker) tip(name string) (id format.ID) {
	m.do("tip", func() error {
		v, err := m.s.Refs.Read()
		if err == nil {
			id = v.Get(history.RefName(name, history.MainBranch)).ID
		}
		return err
	})
	return id
}

// replace makes a worker's text stand for the newest message of a session.
func (m *maker) replace(name string) {
	m.do("replace", func() error {
		v, err := m.s.Refs.Read()
		if err != nil {
			return err
		}
		in, err := m.s.Recall.RenderInput(v, name, history.MainBranch, view.Options{})
		if err != nil {
			return err
		}
		target := format.Target{Entry: in.Tail[len(in.Tail)-1].ID, Part: format.WholeEntry}
		claims, err := m.s.Edits.BeginReplace(v, name, history.MainBranch,
			[]format.Target{target}, nil)
		if err != nil {
			return err
		}
		answer := summaries.Answer{Claim: claims[0].ID}
		answer.Text, answer.Summarizer, answer.Version = "in short", "worker", "1"
		_, err = m.s.Edits.CommitReplace(m.c, []summaries.Answer{answer}, edits.ReplaceOptions{})
		return err
	})
}

// checkpoint writes a checkpoint, which otherwise happens every 256 operations.
// What the log carries goes into a pack.
func (m *maker) checkpoint(name string) {
	m.compact(name, "") // then the forests hold every decision
	m.compact(name, clusters.Flat)
	m.do("checkpoint", func() error {
		held, err := m.s.Lock(m.c)
		if err != nil {
			return err
		}
		return errors.Join(checkpoint(m.s, held), held.Release())
	})
}

func checkpoint(s *session.Store, held *lock.Held) error {
	v, err := s.Refs.Begin(held)
	if err != nil {
		return err
	}
	if err := s.Objects.PackLogged(held); err != nil {
		return err
	}
	if v, err = s.Refs.Unload(held, v, false); err != nil {
		return err
	}
	return s.Refs.Checkpoint(held, v)
}

// gc packs what the log carries, and drops the beginning of the log. It leaves the log plain:
// SplitLog comes later.
func (m *maker) gc(at time.Time) {
	m.do("gc", func() error {
		now := m.s.Now
		m.s.Now = Clock(at)
		_, err := gc.Run(m.c, m.s.Opened, gc.Options{Grace: -1, LogFrom: -1})
		m.s.Now = now
		return err
	})
}

// forget forgets an entry.
func (m *maker) forget(id format.ID) {
	m.do("forget", func() error {
		_, err := forget.Run(m.c, m.s.Opened, forget.Options{IDs: []format.ID{id}})
		return err
	})
}

// Plain makes a store in a project's directory, with one session of a few messages. Each of its
// objects is in a pack of its own.
func Plain(project string) (dir string, err error) {
	m, err := begin(project, 1)
	if err != nil {
		return "", err
	}
	m.say("work", history.MainBranch, 6)
	m.do("spread", func() error { return storetest.SpreadOf(m.c, m.s.Repo) })
	return m.finish()
}

// Forgetful makes a store in a project's directory in which a message and a phrase were forgotten,
// and were said again afterwards.
func Forgetful(project string) (dir string, err error) {
	m, err := begin(project, 3)
	if err != nil {
		return "", err
	}
	const main = history.MainBranch
	m.say("work", main, 4)
	secret := m.append("work", main,
		conversation.Message{Role: "user", Text: "the safe is behind the picture"})
	m.say("work", main, 3)
	if len(secret) == 1 {
		m.forget(secret[0])
	}
	m.do("forget", func() error {
		_, err := forget.Run(m.c, m.s.Opened, forget.Options{Text: "parser lexer"})
		return err
	})
	m.append("work", main,
		conversation.Message{Role: "model", Text: "the safe is behind the picture"})
	m.append("talk", main, conversation.Message{Role: "user", Text: "what of the parser lexer?"},
		conversation.Message{Role: "model", Text: "It is done."})
	return m.finish()
}

// Everything makes a store in a project's directory that has every kind of object, file and
// history: clusters with summaries, tombstones, forks and joins, epochs, masks, replacements,
// rewinds, states, packed objects with a shortened log, and absent bodies.
func Everything(project string) (dir string, err error) {
	m, err := begin(project, 2)
	if err != nil {
		return "", err
	}
	const main = history.MainBranch
	m.observe("work", 1)
	m.say("work", main, 14)
	m.say("talk", main, 6)
	m.compact("work", "")
	m.compact("talk", clusters.Flat)
	m.say("work", main, 8)
	m.checkpoint("work")
	m.gc(Start.Add(3 * day)) // makes packs and refs/base

	m.s.Now = Clock(Start.Add(4 * day))
	m.s.Objects.Now = m.s.Now
	m.say("work", main, 5)
	m.observe("work", 2)
	m.do("fork", func() error {
		_, err := m.s.Conversation.Fork(m.c, "work", main, []string{"tests", "docs", "left"},
			conversation.ForkOptions{})
		return err
	})
	m.say("work", "tests", 2)
	m.say("work", "docs", 3)
	m.say("work", "left", 1)
	m.do("join", func() error {
		_, err := m.s.Conversation.Join(m.c, "work", main, []string{"tests", "docs"},
			conversation.JoinOptions{})
		return err
	})
	m.append("work", main,
		conversation.Message{Role: "user", Text: "from elsewhere",
			Source: &conversation.Source{Agent: "other", Session: "s", Message: "1"}})
	m.append("work", main,
		conversation.Message{Role: "user", Text: "from elsewhere, put right",
			Source: &conversation.Source{Agent: "other", Session: "s", Message: "1"}})
	m.compact("work", "")
	m.do("evict", func() error {
		v, err := m.s.Refs.Read()
		if err != nil {
			return err
		}
		list, err := m.s.Recall.Clusters(v)
		if err == nil {
			_, err = m.s.Summaries.Evict(m.c, list[0].ID)
		}
		return err
	})
	m.do("state", func() error {
		_, err := m.s.State.Set(m.c,
			state.Names{Session: "work", App: "shop",
				User: "ada"}, []state.Change{
				{Pair: state.Pair{Key: "app:a", Value: json.RawMessage(`1`)}},
				{Pair: state.Pair{Key: "user:b", Value: json.RawMessage(`[2]`)}},
				{Pair: state.Pair{Key: "c", Value: json.RawMessage(`"three"`)}},
			})
		return err
	})
	m.call("tools", 1)
	m.call("tools", 2)
	m.append("tools", main, conversation.Message{Role: "user", Text: "and then"})
	m.do("mask",
		func() error { _, err := m.s.Edits.ApplyMasks(m.c, "tools", main, nil); return err })
	m.replace("tools")
	m.do("link", func() error {
		_, err := m.s.Conversation.Link(m.c, "talk", history.Parent{Session: "tools", Call: "c1"},
			true)
		return err
	})
	m.say("talk", main, 4)
	m.do("rewind", func() error {
		v, err := m.s.Refs.Read()
		if err != nil {
			return err
		}
		target, err := m.s.Clusters.Resolve(v, "talk~1")
		if err == nil {
			_, err = m.s.Conversation.Rewind(m.c, "talk", main, target,
				conversation.RewindOptions{})
		}
		return err
	})
	secret := m.append("talk", main, conversation.Message{Role: "user", Text: "a secret"})
	if len(secret) == 1 {
		m.forget(secret[0])
	}
	m.append("talk", main, conversation.Message{Role: "user", Note: true, Text: "what came after"})
	m.do("ref",
		func() error { return m.s.State.UpdateRef(m.c, "user/a name", m.tip("talk"), nil) })
	m.compact("work", "")
	m.do("spread", func() error { return storetest.SpreadOf(m.c, m.s.Repo) })
	m.checkpoint("work")
	m.torn()
	m.say("work", main, 2)
	m.do("undo", func() error { _, err := m.s.Conversation.Undo(m.c, "work"); return err })
	m.observe("talk", 3)
	m.say("talk", main, 2)
	m.do("segments", func() error { return SplitLog(m.s) })
	m.do("leave files", func() error { return leave(m.s.Dir) })
	if dir, err = m.finish(); err != nil {
		return dir, err
	}
	_, err = Read(dir) // leaves the cached files
	return dir, err
}

// torn leaves a torn record, which the next operation moves aside.
func (m *maker) torn() {
	m.do("torn record", func() error {
		f, err := os.OpenFile(filepath.Join(m.s.Dir, "refs", "log-1"), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteString("ctxo\x00\x00")
		return errors.Join(err, f.Close())
	})
}

// leave makes files that hooks and unfinished writes leave.
func leave(dir string) error {
	line :=
		`{"v":1,"time":"2026-03-05T09:00:00Z","agent":"gemini-cli","event":"AfterAgent","session":"work","problem":"locked"}` + "\n"
	for name, text := range map[string]string{"log/hook": line, "log/hook.1": line,
		"tmp/unfinished": "half", "cache/hook-gemini-cli": "{}\n",
		"cache/cursor-" + strings.Repeat("a", 24): "{}\n"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
			os.WriteFile(path, []byte(text), 0o600)); err != nil {
			return err
		}
		if err := os.Chtimes(path, Start, Start); err != nil {
			return err
		}
	}
	return nil
}
