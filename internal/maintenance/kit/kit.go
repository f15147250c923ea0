// Package kit makes stores for the tests of internal/maintenance: small ones, old ones with packs
// and garbage, and damaged ones. Tests alone import it.
//
// Begin with Create and Old.
package kit

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/epochs/epoch"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/objects"
)

// Talkative makes a store of n messages; CTX_BENCH_ENTRIES sets n, 20,000 if it is not set.
func Talkative(b *testing.B) *session.Store {
	n := 20000
	if text := os.Getenv("CTX_BENCH_ENTRIES"); text != "" {
		n, _ = strconv.Atoi(text)
	}
	s := Create(b)
	r := rand.New(rand.NewPCG(1, 1))
	for done := 0; done < n; {
		var batch []conversation.Message
		for range min(4096, n-done) {
			batch = append(batch,
				conversation.Message{Role: "user", Text: Chatter(r) + " " + Chatter(r)})
		}
		name := fmt.Sprint("s", done/20000)
		if _, _, err := s.Conversation.Append(context.Background(), name, history.MainBranch, batch,
			conversation.AppendOptions{NoGraduation: true}); err != nil {
			b.Fatal(err)
		}
		done += len(batch)
	}
	return s
}

const Day = 24 * time.Hour

// Small is a window that a dozen messages fill, and a log that is kept for a day.
var Small = []string{"window.graduate_at=4", "window.evict_at=7", "forest.max_cold_clusters=2",
	"log.keep=1d", "gc.grace=1d"}

// Create makes a store in a new directory.
func Create(t testing.TB) *session.Store {
	t.Helper()
	return closed(t, storetest.Create(t, Small...))
}

// Open opens the store in dir like a new process.
func Open(t testing.TB, dir string, fsys *durable.FS) *session.Store {
	t.Helper()
	return closed(t, storetest.Reopen(t, dir, fsys, Small...))
}

// closed closes a store at the end of the test.
func closed(t testing.TB, s *session.Store) *session.Store {
	t.Cleanup(func() { _ = s.Close() })
	return s
}

var topics = []string{
	"postgres migration schema port %d table index",
	"parser lexer token line %d nil pointer panic",
	"deploy rollback release server %d traffic canary",
	"rate limit header bucket %d requests minute",
	"flaky timeout retry runner %d shard",
	"invoice customer payment refund %d ledger",
	"camera lens shutter exposure %d tripod",
	"kernel module driver interrupt %d firmware",
}

func Chatter(r *rand.Rand) string { return fmt.Sprintf(topics[r.IntN(len(topics))], r.IntN(10000)) }

