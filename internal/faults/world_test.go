package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/epochs/epoch"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/gc"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/internal/view"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/refs"
)

// The times of the tests are before the time of every machine that runs them, which is the time of
// the files that they write.
var (
	written = time.Date(2020, 2, 1, 9, 0, 0, 0, time.UTC) // of everything in the template
	today   = time.Date(2020, 6, 1, 9, 0, 0, 0, time.UTC) // when a command runs
	later   = time.Date(2020, 6, 2, 9, 0, 0, 0, time.UTC) // when the next process runs
	atLast  = time.Date(2100, 1, 1, 9, 0, 0, 0, time.UTC) // when all files are old
	bg      = context.Background()
)

const (
	main    = history.MainBranch
	project = "p" // the project's directory; files of the user are beside it
)

// settings make short conversations reach all states.
func settings() []string {
	return []string{
		"window.graduate_at=4", "window.evict_at=6", "forest.max_cold_clusters=3",
		"mask.protected_tokens=10", "mask.gate_tokens=10",
		"offload.threshold_chars=2000", "hook.deadline=120s", "gc.grace=1d", "log.keep=1d",
	}
}

// world is a directory with a project in it, as one process sees it.
type world struct {
	root string
	fs   *durable.FS
	now  time.Time
	tick time.Duration // added to the clock at each reading
	warn []string
}

func (w *world) project() string       { return filepath.Join(w.root, project) }
func (w *world) path(el string) string { return filepath.Join(w.root, filepath.FromSlash(el)) }
func (w *world) dir() string           { return filepath.Join(w.project(), ".gemini", "context") }

func (w *world) env() repo.Env {
	now := w.now
	var mu sync.Mutex
	return repo.Env{
		WorkDir: w.project(), Random: bytes.NewReader(bytes.Repeat([]byte("fixed randomness"), 8)),
		FS: w.fs, Overrides: settings(),
		Owner: lock.Owner{PID: 1, Host: "test", Command: "test"},
		Now: func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			now = now.Add(w.tick)
			return now
		},
	}
}

// open opens the store as every command does.
func (w *world) open() (*session.Store, error) {
	r, err := repo.Open(w.env())
	if err != nil {
		return nil, err
	}
	s := session.New(r)
	s.History.Warn = func(text string) { w.warn = append(w.warn, text) }
	return s, nil
}

// with runs do on the store.
func (w *world) with(do func(*session.Store) error) error {
	s, err := w.open()
	if err != nil {
		return err
	}
	return errors.Join(do(s), s.Close())
}

// on makes a command of a function on the store.
func on(do func(*session.Store) error) func(*world) error {
	return func(w *world) error { return w.with(do) }
}

func (w *world) view(do func(*session.Store, *refs.View) error) error {
	return w.with(func(s *session.Store) error {
		v, err := s.Refs.Read()
		if err != nil {
			return err
		}
		return do(s, v)
	})
}

func says(role, text string) []conversation.Message {
	return []conversation.Message{{Role: role, Text: text}}
}

func say(s *session.Store, name, branch, role, text string) error {
	_, _, err := s.Conversation.Append(bg, name, branch, says(role, text),
		conversation.AppendOptions{})
	return err
}

var topics = []string{
	"postgres migration schema port %d table index",
	"parser lexer token line %d nil pointer panic",
	"deploy rollback release server %d traffic canary",
	"rate limit header bucket %d requests minute",
	"flaky timeout retry runner %d shard",
}

func chatter(r *rand.Rand) string { return fmt.Sprintf(topics[r.IntN(len(topics))], r.IntN(10000)) }

// A template is a project with a store that contains something of every kind, and that writes its
// next checkpoint with the operation after the next. In packed, all old objects are in a pack.
var (
	template  = sync.OnceValues(func() (image, error) { return makeTemplate(nil) })
	spreadOut = sync.OnceValues(func() (image, error) {
		return makeTemplate(func(s *session.Store) error { return storetest.SpreadOf(bg, s.Repo) })
	})
	packed = sync.OnceValues(func() (image, error) {
		return makeTemplate(func(s *session.Store) error {
			_, err := gc.Run(bg, s.Opened, gc.Options{})
			return err
		})
	})
)

