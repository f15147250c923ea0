package session

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/lock"
)

// verbs are the mutations that are stopped at every step. Each starts from the same store.
var verbs = []struct {
	name string
	do   func(*Store) error
}{
	{"append", func(s *Store) error {
		_, _, err := s.Append(context.Background(), "talk", MainBranch, []Message{{Role: "user", Text: "one more about the parser"}}, AppendOptions{})
		return err
	}},
	{"append a session", func(s *Store) error {
		_, _, err := s.Append(context.Background(), "fresh", MainBranch, []Message{{Role: "user", Text: "hello"}}, AppendOptions{})
		return err
	}},
	{"append a batch", func(s *Store) error {
		var batch []Message
		for i := range 80 {
			batch = append(batch, Message{Role: "user", Text: fmt.Sprint("line ", i)})
		}
		_, _, err := s.Append(context.Background(), "talk", MainBranch, batch, AppendOptions{NoGraduation: true})
		return err
	}},
	{"graduate", func(s *Store) error {
		_, err := s.Graduate(context.Background(), "late", MainBranch)
		return err
	}},
	{"compact", func(s *Store) error {
		_, err := s.Compact(context.Background(), CompactOptions{Branches: []BranchName{{"talk", MainBranch}, {"late", MainBranch}}})
		return err
	}},
	{"compact by a summariser", func(s *Store) error {
		_, err := s.Compact(context.Background(), CompactOptions{Branches: []BranchName{{"late", MainBranch}}, Summarizer: &talker{limit: 200}})
		return err
	}},
	{"compact flat", func(s *Store) error {
		_, err := s.Compact(context.Background(), CompactOptions{Branches: []BranchName{{"talk", MainBranch}}, Strategy: Flat})
		return err
	}},
	{"commit", func(s *Store) error {
		view, err := s.Refs.Read()
		if err != nil {
			return err
		}
		var answers []Answer
		err = s.Claims(context.Background(), view, 0, func(c Claim) error {
			answers = append(answers, Answer{c.ID, toldBy("w")})
			return nil
		})
		if err == nil {
			_, err = s.Commit(context.Background(), answers)
		}
		return err
	}},
	{"redo a summary", func(s *Store) error {
		id, err := oldestCluster(s)
		if err == nil {
			_, err = s.RedoSummary(context.Background(), id, CompactOptions{Branches: []BranchName{{"talk", MainBranch}}})
		}
		return err
	}},
	{"summarise, then evict", func(s *Store) error {
		if _, err := s.Compact(context.Background(), CompactOptions{}); err != nil {
			return err
		}
		view, err := s.Refs.Read()
		if err != nil {
			return err
		}
		list, err := s.Clusters(view)
		if err == nil {
			_, err = s.Evict(context.Background(), list[0].ID)
		}
		return err
	}},
	{"rewind", func(s *Store) error {
		view, err := s.Refs.Read()
		if err != nil {
			return err
		}
		target, err := s.Resolve(view, "talk~9")
		if err != nil {
			return err
		}
		_, err = s.Rewind(context.Background(), "talk", MainBranch, target, RewindOptions{})
		return err
	}},
	{"undo", func(s *Store) error {
		_, err := s.Undo(context.Background(), "talk")
		return err
	}},
	{"session rm", func(s *Store) error {
		_, err := s.RemoveSession(context.Background(), "talk")
		return err
	}},
	{"set state", func(s *Store) error {
		_, err := s.SetState(context.Background(), StateNames{"talk", "shop", "ada"}, []StateChange{set("app:a", "1"), set("user:b", "2"), set("c", "3")})
		return err
	}},
	{"link", func(s *Store) error {
		_, err := s.Link(context.Background(), "late", Parent{Session: "talk", Call: "c"}, true)
		return err
	}},
	{"session use", func(s *Store) error { return s.Use(context.Background(), "late") }},
}

// oldestCluster is a tombstone where there is one, so that more has to be done.
func oldestCluster(s *Store) (format.ID, error) {
	view, err := s.Refs.Read()
	if err != nil {
		return format.ID{}, err
	}
	list, err := s.Clusters(view)
	if err != nil || len(list) == 0 {
		return format.ID{}, err
	}
	return list[len(list)-1].ID, nil
}

// template is a store with two sessions, clusters, tombstones and a backlog, about to write its next checkpoint.
func template(t *testing.T) string {
	s := create(t, small...)
	r := rand.New(rand.NewPCG(5, 5))
	for range 24 {
		say(t, s, "talk", []string{"user", "model"}[r.IntN(2)], chatter(r))
	}
	must[Compaction](t)(s.Compact(context.Background(), CompactOptions{Branches: []BranchName{{"talk", MainBranch}}}))
	for range 12 {
		say(t, s, "talk", "user", chatter(r))
	}
	var batch []Message
	for range 30 {
		batch = append(batch, Message{Role: "user", Text: chatter(r)})
	}
	if _, _, err := s.Append(context.Background(), "late", MainBranch, batch, AppendOptions{NoGraduation: true}); err != nil {
		t.Fatal(err)
	}
	for s.mustView(t).Number < 254 {
		for _, to := range []string{"late", "talk"} {
			if err := s.Use(context.Background(), to); err != nil {
				t.Fatal(err)
			}
		}
	}
	say(t, s, "talk", "user", chatter(r))
	check(t, s)
	return s.Dir
}

