package eval

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/eval/corpus"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
)

// Settings are where the settings of the stores that are measured come from, beside the defaults.
type Settings struct {
	UserConfig string              // the path of the user's config.toml; "" for none
	Getenv     func(string) string // nil for none
	Overrides  []string            // "key=value", the last one of a key counts
}

// lab makes stores to measure in. They lie in a directory that ends with it.
type lab struct {
	dir  string
	from Settings
	made int

	summarizer summarize.Summarizer // nil for the built-in one
}

// newLab makes its directory in memory where the system has a place for that, unless TMPDIR names
// another: what is measured here is not the disk.
func newLab(from Settings) (*lab, error) {
	l := &lab{from: from}
	var err error
	if from.Getenv == nil || from.Getenv("TMPDIR") == "" {
		if l.dir, err = os.MkdirTemp("/dev/shm", "ctx-eval-"); err == nil {
			return l, nil
		}
	}
	l.dir, err = os.MkdirTemp("", "ctx-eval-")
	return l, err
}

func (l *lab) close() error { return os.RemoveAll(l.dir) }

// talk is the name of the session that holds the conversation, in every store of a lab.
const talk = "talk"

// stand is a store with one conversation in it.
type stand struct {
	*session.Store
	lab      *lab
	dir      string
	messages []corpus.Message
	ids      []format.ID // of the entries, by the place of the message; zero for one that was taken back
	texts    []string    // what sanitising left of them: what was appended
}

// open makes an empty store. Its key and its clock are the same in every run, and so are its ids.
func (l *lab) open(overrides ...string) (*stand, error) {
	l.made++
	dir := filepath.Join(l.dir, strconv.Itoa(l.made))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	env := repo.Env{
		WorkDir: dir, StoreDir: dir, UserConfig: l.from.UserConfig, Getenv: l.from.Getenv,
		Overrides: append(append([]string{}, l.from.Overrides...), overrides...),
		Now: func() time.Time {
			now = now.Add(time.Millisecond)
			return now
		},
		Random: &stream{}, Owner: lock.Owner{PID: os.Getpid(), Host: "eval", Command: "eval"},
	}
	r, _, err := repo.Init(env, dir)
	if err != nil {
		return nil, err
	}
	return &stand{Store: session.New(r), lab: l, dir: dir}, nil
}

// close closes the store and takes it away.
func (s *stand) close() error { return errors.Join(s.Close(), os.RemoveAll(s.dir)) }

// stream gives the same bytes in every run.
type stream struct {
	n    uint64
	left []byte
}

func (s *stream) Read(p []byte) (int, error) {
	if len(s.left) == 0 {
		sum := sha256.Sum256(strconv.AppendUint(nil, s.n, 10))
		s.n++
		s.left = sum[:]
	}
	n := copy(p, s.left)
	s.left = s.left[n:]
	return n, nil
}

// appendBatch is how many messages are appended at a time where only the end counts.
const appendBatch = 512

// fill appends a conversation and does no more; rewinds are done where they come.
func (s *stand) fill(ctx context.Context, m []corpus.Message) error {
	for start := 0; start < len(m); {
		end := start + 1
		for end < len(m) && end-start < appendBatch && m[end].RewindTo == nil {
			end++
		}
		if err := s.say(ctx, m[start:end], conversation.AppendOptions{Orphan: true, NoGraduation: true}); err != nil {
			return err
		}
		start = end
	}
	return nil
}

// say appends messages in one operation. Only the first may be one before which the conversation
// was taken back.
func (s *stand) say(ctx context.Context, m []corpus.Message, o conversation.AppendOptions) error {
	if m[0].RewindTo != nil {
		if err := s.rewind(ctx, *m[0].RewindTo); err != nil {
			return err
		}
	}
	batch := make([]conversation.Message, len(m))
	for i := range m {
		batch[i] = entryOf(m[i])
	}
	done, _, err := s.Conversation.Append(ctx, talk, history.MainBranch, batch, o)
	if errors.Is(err, history.ErrInput) {
		err = errors.New(err.Error()) // of the corpus, not of what the caller said
	}
	if err != nil {
		return fmt.Errorf("seq %d and on: %w", m[0].Seq, err)
	}
	for i := range m {
		text, _, err := sanitize.Text([]byte(m[i].Text))
		if err != nil {
			return err
		}
		s.messages, s.ids, s.texts = append(s.messages, m[i]), append(s.ids, done[i].ID), append(s.texts, string(text))
	}
	return nil
}

// rewind takes back every message after the one of a seq.
func (s *stand) rewind(ctx context.Context, seq int) error {
	for i := range s.messages {
		if s.messages[i].Seq <= seq || s.ids[i].IsZero() {
			continue
		}
		_, err := s.Conversation.Rewind(ctx, talk, history.MainBranch, s.ids[i], conversation.RewindOptions{})
		if err != nil {
			return err
		}
		for ; i < len(s.ids); i++ {
			s.ids[i] = format.ID{}
		}
		return nil
	}
	return nil
}

// entryOf is a message as a store takes it.
func entryOf(m corpus.Message) conversation.Message {
	out := conversation.Message{Role: m.Role, Author: m.Author, Text: m.Text}
	out.Time, _ = m.When()
	for _, c := range m.Calls {
		out.Calls = append(out.Calls, format.Call{ID: c.ID, Tool: c.Name})
	}
	for _, r := range m.Results {
		out.Results = append(out.Results, r.ID)
	}
	return out
}

// view is the refs as they are now.
func (s *stand) view() (*refs.View, error) { return s.Refs.Read() }

// clusters returns, for every message, the number of the cluster that it is in. Every message has
// to be in one.
func (s *stand) clusters() ([]int, error) {
	view, err := s.view()
	if err != nil {
		return nil, err
	}
	st, err := s.History.Forest(view)
	if err != nil {
		return nil, err
	}
	ids := map[format.ID]bool{}
	for _, id := range s.ids {
		ids[id] = true
	}
	places, err := st.Find(ids)
	if err != nil {
		return nil, err
	}
	out := make([]int, len(s.ids))
	for i, id := range s.ids {
		at, ok := places[id]
		if !ok {
			return nil, errors.New("a message is in no cluster")
		}
		out[i] = int(at.Cluster)
	}
	return out, nil
}