// makeTemplate makes the store of the tests, whose log carries its objects, and then calls move,
// which may be nil.
func makeTemplate(move func(*session.Store) error) (image, error) {
	base := ""
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		base = "/dev/shm"
	}
	root, err := os.MkdirTemp(base, "ctx-faults-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(root)
	w := &world{root: root, now: written, tick: time.Second}
	if err := os.Mkdir(w.project(), 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(w.path("chat.jsonl"), []byte(geminiTalk), 0o600); err != nil {
		return nil, err
	}
	if _, _, err := repo.Init(w.env(), w.project()); err != nil {
		return nil, err
	}
	if err := w.with(fill); err != nil {
		return nil, err
	}
	if move != nil {
		w.now = written.Add(12 * time.Hour)
		if err := w.with(move); err != nil {
			return nil, err
		}
	}
	return readImage(root, written)
}

// fill makes what the commands need: the session talk has clusters, tombstones and a backlog, late
// a backlog, edits a cluster, outputs, and a replacement to undo, forked two open branches, told an
// epoch.
func fill(s *session.Store) error {
	r := rand.New(rand.NewPCG(5, 5))
	for range 16 {
		if err := say(s, "talk", main, []string{"user", "model"}[r.IntN(2)],
			chatter(r)); err != nil {
			return err
		}
	}
	if _, err := s.Compaction.Compact(bg,
		compaction.CompactOptions{Branches: []history.BranchName{{Session: "talk",
			Branch: main}}}); err != nil {
		return err
	}
	for range 8 {
		if err := say(s, "talk", main, "user", chatter(r)); err != nil {
			return err
		}
	}
	var batch []conversation.Message
	for range 16 {
		batch = append(batch, conversation.Message{Role: "user", Text: chatter(r)})
	}
	if _, _, err := s.Conversation.Append(bg, "late", main, batch,
		conversation.AppendOptions{NoGraduation: true}); err != nil {
		return err
	}
	for _, do := range []func(*session.Store) error{fillEdits, fillForked, fillTold} {
		if err := do(s); err != nil {
			return err
		}
	}
	for {
		v, err := s.Refs.Read()
		if err != nil || v.Number >= 254 {
			return err
		}
		for _, to := range []string{"late", "talk"} {
			if err := s.Conversation.Use(bg, to); err != nil {
				return err
			}
		}
	}
}

func fillEdits(s *session.Store) error {
	for n := range 6 {
		if err := say(s, "edits", main, "user",
			fmt.Sprintf("the migration of table %d fails on port %d", n, n)); err != nil {
			return err
		}
	}
	if _, err := s.Compaction.Compact(bg,
		compaction.CompactOptions{Branches: []history.BranchName{{Session: "edits",
			Branch: main}}}); err != nil {
		return err
	}
	output, err := json.Marshal(strings.Repeat("word ", 200))
	if err != nil {
		return err
	}
	_, _, err = s.Conversation.Append(bg, "edits", main, []conversation.Message{
		{Role: "model",
			Parts: json.RawMessage(
				`[{"text":"look"},{"functionCall":{"id":"c1","name":"read_file","args":{}}}]`)},
		{Role: "tool",
			Parts: json.RawMessage(
				`[{"functionResponse":{"id":"c1","name":"read_file","response":{"output":` +
					string(output) + `}}}]`)},
	}, conversation.AppendOptions{})
	if err != nil {
		return err
	}
	for _, text := range []string{"and then", "done"} {
		if err := say(s, "edits", main, "user", text); err != nil {
			return err
		}
	}
	return replace(s, "edits", func(in view.Input) ([]format.Target, []format.ID) {
		return []format.Target{{Entry: in.Tail[len(in.Tail)-2].ID, Part: format.WholeEntry}}, nil
	}, "then")
}

// replace makes a text stand for the targets that pick chooses in a session.
func replace(
	s *session.Store, name string, pick func(view.Input) ([]format.Target, []format.ID),
	text string,
) error {
	v, err := s.Refs.Read()
	if err != nil {
		return err
	}
	in, err := s.Recall.RenderInput(v, name, main, view.Options{})
	if err != nil {
		return err
	}
	targets, clusters := pick(in)
	claims, err := s.Edits.BeginReplace(v, name, main, targets, clusters)
	if err != nil {
		return err
	}
	_, err = s.Edits.CommitReplace(bg,
		[]summaries.Answer{{Claim: claims[0].ID, Response: told(text)}}, edits.ReplaceOptions{})
	return err
}

func told(text string) summarize.Response {
	return summarize.Response{Text: text, Summarizer: "worker", Version: "1"}
}

func fillForked(s *session.Store) error {
	if err := say(s, "forked", main, "user", "who looks at what"); err != nil {
		return err
	}
	if _, err := s.Conversation.Fork(bg, "forked", main, []string{"a", "b"},
		conversation.ForkOptions{}); err != nil {
		return err
	}
	return errors.Join(say(s, "forked", "a", "model", "I look at the left"),
		say(s, "forked", "b", "model", "I look at the right"))
}

func observe(s *session.Store, name, value string) error {
	set, err := epoch.Read(
		[]byte(fmt.Sprintf(
			`{"key":"core/date","value":%q,"first":"It is %s.","changed":"It is %s now.","removed_text":"It is over."}`, value, value, value)))
	if err == nil {
		_, err = s.Epochs.Observe(bg, name, main, set, epochs.ObserveOptions{})
	}
	return err
}

func fillTold(s *session.Store) error {
	return errors.Join(observe(s, "told", "Monday"), say(s, "told", main, "user", "hello"))
}

// geminiTalk is a transcript as the agent writes it.
const geminiTalk = `{"sessionId":"5d1c0e6e-0000-4000-8000-000000000001","projectHash":"ab","kind":"main"}
{"id":"a","type":"user","content":"which port does the database use"}
{"id":"b","type":"gemini","content":"it uses 5432"}
{"id":"c","type":"user","content":"and the cache"}
{"id":"d","type":"gemini","content":"6379"}
{"id":"e","type":"user","content":"and the queue"}
{"id":"f","type":"gemini","content":"5672"}
`

// contents returns the whole content of a store as text: the values of its refs, every message of
// every branch, the renderings, and its clusters. It omits the refs of forests, which move when a
// checkpoint is written; the clusters show their content.
func contents(s *session.Store) (string, error) {
	v, err := s.Refs.Read()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	all := v.All()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if strings.HasPrefix(name, "forests/") {
			continue
		}
		value := all[name]
		fmt.Fprintln(&b, name, value)
		branch, ok := strings.CutPrefix(name, "sessions/")
		if !ok {
			continue
		}
		list, err := s.Recall.Log(value.ID, recall.LogOptions{All: true})
		if err != nil {
			return "", fmt.Errorf("cannot read %s: %w", name, err)
		}
		for _, e := range list {
			fmt.Fprintln(&b, "  ", e.ID, e.Entry.Kind, e.Text, string(e.Parts))
		}
		at := strings.LastIndexByte(branch, '/')
		in, err := s.Recall.RenderInput(v, branch[:at], branch[at+1:], view.Options{})
		if err != nil {
			return "", fmt.Errorf("cannot render %s: %w", name, err)
		}
		for _, m := range in.Tail {
			fmt.Fprintln(&b, "  tail", m.ID, m.Text)
		}
		fmt.Fprintf(&b, "  %d clusters\n", len(in.Clusters))
	}
	list, err := s.Recall.Clusters(v)
	if err != nil {
		return "", err
	}
	for _, c := range list {
		fmt.Fprintln(&b, "cluster", c.ID, c.Covers)
	}
	return b.String(), nil
}

func must[T any](t testing.TB) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
