package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/session/epoch"
	"github.com/gemini-ctx/ctx/session/view"
)

// is is an observation of a value, with texts that can be told from each other.
func is(key, value string) string {
	name := key[strings.IndexByte(key, '/')+1:]
	return fmt.Sprintf(`{"key":%q,"value":%s,"first":%q,"changed":%q,"removed_text":%q}`,
		key, value, name+" is "+value, name+" became "+value, name+" has gone")
}

func unread(key string) string { return fmt.Sprintf(`{"key":%q,"unavailable":true}`, key) }
func gone(key string) string   { return fmt.Sprintf(`{"key":%q,"removed":true}`, key) }

func setOf(t testing.TB, lines ...string) *epoch.Set {
	t.Helper()
	return must[*epoch.Set](t)(epoch.Read([]byte(strings.Join(lines, "\n"))))
}

// observe observes in the main branch of the session "talk".
func observe(t testing.TB, s *Store, lines ...string) Observed {
	t.Helper()
	return must[Observed](t)(s.Observe(context.Background(), "talk", MainBranch, setOf(t, lines...), ObserveOptions{}))
}

func observeIn(t testing.TB, s *Store, branch string, lines ...string) Observed {
	t.Helper()
	return must[Observed](t)(s.Observe(context.Background(), "talk", branch, setOf(t, lines...), ObserveOptions{}))
}

// refused observes, wants an error of a kind that says want, and that nothing was written.
func refused(t testing.TB, s *Store, kind error, want string, lines ...string) {
	t.Helper()
	before := files(t, s.Dir)
	done, err := s.Observe(context.Background(), "talk", MainBranch, setOf(t, lines...), ObserveOptions{})
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), want) {
		t.Fatalf("got %+v, error %v, want %v with %q", done, err, kind, want)
	}
	if after := files(t, s.Dir); before != after {
		t.Fatalf("something was written:\n%s\nwas\n%s", after, before)
	}
}

// files lists what is stored, but for the cache, which anybody may renew.
func files(t testing.TB, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && d.Name() == "cache" {
				return filepath.SkipDir
			}
			return err
		}
		info, err := d.Info()
		if err == nil && d.Name() != "lock.owner" {
			fmt.Fprintf(&out, "%s %d\n", path, info.Size())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// tells fails unless an observation came to a result with a text.
func tells(t testing.TB, done Observed, result, text string) {
	t.Helper()
	if done.Result != result || done.Text != text {
		t.Fatalf("got %s %q, want %s %q", done.Result, done.Text, result, text)
	}
	if wrote := !done.Entry.IsZero(); wrote == (result == epoch.Unchanged) {
		t.Fatalf("%s, and the entry is %v", result, done.Entry)
	}
}

// delta is what changed, as "key" or "-key".
func delta(done Observed) string {
	var keys []string
	for _, c := range done.Delta {
		if c.Value.IsZero() {
			c.Key = "-" + c.Key
		}
		keys = append(keys, c.Key)
	}
	return strings.Join(keys, " ")
}

// prompt is what a branch renders.
func prompt(t testing.TB, s *Store, branch string, f view.Format) view.Output {
	t.Helper()
	o := view.Options{Format: f}
	in := must[view.Input](t)(s.RenderInput(s.mustView(t), "talk", branch, o))
	return must[view.Output](t)(view.Render(in, o))
}

// says is the tail of a branch in few words: who said it and what, updates as "update".
func says(t testing.TB, s *Store, branch string) string {
	t.Helper()
	in := must[view.Input](t)(s.RenderInput(s.mustView(t), "talk", branch, view.Options{}))
	var list []string
	for _, m := range in.Tail {
		who := m.Role
		if m.Update {
			who = "update"
		}
		list = append(list, who+" "+m.Text)
	}
	return strings.Join(list, " | ")
}

// block is the initial block of a branch.
func block(t testing.TB, s *Store, branch string) string {
	t.Helper()
	in := must[view.Input](t)(s.RenderInput(s.mustView(t), "talk", branch, view.Options{}))
	var parts []string
	for _, p := range in.Epoch {
		parts = append(parts, p.Text)
	}
	return strings.Join(parts, "\n\n")
}

// believed is what is in force, as "key=value", in the order of the sources.
func believed(t testing.TB, s *Store, branch string) string {
	t.Helper()
	shown := must[EpochShown](t)(s.EpochAt(s.mustView(t).Get(RefName("talk", branch)).ID))
	var list []string
	for _, k := range shown.Current {
		value := string(k.Value)
		if k.Blob.IsZero() {
			value = "removed"
		}
		list = append(list, k.Key+"="+value)
	}
	return strings.Join(list, " ")
}

func equal(t testing.TB, got, want string) {
	t.Helper()
	if got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
}

func operations(t testing.TB, s *Store) uint64 { t.Helper(); return s.mustView(t).Number }

// leave makes the branch leave, as a person does.
func leave(t testing.TB, s *Store) {
	t.Helper()
	must[Compaction](t)(s.Compact(context.Background(), CompactOptions{Branches: []BranchName{{"talk", MainBranch}}}))
}

// branchAt makes a branch that starts at an entry of another one; zero for that one's tip.
func branchAt(t testing.TB, s *Store, parent, child string, at format.ID) {
	t.Helper()
	must[Forked](t)(s.Fork(context.Background(), "talk", parent, []string{child}, ForkOptions{At: at}))
	checkEpochs(t, s)
}

// parts appends a message of parts.
func parts(t testing.TB, s *Store, branch, role, list string) format.ID {
	t.Helper()
	if !json.Valid([]byte(list)) {
		t.Fatalf("no JSON: %s", list)
	}
	done, _, err := s.Append(context.Background(), "talk", branch, []Message{{Role: role, Parts: []byte(list)}}, AppendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return done[0].ID
}

func sayTo(t testing.TB, s *Store, branch, role, text string) format.ID {
	t.Helper()
	done, _, err := s.Append(context.Background(), "talk", branch, []Message{{Role: role, Text: text}}, AppendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return done[0].ID
}

// lose takes the file of an object away.
func lose(t testing.TB, s *Store, id format.ID) {
	t.Helper()
	if err := os.Remove(filepath.Join(s.Dir, "objects", id.String()[:2], id.String()[2:])); err != nil {
		t.Fatal(err)
	}
}

// broken makes every durable call fail from the nth on.
func broken(n int) *lock.FS {
	return &lock.FS{Hook: func(c lock.Call) error {
		if c.N >= n {
			return lock.ErrStopped
		}
		return nil
	}}
}
