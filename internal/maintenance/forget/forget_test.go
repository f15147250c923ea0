package forget_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/format/pack"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/durable/durabletest"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/epochs/epoch"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/bundle"
	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/maintenance/gc"
	"github.com/gemini-ctx/ctx/internal/maintenance/kit"
	"github.com/gemini-ctx/ctx/internal/maintenance/repair"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/summaries"
	view2 "github.com/gemini-ctx/ctx/internal/view"
	"github.com/gemini-ctx/ctx/objects"
)

// The words that are forgotten: one that stands in a single message and in what is made of it, and
// one that stands everywhere.
const (
	oneWord = "narwhalite"
	allWord = "quokkalith"
)

// oblivious makes a store that has the words in every place there is: in packs and in the log, in
// summaries over summaries, in a tombstone, a mask, a replacement, an epoch, the flat forest, the
// search index, and in an entry that nothing reaches. It returns the message that has oneWord.
func oblivious(t testing.TB) (dir string, named format.ID) {
	t.Helper()
	s := kit.Create(t)
	bg := context.Background()
	r := rand.New(rand.NewPCG(7, 7))
	compact := func(strategy string) {
		t.Helper()
		o := compaction.CompactOptions{
			Branches: []history.BranchName{{Session: "talk", Branch: history.MainBranch}},
			Strategy: strategy,
		}
		storetest.Must[summaries.Compaction](t)(s.Compaction.Compact(bg, o))
	}
	told(t, s, "the bench "+allWord)
	kit.Say(t, s, "talk", "postgres migration schema with "+oneWord+" and the index",
		"it goes through with "+allWord+" only", kit.Chatter(r))
	for range 3 {
		kit.Say(t, s, "talk", kit.Chatter(r), kit.Chatter(r),
			"postgres migration schema again, "+allWord, kit.Chatter(r))
		compact(clusters.UnionFind)
	}
	compact(clusters.Flat)
	kit.Stray(t, s, "nobody said "+allWord)
	kit.Age(t, s, storetest.Start.Add(-10*kit.Day))
	storetest.Must[gc.Report](t)(gc.Run(bg, s.Opened, gc.Options{}))
	kit.Stray(t, s, "nobody said "+allWord+" twice")
	output := strings.Repeat("a line of output with "+allWord+"\n", 1200)
	for i := range 4 {
		parts := fmt.Sprintf(
			`[{"functionCall":{"id":"c%d","name":"run","args":{"command":"make %s"}}}]`, i, allWord)
		result := fmt.Sprintf(
			`[{"functionResponse":{"id":"c%d","name":"run","response":{"output":%q}}}]`, i, output)
		batch := []conversation.Message{{Role: "user", Text: "run it"},
			{Role: "model", Parts: []byte(parts)}, {Role: "tool", Parts: []byte(result)}}
		if _, _, err := s.Conversation.Append(bg, "tools", history.MainBranch, batch,
			conversation.AppendOptions{NoGraduation: true}); err != nil {
			t.Fatal(err)
		}
	}
	view := storetest.View(t, s)
	log := storetest.Must[[]*history.Shown](t)(s.Recall.Log(view.Get("sessions/tools/main").ID,
		recall.LogOptions{}))
	storetest.Must[edits.MaskResult](t)(s.Edits.ApplyMasks(bg, "tools", history.MainBranch,
		[]edits.MaskTarget{{Entry: log[2].ID}}))
	view = storetest.View(t, s)
	target := []format.Target{{Entry: log[len(log)-3].ID, Part: format.WholeEntry}}
	claims := storetest.Must[[]edits.ReplaceClaim](t)(s.Edits.BeginReplace(view, "tools",
		history.MainBranch, target, nil))
	for _, c := range claims {
		answer := summaries.Answer{Claim: c.ID,
			Response: summarize.Response{Text: allWord, Summarizer: "worker", Version: "1"}}
		storetest.Must[edits.Replaced](t)(s.Edits.CommitReplace(bg, []summaries.Answer{answer},
			edits.ReplaceOptions{}))
	}
	told(t, s, "the bench "+allWord+" still")
	storetest.Must[[]find.Hit](t)(s.Recall.Search(storetest.View(t, s),
		find.SearchQuery{Text: allWord, Limit: 5}))
	for _, name := range []string{"log/hook", "tmp/left", "objects/pack/.tmp-1",
		"objects/ab/.tmp-2"} {
		path := filepath.Join(s.Dir, filepath.FromSlash(name))
		line := []byte(`{"problem":"no such ` + allWord + `"}` + "\n")
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
			os.WriteFile(path, line, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	kit.Clean(t, s)
	view = storetest.View(t, s)
	for _, shown := range storetest.Must[[]*history.Shown](t)(
		s.Recall.Log(view.Get("sessions/talk/main").ID, recall.LogOptions{})) {
		if strings.Contains(shown.Text, oneWord) {
			named = shown.ID
		}
	}
	// A pack quotes what summaries take from entries: the bodies have the word, the file has it once.
	saying := 0
	err := s.Objects.Contents(func(_ objects.Place, raw format.Raw) error {
		if bytes.Contains(raw.Body, []byte(oneWord)) {
			saying++
		}
		return nil
	}, func(_ string, err error) error { return err })
	if err != nil {
		t.Fatal(err)
	}
	if named.IsZero() || saying < 3 || left(t, s.Dir, oneWord) == 0 || left(t, s.Dir, allWord) < 8 {
		t.Fatalf("the store does not have the words where it should: %d bodies, %d and %d places",
			saying, left(t, s.Dir, oneWord), left(t, s.Dir, allWord))
	}
	return s.Dir, named
}

// told tells a session's model a value in words.
func told(t testing.TB, s *session.Store, value string) epochs.Observed {
	t.Helper()
	set := storetest.Must[*epoch.Set](t)(
		epoch.Read(
			fmt.Appendf(nil,
				`{"key":"core/place","value":%q,"first":"You are at %s.","changed":"You are at %s now."}`+"\n"+
					`{"key":"core/date","value":1,"first":"It is Monday."}`, value, value, value)))
	return storetest.Must[epochs.Observed](t)(s.Epochs.Observe(context.Background(), "talk",
		history.MainBranch, set, epochs.ObserveOptions{}))
}

// left counts the places under dir that have a word: files, and records of packs, unpacked.
func left(t testing.TB, dir, word string) (n int) {
	t.Helper()
	for _, path := range kit.Files(t, dir) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte(word)) {
			n++
		}
		if filepath.Ext(path) != ".pack" {
			continue
		}
		d := storetest.Must[*zstd.Decoder](t)(zstd.NewReader(nil))
		_, err = pack.Walk(bufio.NewReader(bytes.NewReader(b)),
			int64(len(b)), func(_ pack.Key, _ pack.Block, frame []byte) error {
				raw, err := d.DecodeAll(frame, nil)
				n += bytes.Count(raw, []byte(word))
				return err
			})
		d.Close()
		if err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// By id everything that was made of the message goes, and nothing else; by text everything that
// holds it.
func TestForgetEverywhere(t *testing.T) {
	from, named := oblivious(t)
	bg := context.Background()
	t.Run("id", func(t *testing.T) {
		s := kit.Open(t, storetest.CopyStore(t, from), nil)
		done := storetest.Must[forget.Report](t)(
			forget.Run(bg, s.Opened, forget.Options{IDs: []format.ID{named}}))
		if n := left(t, s.Dir, oneWord); n > 0 || len(done.Remains) > 0 {
			t.Errorf("%d places have it still, %v", n, done.Remains)
		}
		if left(t, s.Dir, allWord) == 0 {
			t.Error("other messages went, too")
		}
		kinds := map[string]int{}
		for _, kind := range done.Kinds {
			kinds[kind]++
		}
		if kinds["message"] != 1 || kinds["summary"] == 0 {
			t.Errorf("went: %v", kinds)
		}
		after(t, s, oneWord)
	})
	t.Run("text", func(t *testing.T) {
		s := kit.Open(t, storetest.CopyStore(t, from), nil)
		done := storetest.Must[forget.Report](t)(forget.Run(bg, s.Opened,
			forget.Options{Text: allWord}))
		if n := left(t, s.Dir, allWord); n > 0 || len(done.Remains) > 0 {
			t.Errorf("%d places have it still, %v", n, done.Remains)
		}
		kinds := map[string]int{}
		for _, kind := range done.Kinds {
			kinds[kind]++
		}
		for _, want := range []string{"message", "summary", "mask", "replace", "blob"} {
			if kinds[want] == 0 {
				t.Errorf("no %s went: %v", want, kinds)
			}
		}
		again := storetest.Must[forget.Report](t)(forget.Run(bg, s.Opened,
			forget.Options{Text: allWord}))
		if again.Operation != 0 || len(again.Objects) > 0 {
			t.Errorf("again: %+v", again.Forgot)
		}
		after(t, s, allWord)
	})
}

// after holds what must hold of a store in which something was forgotten: it is whole, it renders,
// clusters are summarized again from what is left, the epoch begins anew without what was
// forgotten, a rebuild arrives at the same ids, and neither gc nor a bundle bring anything back.
func after(t *testing.T, s *session.Store, word string) {
	t.Helper()
	bg := context.Background()
	kit.Clean(t, s)
	branches := []history.BranchName{{Session: "talk", Branch: history.MainBranch}}
	render := func() {
		t.Helper()
		view := storetest.View(t, s)
		if _, err := s.Recall.RenderInput(view, "talk", history.MainBranch,
			view2.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	render()
	said := "we said it before, did we"
	if word == allWord {
		// A text does not come back in other words either
		said = "we said " + word + " before, did we"
	}
	kit.Say(t, s, "talk", said, kit.Chatter(rand.New(rand.NewPCG(1, 1))))
	if again := told(t, s, "the bench "+allWord); word == allWord &&
		(strings.Contains(again.Text, word) || len(again.Forgotten) != 1) {
		t.Errorf("the model was told %q, passed over %q", again.Text, again.Forgotten)
	}
	told(t, s, "somewhere else")
	done := storetest.Must[summaries.Compaction](t)(
		s.Compaction.Compact(bg, compaction.CompactOptions{Branches: branches}))
	if done.Dirty > 0 {
		t.Errorf("clusters are left without a summary: %+v", done)
	}
	render()
	storetest.Must[repair.RebuildReport](t)(repair.Rebuild(bg, s.Opened, repair.RebuildOptions{}))
	kit.Age(t, s, storetest.Start.Add(-10*kit.Day))
	storetest.Must[gc.Report](t)(gc.Run(bg, s.Opened, gc.Options{}))
	kit.Clean(t, s)
	file := filepath.Join(durabletest.TempDir(t), "copy")
	storetest.Must[bundle.Report](t)(bundle.Write(bg, s.Opened, file, nil))
	project := durabletest.TempDir(t)
	storetest.Must[bundle.Report](t)(bundle.Unpack(bg, storetest.Env(project, nil, kit.Small...),
		file, project))
	copied := kit.Open(t, filepath.Join(project, ".gemini", "context"), nil)
	if got, want := len(storetest.Must[[]uint64](t)(copied.History.Forgets())),
		len(storetest.Must[[]uint64](t)(s.History.Forgets())); got != want || got == 0 {
		t.Errorf("the copy knows of %d, the store of %d", got, want)
	}
	kit.Clean(t, copied)
	for _, dir := range []string{s.Dir, copied.Dir} {
		if n := left(t, dir, word); n > 0 {
			t.Errorf("%q is back in %d places", word, n)
		}
	}
}

// some returns the first points, among which is the one where the operation is recorded, and every
// ninth after them.
func some(points []durabletest.Stop) (list []durabletest.Stop) {
	for i, p := range points {
		if i < 12 || i%9 == 0 {
			list = append(list, p)
		}
	}
	return list
}

// A forget is stopped at each of its durable calls, before it and with half of what it writes.
// Whoever takes the lock next finds that nothing has happened, or finishes it: then nothing is
// left anywhere. CTX_FAULTS=all stops at every call, else at some.
func TestForgetStopAtEveryCall(t *testing.T) {
	from, named := oblivious(t)
	bg := context.Background()
	for _, by := range []struct {
		name, word string
		o          forget.Options
	}{{"id", oneWord, forget.Options{IDs: []format.ID{named}}},
		{"text", allWord, forget.Options{Text: allWord}}} {
		t.Run(by.name, func(t *testing.T) {
			points := durabletest.Stops(func(fsys *durable.FS) {
				storetest.Must[forget.Report](t)(
					forget.Run(bg, kit.Open(t, storetest.CopyStore(t, from), fsys).Opened, by.o))
			})
			before := kit.Texts(t, kit.Open(t, from, nil))
			places := left(t, from, by.word)
			happened, not := 0, 0
			if os.Getenv("CTX_FAULTS") != "all" {
				points = some(points)
			}
			for _, at := range points {
				dir := storetest.CopyStore(t, from)
				if _, err := forget.Run(bg, kit.Open(t, dir, at.FS()).Opened, by.o); !errors.Is(err,
					durable.ErrStopped) {
					t.Fatalf("stop at %+v: %v", at, err)
				}
				s := kit.Open(t, dir, nil)
				kit.Clean(t, s)
				// The next one is stopped as well, in the middle of what is left to do, and the one
				// after it comes through.
				calls := 0
				half := kit.Open(t, dir, &durable.FS{Hook: func(durable.Call) error {
					if calls++; calls > 3 {
						return durable.ErrStopped
					}
					return nil
				}})
				if err := half.Store.FinishForget(bg); err != nil &&
					!errors.Is(err, durable.ErrStopped) {
					t.Fatalf("stop at %+v: %v", at, err)
				}
				s = kit.Open(t, dir, nil)
				if err := s.Store.FinishForget(bg); err != nil {
					t.Fatalf("stop at %+v: %v", at, err)
				}
				kit.Clean(t, s)
				switch n := left(t, dir, by.word); {
				case n == 0:
					happened++
				case n >= places && kit.Texts(t, s) == before &&
					len(storetest.Must[[]uint64](t)(s.History.Forgets())) == 0:
					not++
				default:
					t.Fatalf("stop at %+v: %d of %d places are left", at, n, places)
				}
				kit.Say(t, s, "talk", "after the stop")
				if err := os.RemoveAll(filepath.Dir(filepath.Dir(dir))); err != nil {
					t.Fatal(err)
				}
			}
			if happened == 0 || not == 0 {
				t.Errorf("%d stops finished, %d had not happened", happened, not)
			}
			t.Logf("%d points stopped: %d finished by the next, %d had not happened", len(points),
				happened, not)
		})
	}
}

// What was made of something goes with it, also where it does not say it: each kind of derivation
// once, by id.
func TestForgetWhatWasMadeOfIt(t *testing.T) {
	from, _ := oblivious(t)
	s := kit.Open(t, from, nil)
	view := storetest.View(t, s)
	log := storetest.Must[[]*history.Shown](t)(s.Recall.Log(view.Get("sessions/tools/main").ID,
		recall.LogOptions{}))
	first := storetest.Must[recall.EpochShown](t)(
		s.Recall.EpochAt(view.Get("sessions/talk/main").ID))
	clusters := storetest.Must[[]clusters.ClusterInfo](t)(s.Recall.Clusters(view))
	for _, tt := range []struct {
		name string
		id   format.ID
		want map[string]int // how many of a kind go at least
	}{
		{"masked message", log[2].ID, map[string]int{"message": 1, "mask": 1}},
		{"replaced message", log[len(log)-3].ID, map[string]int{"message": 1, "replace": 1}},
		{"value of an epoch", first.Current[0].Blob, map[string]int{"blob": 2, "epoch": 1}},
		{"cluster", clusters[0].ID,
			map[string]int{"message": int(clusters[0].Count), "summary": 1}},
		{"tombstone", clusters[len(clusters)-1].Tombstone,
			map[string]int{"message": int(clusters[len(clusters)-1].Count), "summary": 1,
				"tombstone": 1}},
		{"summary", clusters[0].Covers[0].Summary, map[string]int{"summary": 1, "message": 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := kit.Open(t, storetest.CopyStore(t, from), nil)
			o := forget.Options{IDs: []format.ID{tt.id}, DryRun: true}
			dry := storetest.Must[forget.Report](t)(forget.Run(context.Background(), s.Opened, o))
			o.DryRun = false
			done := storetest.Must[forget.Report](t)(forget.Run(context.Background(), s.Opened, o))
			if fmt.Sprint(dry.Objects) != fmt.Sprint(done.Objects) || dry.Operation != 0 {
				t.Errorf("a dry run says %v, and then %v went", dry.Objects, done.Objects)
			}
			kinds := map[string]int{}
			for id, kind := range done.Kinds {
				kinds[kind]++
				if raw, err := s.Objects.Get(id); err == nil {
					t.Errorf("%s %v is there: %q", kind, id, raw.Body)
				}
			}
			for kind, n := range tt.want {
				if kinds[kind] < n || n == 0 && kinds[kind] > 0 {
					t.Errorf("went: %v", kinds)
				}
			}
			kit.Clean(t, s)
			kit.Say(t, s, "talk", "and on")
			if _, err := s.Recall.RenderInput(storetest.View(t, s), "talk", history.MainBranch,
				view2.Options{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// Where it cannot be read by what forgotten words are known, nothing is appended. A repair gives
// that up, and says so.
func TestForgetRecordThatIsDamaged(t *testing.T) {
	dir, named := oblivious(t)
	s := kit.Open(t, dir, nil)
	storetest.Must[forget.Report](t)(forget.Run(context.Background(), s.Opened,
		forget.Options{IDs: []format.ID{named}}))
	path := filepath.Join(dir,
		filepath.FromSlash(
			objects.ForgottenName(storetest.Must[[]uint64](t)(s.History.Forgets())[0])))
	b := storetest.Must[[]byte](t)(os.ReadFile(path))
	b[len(b)/2] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s = kit.Open(t, dir, nil)
	hello := []conversation.Message{{Role: "user", Text: "hello again"}}
	if _, _, err := s.Conversation.Append(context.Background(), "talk", history.MainBranch, hello,
		conversation.AppendOptions{}); err == nil {
		t.Error("appended beside a record that cannot be read")
	}
	done := storetest.Must[repair.Report](t)(
		repair.Run(context.Background(), storetest.Env(dir, nil), repair.Options{}))
	if len(done.Lost) != 1 || len(done.Left) > 0 ||
		!strings.Contains(done.Lost[0], "may be said again") {
		t.Errorf("lost %q, left %v", done.Lost, done.Left)
	}
	s = kit.Open(t, dir, nil)
	kit.Say(t, s, "talk", "hello again")
	kit.Clean(t, s)
}

// A pack with a damaged object keeps its bodies, and is told; all other packs are written anew, and
// an append to another session works. A repair restores the pack and says that what was asked to be
// forgotten may be in it; forgetting it again takes it out.
func TestForgetBesideADamagedPack(t *testing.T) {
	bg := context.Background()
	dir, _ := oblivious(t)
	s := kit.Open(t, dir, nil)
	for range 3 { // a second pack
		kit.Say(t, s, "talk", "another line with "+oneWord)
	}
	tip := storetest.View(t, s).Get("sessions/talk/main").ID
	raw := storetest.Must[format.Raw](t)(s.Objects.Get(tip))
	storetest.Must[objects.PackInfo](t)(
		s.Objects.WritePack(func(yield func(format.Raw, error) bool) { yield(raw, nil) },
			objects.Default))
	packs := storetest.Must[[]string](t)(
		filepath.Glob(filepath.Join(dir, "objects", "pack", "*.pack")))
	if len(packs) < 2 {
		t.Fatalf("%d packs", len(packs))
	}
	largest, size := "", int64(0)
	for _, path := range packs {
		if info := storetest.Must[os.FileInfo](t)(os.Stat(path)); info.Size() > size {
			largest, size = path, info.Size()
		}
	}
	b := storetest.Must[[]byte](t)(os.ReadFile(largest))
	b[pack.HeadSize+pack.BlockHead+40] ^= 4 // in the first block: one of entries, not the newest
	if err := os.WriteFile(largest, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s = kit.Open(t, dir, nil)
	done := storetest.Must[forget.Report](t)(forget.Run(bg, s.Opened,
		forget.Options{Text: oneWord}))
	rel := storetest.Must[string](t)(filepath.Rel(dir, largest))
	if !slices.Contains(done.Remains, filepath.ToSlash(rel)) {
		t.Errorf("remains %v, not %s", done.Remains, rel)
	}
	kit.Say(t, s, "other", "life goes on")
	repaired := storetest.Must[repair.Report](t)(repair.Run(bg, storetest.Env(dir, nil),
		repair.Options{Copy: filepath.Join(t.TempDir(), "copy")}))
	if len(repaired.Lost)+len(repaired.Left) > 0 ||
		!strings.Contains(fmt.Sprint(repaired.Mended), "forget again") {
		t.Errorf("%+v", repaired)
	}
	s = kit.Open(t, dir, nil)
	again := storetest.Must[forget.Report](t)(forget.Run(bg, s.Opened,
		forget.Options{Text: oneWord}))
	if n := left(t, dir, oneWord); n > 0 || len(again.Remains) > 0 {
		t.Errorf("%d places have it after the repair, %v", n, again.Remains)
	}
	kit.Say(t, s, "talk", "and on")
}

// Where it cannot be read what was being forgotten, nobody can write; a repair gives it up, and
// says so.
func TestForgetThatCannotBeFinished(t *testing.T) {
	dir, _ := oblivious(t)
	path := filepath.Join(dir, filepath.FromSlash(objects.UnfinishedName()))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
		os.WriteFile(path, []byte("forgotten 1\nhalf"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if report := storetest.Must[fsck.Report](t)(
		fsck.Run(context.Background(), kit.Open(t, dir, nil).Opened,
			fsck.Options{})); len(report.Faults) != 1 {
		t.Errorf("faults %v", report.Faults)
	}
	done := storetest.Must[repair.Report](t)(
		repair.Run(context.Background(), storetest.Env(dir, nil), repair.Options{}))
	if len(done.Lost) != 1 || len(done.Left) > 0 ||
		!strings.Contains(done.Lost[0], "forget it again") {
		t.Errorf("lost %q, left %v", done.Lost, done.Left)
	}
	s := kit.Open(t, dir, nil)
	kit.Say(t, s, "talk", "hello again")
	kit.Clean(t, s)
}
