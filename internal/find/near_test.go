package find_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/message"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/varint"
)

// reads counts the objects that a reader asks the store for.
type reads struct {
	history.Objects
	n int
}

func (r *reads) Get(id format.ID) (format.Raw, error) { r.n++; return r.Objects.Get(id) }

func (r *reads) Header(id format.ID) ([]byte, error) { r.n++; return r.Objects.Header(id) }

// counted is a store with a talk that a rendering has read once, opened again.
func counted(t *testing.T) (s *session.Store, from *reads, file string, rendered []byte) {
	t.Helper()
	s = storetest.Create(t, storetest.Small...)
	storetest.Talk(t, s, "talk", 120, 1)
	storetest.Compact(t, s)
	rendered = storetest.Render(t, s, "talk", 3000).Bytes
	file = cache.NearName("talk", history.MainBranch)
	if _, _, ok := s.History.Cache.Load(file); !ok {
		t.Fatal("nothing was kept")
	}
	s = storetest.Reopen(t, s.Dir, nil, storetest.Small...)
	from = &reads{Objects: s.Objects}
	s.History.ReadFrom(from)
	return s, from, file, rendered
}

// A rendering reads the objects of the one before from one file, and says the same.
func TestNearby(t *testing.T) {
	s, from, file, first := counted(t)
	if out := storetest.Render(t, s, "talk", 3000).Bytes; !bytes.Equal(out, first) {
		t.Errorf("says\n%s\nnot\n%s", out, first)
	}
	if from.n > 10 {
		t.Errorf("%d reads besides", from.n)
	}
	before := from.n
	if err := s.History.Cache.Remove(file); err != nil {
		t.Fatal(err)
	}
	if out := storetest.Render(t, s, "talk", 3000).Bytes; !bytes.Equal(out, first) ||
		from.n < before+64 {
		t.Errorf("without the file %d reads, and says\n%s", from.n-before, out)
	}
}

// What does not fit its id, and a file that cannot be decoded, count as not there.
func TestNearbyIsChecked(t *testing.T) {
	s, from, file, first := counted(t)
	whole, stamp, _ := s.History.Cache.Load(file)
	r := varint.Reader{Rest: whole}
	r.Uvarint() // the version
	r.Uvarint() // not packed
	n := r.Uvarint()
	changed := bytes.ReplaceAll(whole, []byte("user\n"), []byte("tool\n"))
	if n < 64 || bytes.Equal(changed, whole) {
		t.Fatalf("%d objects, none of a user", n)
	}
	for name, b := range map[string][]byte{"changed": changed, "cut": whole[:len(whole)-1],
		"longer": append(bytes.Clone(whole), 0), "empty": {},
		"version": append([]byte{9}, whole[1:]...)} {
		if err := s.History.Cache.Store(file, stamp, b); err != nil {
			t.Fatal(err)
		}
		from.n = 0
		if out := storetest.Render(t, s, "talk", 3000).Bytes; !bytes.Equal(out, first) {
			t.Errorf("%s: says\n%s\nnot\n%s", name, out, first)
		}
		if from.n < 10 {
			t.Errorf("%s: %d reads", name, from.n)
		}
	}
}

// Forgotten words are not kept.
func TestNearbyForgets(t *testing.T) {
	s, _, file, first := counted(t)
	path := filepath.Join(s.Dir, "cache", file)
	phrase := []byte("timeout")
	if b, err := os.ReadFile(path); err != nil || !bytes.Contains(b, phrase) ||
		!bytes.Contains(first, phrase) {
		t.Fatalf("nothing to forget, error %v: %s", err, first)
	}
	storetest.Must[store.Forgot](t)(
		s.Store.Forget(context.Background(), func() (*store.Forgetting, error) {
			return &store.Forgetting{Phrases: []string{string(phrase)}}, nil
		}))
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
}

// A rendering of a session reads the clusters of its own messages, and not those of the whole
// store: a note, which no cluster has, is looked for in none.
func TestRenderingReadsItsOwn(t *testing.T) {
	readsOf := func(noted bool) int {
		s := storetest.Create(t, storetest.Small[:2]...) // no cluster is evicted
		storetest.Talk(t, s, "other", 200, 1)
		for i := range 30 {
			storetest.Say(t, s, "work", "user", fmt.Sprintf("Change the parser, step %d.", i))
			call := fmt.Appendf(nil,
				`[{"functionCall":{"id":"c%d","name":"Bash","args":{"command":"make %d"}}}]`, i, i)
			result := fmt.Appendf(nil,
				`[{"functionResponse":{"id":"c%d","name":"Bash","response":{"output":"ok"}}}]`, i)
			storetest.AppendOne(t, s, "work", conversation.Message{Role: "model", Parts: call})
			storetest.AppendOne(t, s, "work", conversation.Message{Role: "tool", Parts: result})
			if noted && i == 3 {
				note := message.Note{Kind: message.Rule, Text: "Never touch the lexer."}
				storetest.AppendOne(t, s, "work",
					conversation.Message{Note: true, Role: "user", Parts: note.Parts()})
			}
		}
		storetest.Compact(t, s)
		s = storetest.Reopen(t, s.Dir, nil, storetest.Small[:2]...)
		from := &reads{Objects: s.Objects}
		s.History.ReadFrom(from)
		storetest.Render(t, s, "work", 3000)
		return from.n
	}
	plain, noted := readsOf(false), readsOf(true)
	if noted > plain+5 {
		t.Errorf("%d reads, and %d with a note", plain, noted)
	}
}