func Say(
	t testing.TB, s *session.Store, name string, texts ...string,
) (done []conversation.Appended) {
	t.Helper()
	var batch []conversation.Message
	for i, text := range texts {
		batch = append(batch,
			conversation.Message{Role: []string{"user", "model"}[i%2], Text: text})
	}
	done, _, err := s.Conversation.Append(context.Background(), name, history.MainBranch, batch,
		conversation.AppendOptions{NoGraduation: len(texts) > 1})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// Live does n random things to a store's sessions.
func Live(t testing.TB, s *session.Store, r *rand.Rand, n int) {
	t.Helper()
	bg := context.Background()
	for range n {
		name := []string{"talk", "late", "other"}[r.IntN(3)]
		view := storetest.View(t, s)
		exists := view.Get(history.RefName(name, history.MainBranch)).Exists()
		switch k := r.IntN(20); {
		case (k == 0 || k == 7) && exists:
			o := compaction.CompactOptions{Branches: []history.BranchName{{Session: name,
				Branch: history.MainBranch}}}
			if k == 7 && name == "late" {
				o.Strategy = clusters.Flat
			}
			storetest.Must[summaries.Compaction](t)(s.Compaction.Compact(bg, o))
		case k == 1 && exists:
			target, err := s.Clusters.Resolve(view, fmt.Sprintf("%s~%d", name, r.IntN(6)))
			if err == nil {
				_, _ = s.Conversation.Rewind(bg, name, history.MainBranch, target,
					conversation.RewindOptions{})
			}
		case k == 2 || k == 3:
			_, _ = s.Conversation.Undo(bg, name)
		case k == 4 && exists:
			storetest.Must[clusters.Graduation](t)(s.Conversation.Graduate(bg, name,
				history.MainBranch))
		case k == 5 && exists && r.IntN(3) == 0:
			storetest.Must[int](t)(s.Conversation.RemoveSession(bg, name))
		case k == 8:
			Observe(t, s, name, r.IntN(4))
		case k == 6:
			var batch []string
			for range 3 + r.IntN(80) {
				batch = append(batch, Chatter(r))
			}
			Say(t, s, name, batch...)
		default:
			Say(t, s, name, Chatter(r))
		}
	}
}

// Age gives every file of a store's objects a time.
func Age(t testing.TB, s *session.Store, at time.Time) {
	t.Helper()
	err := filepath.WalkDir(
		filepath.Join(s.Dir, objects.Dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			return os.Chtimes(path, at, at)
		})
	if err != nil {
		t.Fatal(err)
	}
}

// Files lists the files of a directory, sorted.
func Files(t testing.TB, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

// Texts are the messages of every session, in one string.
func Texts(t testing.TB, s *session.Store) string {
	t.Helper()
	var b strings.Builder
	view := storetest.View(t, s)
	for _, name := range view.Names("sessions/") {
		fmt.Fprintln(&b, name, view.Get(name))
		log, err := s.Recall.Log(view.Get(name).ID, recall.LogOptions{All: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range log {
			fmt.Fprintln(&b, e.ID, e.Text)
		}
	}
	return b.String()
}

func Clean(t testing.TB, s *session.Store) fsck.Report {
	t.Helper()
	report := storetest.Must[fsck.Report](t)(fsck.Run(context.Background(), s.Opened,
		fsck.Options{}))
	for i, f := range report.Faults {
		if i < 10 {
			t.Error(f)
		}
	}
	if len(report.Faults) > 0 {
		t.FailNow()
	}
	return report
}

// Stray puts an entry that nothing names, on top of another one.
func Stray(t testing.TB, s *session.Store, text string) (top, below format.ID) {
	t.Helper()
	e := &format.Entry{Seq: 1, Session: "nobody", Kind: format.KindMessage, Role: "user",
		Time: storetest.Start}
	make := func(text string) format.ID {
		e.Body = &format.Body{Media: format.MediaText}
		blank := bytes.TrimSuffix(storetest.Must[[]byte](t)(e.Encode()), []byte("\n"))
		// As every entry has one
		nonce := storetest.Must[[]byte](t)(
			s.Nonce("nonce", blank[:bytes.LastIndexByte(blank, '\n')+1]))
		body := append(nonce, text...)
		sum := format.SumBody(body, format.MediaText)
		e.Body = &sum
		raw := format.Raw{Header: storetest.Must[[]byte](t)(e.Encode()), Body: body}
		if err := s.Objects.Put(raw); err != nil {
			t.Fatal(err)
		}
		return raw.ID()
	}
	below = make(text)
	e.Parents, e.Seq = []format.ID{below}, 2
	return make(text + " again"), below
}

// Observe tells a session's model of a value.
func Observe(t testing.TB, s *session.Store, name string, value int) {
	t.Helper()
	set := storetest.Must[*epoch.Set](t)(
		epoch.Read(
			fmt.Appendf(nil,
				`{"key":"core/date","value":%d,"first":"It is %d.","changed":"It is %d now.","removed_text":"It is over."}`, value, value, value)))
	storetest.Must[epochs.Observed](t)(s.Epochs.Observe(context.Background(), name,
		history.MainBranch, set, epochs.ObserveOptions{}))
}
