package epochs_test

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
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/epochs/epoch"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/internal/view"
)

func unread(key string) string { return fmt.Sprintf(`{"key":%q,"unavailable":true}`, key) }

func gone(key string) string { return fmt.Sprintf(`{"key":%q,"removed":true}`, key) }

func setOf(t testing.TB, lines ...string) *epoch.Set {
	t.Helper()
	return storetest.Must[*epoch.Set](t)(epoch.Read([]byte(strings.Join(lines, "\n"))))
}

// observe observes in the main branch of the session "talk".
func observe(t testing.TB, s *session.Store, lines ...string) epochs.Observed {
	t.Helper()
	return storetest.Must[epochs.Observed](t)(s.Epochs.Observe(context.Background(), "talk",
		history.MainBranch, setOf(t, lines...), epochs.ObserveOptions{}))
}

func observeIn(t testing.TB, s *session.Store, branch string, lines ...string) epochs.Observed {
	t.Helper()
	return storetest.Must[epochs.Observed](t)(s.Epochs.Observe(context.Background(), "talk", branch,
		setOf(t, lines...), epochs.ObserveOptions{}))
}

// refused observes, wants an error of a kind that says want, and that nothing was written.
func refused(t testing.TB, s *session.Store, kind error, want string, lines ...string) {
	t.Helper()
	before := files(t, s.Dir)
	done, err := s.Epochs.Observe(context.Background(), "talk", history.MainBranch,
		setOf(t, lines...), epochs.ObserveOptions{})
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
func tells(t testing.TB, done epochs.Observed, result, text string) {
	t.Helper()
	if done.Result != result || done.Text != text {
		t.Fatalf("got %s %q, want %s %q", done.Result, done.Text, result, text)
	}
	if wrote := !done.Entry.IsZero(); wrote == (result == epoch.Unchanged) {
		t.Fatalf("%s, and the entry is %v", result, done.Entry)
	}
}

// delta is what changed, as "key" or "-key".
func delta(done epochs.Observed) string {
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
func prompt(t testing.TB, s *session.Store, branch string, f view.Format) view.Output {
	t.Helper()
	o := view.Options{Format: f}
	in := storetest.Must[view.Input](t)(s.Recall.RenderInput(storetest.View(t, s),
		"talk", branch, o))
	return storetest.Must[view.Output](t)(view.Render(in, o))
}

// says is the tail of a branch in few words: who said it and what, updates as "update".
func says(t testing.TB, s *session.Store, branch string) string {
	t.Helper()
	in := storetest.Must[view.Input](t)(s.Recall.RenderInput(storetest.View(t, s), "talk", branch,
		view.Options{}))
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
func block(t testing.TB, s *session.Store, branch string) string {
	t.Helper()
	in := storetest.Must[view.Input](t)(s.Recall.RenderInput(storetest.View(t, s), "talk", branch,
		view.Options{}))
	var parts []string
	for _, p := range in.Epoch {
		parts = append(parts, p.Text)
	}
	return strings.Join(parts, "\n\n")
}

// believed is what is in force, as "key=value", in the order of the sources.
func believed(t testing.TB, s *session.Store, branch string) string {
	t.Helper()
	shown := storetest.Must[recall.EpochShown](t)(
		s.Recall.EpochAt(storetest.View(t, s).Get(history.RefName("talk", branch)).ID))
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

func operations(t testing.TB, s *session.Store) uint64 {
	t.Helper()
	return storetest.View(t, s).Number
}

// leave makes the branch leave, as a person does.
func leave(t testing.TB, s *session.Store) {
	t.Helper()
	storetest.Must[summaries.Compaction](t)(s.Compaction.Compact(context.Background(),
		compaction.CompactOptions{Branches: []history.BranchName{{Session: "talk",
			Branch: history.MainBranch}}}))
}

// branchAt makes a branch that starts at an entry of another one; zero for that one's tip.
func branchAt(t testing.TB, s *session.Store, parent, child string, at format.ID) {
	t.Helper()
	storetest.Must[conversation.Forked](t)(s.Conversation.Fork(context.Background(), "talk", parent,
		[]string{child}, conversation.ForkOptions{At: at}))
	storetest.CheckEpochs(t, s)
}

// parts appends a message of parts.
func parts(t testing.TB, s *session.Store, branch, role, list string) format.ID {
	t.Helper()
	if !json.Valid([]byte(list)) {
		t.Fatalf("no JSON: %s", list)
	}
	done, _, err := s.Conversation.Append(context.Background(), "talk", branch,
		[]conversation.Message{{Role: role, Parts: []byte(list)}}, conversation.AppendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return done[0].ID
}

// lose takes an object away.
func lose(t testing.TB, s *session.Store, id format.ID) {
	t.Helper()
	storetest.Spread(t, s)
	storetest.Lose(t, s, id)
}

// broken makes every durable call fail from the nth on.
func broken(n int) *durable.FS {
	return &durable.FS{Hook: func(c durable.Call) error {
		if c.N >= n {
			return durable.ErrStopped
		}
		return nil
	}}
}