// copyStore copies a store's directory.
func copyStore(t testing.TB, from string) string {
	t.Helper()
	to := filepath.Join(tempDir(t), ".gemini", "context")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(to, 0o700); err != nil {
		t.Fatal(err)
	}
	return to
}

// Every verb is stopped at each of its durable calls, before it, and with half of what it writes. The store is then opened as the next process
// would: nothing acknowledged is missing, every rule holds, the verb either happened or did not, and the next append works.
func TestStopAtEveryCall(t *testing.T) {
	from := template(t)
	before := texts(t, reopen(t, from, nil, small...))
	total := 0
	for _, verb := range verbs {
		t.Run(verb.name, func(t *testing.T) {
			whole := copyStore(t, from)
			steps := 0
			counting := &lock.FS{Hook: func(lock.Call) error { steps++; return nil }}
			if err := verb.do(reopen(t, whole, counting, small...)); err != nil {
				t.Fatal(err)
			}
			after := texts(t, reopen(t, whole, nil, small...))
			for n := 1; n <= steps; n += stride() {
				for _, torn := range []bool{false, true} {
					stopAt(t, from, n, torn, verb.do, before, after)
				}
			}
			total += 2 * ((steps + stride() - 1) / stride())
			t.Logf("%d calls, each stopped twice", steps)
		})
	}
	t.Logf("%d points stopped", total)
}

func stopAt(t *testing.T, from string, n int, torn bool, do func(*Store) error, before, after map[string][]string) {
	t.Helper()
	dir := copyStore(t, from)
	defer os.RemoveAll(filepath.Dir(filepath.Dir(dir)))
	fs := &lock.FS{Hook: func(c lock.Call) error {
		if c.N < n {
			return nil
		}
		if torn && c.N == n {
			return &lock.Torn{Keep: len(c.Data) / 2}
		}
		return lock.ErrStopped
	}}
	err := do(reopen(t, dir, fs, small...))
	s := reopen(t, dir, nil, small...)
	check(t, s)
	got := texts(t, s)
	happened, not := sameTexts(got, after), sameTexts(got, before)
	switch {
	case !happened && !not:
		t.Fatalf("stop at %d (torn %v): neither what was nor what was to be", n, torn)
	case err == nil && !happened:
		t.Fatalf("stop at %d (torn %v): acknowledged and lost", n, torn)
	case err != nil && !errors.Is(err, lock.ErrStopped):
		t.Fatalf("stop at %d (torn %v): %v", n, torn, err)
	}
	say(t, s, "late", "user", "after the stop")
	check(t, s)
}

// stride is 1: every call. With -short, for the race detector, it is every seventh.
func stride() int {
	if testing.Short() {
		return 7
	}
	return 1
}

// texts are the messages of every session.
func texts(t testing.TB, s *Store) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	view := s.mustView(t)
	for _, name := range view.Names("sessions/") {
		all[name] = []string{}
		for _, shown := range must[[]*Shown](t)(s.Log(view.Get(name).ID, LogOptions{})) {
			all[name] = append(all[name], shown.Text)
		}
	}
	return all
}

func sameTexts(a, b map[string][]string) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// Every durable call fails once, as a full disk or a bad one would make it fail. The verb says so or has done its work all the same; nothing is
// half done.
func TestFailEveryCall(t *testing.T) {
	from := template(t)
	before := texts(t, reopen(t, from, nil, small...))
	full := errors.New("no space left on device")
	for _, verb := range verbs {
		t.Run(verb.name, func(t *testing.T) {
			whole := copyStore(t, from)
			steps := 0
			counting := &lock.FS{Hook: func(lock.Call) error { steps++; return nil }}
			if err := verb.do(reopen(t, whole, counting, small...)); err != nil {
				t.Fatal(err)
			}
			after := texts(t, reopen(t, whole, nil, small...))
			for n := 1; n <= steps; n += stride() {
				dir := copyStore(t, from)
				fs := &lock.FS{Hook: func(c lock.Call) error {
					if c.N == n {
						return full
					}
					return nil
				}}
				err := verb.do(reopen(t, dir, fs, small...))
				s := reopen(t, dir, nil, small...)
				check(t, s)
				got := texts(t, s)
				if err == nil && !sameTexts(got, after) {
					t.Fatalf("failure at %d: acknowledged and lost", n)
				}
				if err != nil && !sameTexts(got, before) && !sameTexts(got, after) {
					t.Fatalf("failure at %d: half done: %v", n, err)
				}
				if err := os.RemoveAll(filepath.Dir(filepath.Dir(dir))); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
