package upkeep

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
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/lock/locktest"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/session"
	"github.com/gemini-ctx/ctx/session/epoch"
	view2 "github.com/gemini-ctx/ctx/session/view"
)

// The words that are forgotten: one that stands in a single message and in what is made of it, and one that stands everywhere.
const (
	oneWord = "narwhalite"
	allWord = "quokkalith"
)

// oblivious makes a store that has the words in every place there is: packed and loose, in summaries over summaries, in a tombstone, a mask, a replacement, an
// epoch, the flat forest, the search index, and in an entry that nothing reaches. It returns the message that has oneWord.
func oblivious(t testing.TB) (dir string, named format.ID) {
	t.Helper()
	s := create(t)
	bg := context.Background()
	r := rand.New(rand.NewPCG(7, 7))
	compact := func(strategy string) {
		t.Helper()
		o := session.CompactOptions{Branches: []session.BranchName{{Session: "talk", Branch: session.MainBranch}}, Strategy: strategy}
		must[session.Compaction](t)(s.Compact(bg, o))
	}
	told(t, s, "the bench "+allWord)
	say(t, s, "talk", "postgres migration schema with "+oneWord+" and the index", "it goes through with "+allWord+" only", chatter(r))
	for range 3 {
		say(t, s, "talk", chatter(r), chatter(r), "postgres migration schema again, "+allWord, chatter(r))
		compact(session.UnionFind)
	}
	compact(session.Flat)
	stray(t, s, "nobody said "+allWord)
	age(t, s, start.Add(-10*day))
	must[GCReport](t)(GC(bg, s, GCOptions{}))
	stray(t, s, "nobody said "+allWord+" twice")
	output := strings.Repeat("a line of output with "+allWord+"\n", 1200)
	for i := range 4 {
		parts := fmt.Sprintf(`[{"functionCall":{"id":"c%d","name":"run","args":{"command":"make %s"}}}]`, i, allWord)
		result := fmt.Sprintf(`[{"functionResponse":{"id":"c%d","name":"run","response":{"output":%q}}}]`, i, output)
		batch := []session.Message{{Role: "user", Text: "run it"}, {Role: "model", Parts: []byte(parts)}, {Role: "tool", Parts: []byte(result)}}
		if _, _, err := s.Append(bg, "tools", session.MainBranch, batch, session.AppendOptions{NoGraduation: true}); err != nil {
			t.Fatal(err)
		}
	}
	view := must[*viewOf](t)(read(s))
	log := must[[]*session.Shown](t)(s.Log(view.Get("sessions/tools/main").ID, session.LogOptions{}))
	must[session.MaskResult](t)(s.ApplyMasks(bg, "tools", session.MainBranch, []session.MaskTarget{{Entry: log[2].ID}}))
	view = must[*viewOf](t)(read(s))
	target := []format.Target{{Entry: log[len(log)-3].ID, Part: format.WholeEntry}}
	claims := must[[]session.ReplaceClaim](t)(s.BeginReplace(view, "tools", session.MainBranch, target, nil))
	for _, c := range claims {
		answer := session.ReplaceAnswer{Claim: c.ID, Told: summarize.Told{Text: allWord, Summarizer: "worker", Version: "1"}}
		must[session.Replaced](t)(s.CommitReplace(bg, []session.ReplaceAnswer{answer}, session.ReplaceOptions{}))
	}
	told(t, s, "the bench "+allWord+" still")
	must[[]session.Hit](t)(s.Search(must[*viewOf](t)(read(s)), session.SearchQuery{Text: allWord, Most: 5}))
	if err := os.WriteFile(filepath.Join(s.Dir, "log", "hook"), []byte(`{"problem":"no such `+allWord+`"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tmp/left", "objects/pack/.tmp-1", "objects/ab/.tmp-2"} {
		if err := os.WriteFile(filepath.Join(s.Dir, filepath.FromSlash(name)), []byte(allWord), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	clean(t, s)
	view = must[*viewOf](t)(read(s))
	for _, shown := range must[[]*session.Shown](t)(s.Log(view.Get("sessions/talk/main").ID, session.LogOptions{})) {
		if strings.Contains(shown.Text, oneWord) {
			named = shown.ID
		}
	}
	if named.IsZero() || left(t, s.Dir, oneWord) < 3 || left(t, s.Dir, allWord) < 8 {
		t.Fatalf("the store does not have the words where it should: %d and %d places", left(t, s.Dir, oneWord), left(t, s.Dir, allWord))
	}
	return s.Dir, named
}

// told tells a session's model a value in words.
func told(t testing.TB, s *session.Store, value string) session.Observed {
	t.Helper()
	set := must[*epoch.Set](t)(epoch.Read(fmt.Appendf(nil, `{"key":"core/place","value":%q,"first":"You are at %s.","changed":"You are at %s now."}`+"\n"+
		`{"key":"core/date","value":1,"first":"It is Monday."}`, value, value, value)))
	return must[session.Observed](t)(s.Observe(context.Background(), "talk", session.MainBranch, set, session.ObserveOptions{}))
}

// left counts the places under dir that have a word: files, and records of packs, unpacked.
func left(t testing.TB, dir, word string) (n int) {
	t.Helper()
	for _, path := range files(t, dir) {
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
		d := must[*zstd.Decoder](t)(zstd.NewReader(nil))
		_, err = format.WalkPack(bufio.NewReader(bytes.NewReader(b)), int64(len(b)), func(_ format.PackBlock, frame []byte) error {
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

// By id everything that was made of the message goes, and nothing else; by text everything that holds it.
func TestForgetEverywhere(t *testing.T) {
	from, named := oblivious(t)
	bg := context.Background()
	t.Run("id", func(t *testing.T) {
		s := open(t, copyStore(t, from), nil)
		done := must[ForgetReport](t)(Forget(bg, s, ForgetOptions{IDs: []format.ID{named}}))
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
		s := open(t, copyStore(t, from), nil)
		done := must[ForgetReport](t)(Forget(bg, s, ForgetOptions{Text: allWord}))
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
		again := must[ForgetReport](t)(Forget(bg, s, ForgetOptions{Text: allWord}))
		if again.Operation != 0 || len(again.Objects) > 0 {
			t.Errorf("again: %+v", again.Forgot)
		}
		after(t, s, allWord)
	})
}

// after holds what must hold of a store in which something was forgotten: it is whole, it renders, clusters are summarised again from what is left, the epoch
// begins anew without what was forgotten, a rebuild arrives at the same ids, and neither gc nor a bundle bring anything back.
func after(t *testing.T, s *session.Store, word string) {
	t.Helper()
	bg := context.Background()
	clean(t, s)
	branches := []session.BranchName{{Session: "talk", Branch: session.MainBranch}}
	render := func() {
		t.Helper()
		view := must[*viewOf](t)(read(s))
		if _, err := s.RenderInput(view, "talk", session.MainBranch, view2.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	render()
	said := "we said it before, did we"
	if word == allWord {
		said = "we said " + word + " before, did we" // a text does not come back in other words either
	}
	say(t, s, "talk", said, chatter(rand.New(rand.NewPCG(1, 1))))
	if again := told(t, s, "the bench "+allWord); word == allWord && (strings.Contains(again.Text, word) || len(again.Forgotten) != 1) {
		t.Errorf("the model was told %q, passed over %q", again.Text, again.Forgotten)
	}
	told(t, s, "somewhere else")
	done := must[session.Compaction](t)(s.Compact(bg, session.CompactOptions{Branches: branches}))
	if done.Dirty > 0 {
		t.Errorf("clusters are left without a summary: %+v", done)
	}
	render()
	must[RebuildReport](t)(Rebuild(bg, s, RebuildOptions{}))
	age(t, s, start.Add(-10*day))
	must[GCReport](t)(GC(bg, s, GCOptions{}))
	clean(t, s)
	file := filepath.Join(tempDir(t), "copy")
	must[BundleReport](t)(Bundle(bg, s, file, nil))
	project := tempDir(t)
	must[BundleReport](t)(Unbundle(bg, env(project, nil, small...), file, project))
	copied := open(t, filepath.Join(project, ".gemini", "context"), nil)
	if got, want := len(must[[]uint64](t)(copied.Forgets())), len(must[[]uint64](t)(s.Forgets())); got != want || got == 0 {
		t.Errorf("the copy knows of %d, the store of %d", got, want)
	}
	clean(t, copied)
	for _, dir := range []string{s.Dir, copied.Dir} {
		if n := left(t, dir, word); n > 0 {
			t.Errorf("%q is back in %d places", word, n)
		}
	}
}

// some returns the first points, among which is the one where the operation is recorded, and every ninth after them.
func some(points []locktest.Stop) (list []locktest.Stop) {
	for i, p := range points {
		if i < 12 || i%9 == 0 {
			list = append(list, p)
		}
	}
	return list
}

// A forget is stopped at each of its durable calls, before it and with half of what it writes. Whoever takes the lock next finds that nothing has happened,
// or finishes it: then nothing is left anywhere. CTX_FAULTS=all stops at every call, else at some.
func TestForgetStopAtEveryCall(t *testing.T) {
	from, named := oblivious(t)
	bg := context.Background()
	for _, by := range []struct {
		name, word string
		o          ForgetOptions
	}{{"id", oneWord, ForgetOptions{IDs: []format.ID{named}}}, {"text", allWord, ForgetOptions{Text: allWord}}} {
		t.Run(by.name, func(t *testing.T) {
			points := locktest.Stops(func(fsys *lock.FS) {
				must[ForgetReport](t)(Forget(bg, open(t, copyStore(t, from), fsys), by.o))
			})
			before := texts(t, open(t, from, nil))
			places := left(t, from, by.word)
			happened, not := 0, 0
			if os.Getenv("CTX_FAULTS") != "all" {
				points = some(points)
			}
			for _, at := range points {
				dir := copyStore(t, from)
				if _, err := Forget(bg, open(t, dir, at.FS()), by.o); !errors.Is(err, lock.ErrStopped) {
					t.Fatalf("stop at %+v: %v", at, err)
				}
				s := open(t, dir, nil)
				clean(t, s)
				// The next one is stopped as well, in the middle of what is left to do, and the one after it comes through.
				calls := 0
				half := open(t, dir, &lock.FS{Hook: func(lock.Call) error {
					if calls++; calls > 3 {
						return lock.ErrStopped
					}
					return nil
				}})
				if err := half.FinishForget(bg); err != nil && !errors.Is(err, lock.ErrStopped) {
					t.Fatalf("stop at %+v: %v", at, err)
				}
				s = open(t, dir, nil)
				if err := s.FinishForget(bg); err != nil {
					t.Fatalf("stop at %+v: %v", at, err)
				}
				clean(t, s)
				switch n := left(t, dir, by.word); {
				case n == 0:
					happened++
				case n == places && texts(t, s) == before && len(must[[]uint64](t)(s.Forgets())) == 0:
					not++
				default:
					t.Fatalf("stop at %+v: %d of %d places are left", at, n, places)
				}
				say(t, s, "talk", "after the stop")
				if err := os.RemoveAll(filepath.Dir(filepath.Dir(dir))); err != nil {
					t.Fatal(err)
				}
			}
			if happened == 0 || not == 0 {
				t.Errorf("%d stops finished, %d had not happened", happened, not)
			}
			t.Logf("%d points stopped: %d finished by the next, %d had not happened", len(points), happened, not)
		})
	}
}

// What was made of something goes with it, also where it does not say it: each kind of derivation once, by id.
func TestForgetWhatWasMadeOfIt(t *testing.T) {
	from, _ := oblivious(t)
	s := open(t, from, nil)
	view := must[*viewOf](t)(read(s))
	log := must[[]*session.Shown](t)(s.Log(view.Get("sessions/tools/main").ID, session.LogOptions{}))
	first := must[session.EpochShown](t)(s.EpochAt(view.Get("sessions/talk/main").ID))
	clusters := must[[]session.ClusterInfo](t)(s.Clusters(view))
	for _, tt := range []struct {
		name string
		id   format.ID
		want map[string]int // how many of a kind go at least
	}{
		{"masked message", log[2].ID, map[string]int{"message": 1, "mask": 1}},
		{"replaced message", log[len(log)-3].ID, map[string]int{"message": 1, "replace": 1}},
		{"value of an epoch", first.Current[0].Blob, map[string]int{"blob": 2, "epoch": 1}},
		{"cluster", clusters[0].ID, map[string]int{"message": int(clusters[0].Count), "summary": 1}},
		{"tombstone", clusters[len(clusters)-1].Tombstone, map[string]int{"message": int(clusters[len(clusters)-1].Count), "summary": 1, "tombstone": 1}},
		{"summary", clusters[0].Covers[0].Summary, map[string]int{"summary": 1, "message": 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, copyStore(t, from), nil)
			o := ForgetOptions{IDs: []format.ID{tt.id}, DryRun: true}
			dry := must[ForgetReport](t)(Forget(context.Background(), s, o))
			o.DryRun = false
			done := must[ForgetReport](t)(Forget(context.Background(), s, o))
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
			clean(t, s)
			say(t, s, "talk", "and on")
			if _, err := s.RenderInput(must[*viewOf](t)(read(s)), "talk", session.MainBranch, view2.Options{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// Where it cannot be read by what forgotten words are known, nothing is appended. A repair gives that up, and says so.
func TestForgetRecordThatIsDamaged(t *testing.T) {
	dir, named := oblivious(t)
	s := open(t, dir, nil)
	must[ForgetReport](t)(Forget(context.Background(), s, ForgetOptions{IDs: []format.ID{named}}))
	path := filepath.Join(dir, filepath.FromSlash(session.ForgottenName(must[[]uint64](t)(s.Forgets())[0])))
	b := must[[]byte](t)(os.ReadFile(path))
	b[len(b)/2] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, nil)
	hello := []session.Message{{Role: "user", Text: "hello again"}}
	if _, _, err := s.Append(context.Background(), "talk", session.MainBranch, hello, session.AppendOptions{}); err == nil {
		t.Error("appended beside a record that cannot be read")
	}
	done := must[RepairReport](t)(Repair(context.Background(), env(dir, nil), RepairOptions{}))
	if len(done.Lost) != 1 || len(done.Left) > 0 || !strings.Contains(done.Lost[0], "may be said again") {
		t.Errorf("lost %q, left %v", done.Lost, done.Left)
	}
	s = open(t, dir, nil)
	say(t, s, "talk", "hello again")
	clean(t, s)
}

// A pack with a damaged object keeps its bodies, and is told; all other packs are written anew, the next append works, and after a repair of the pack nothing that was
// forgotten is in it.
func TestForgetBesideADamagedPack(t *testing.T) {
	bg := context.Background()
	dir, _ := oblivious(t)
	s := open(t, dir, nil)
	for range 3 { // a second pack
		say(t, s, "talk", "another line with "+oneWord)
	}
	tip := must[*viewOf](t)(read(s)).Get("sessions/talk/main").ID
	raw := must[format.Raw](t)(s.Objects.Get(tip))
	must[objects.PackInfo](t)(s.Objects.WritePack(func(yield func(format.Raw, error) bool) { yield(raw, nil) }, objects.Default))
	packs := must[[]string](t)(filepath.Glob(filepath.Join(dir, "objects", "pack", "*.pack")))
	if len(packs) < 2 {
		t.Fatalf("%d packs", len(packs))
	}
	largest, size := "", int64(0)
	for _, path := range packs {
		if info := must[os.FileInfo](t)(os.Stat(path)); info.Size() > size {
			largest, size = path, info.Size()
		}
	}
	b := must[[]byte](t)(os.ReadFile(largest))
	b[len(b)*3/4] ^= 4 // in a body: what is appended reads headers
	if err := os.WriteFile(largest, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, nil)
	done := must[ForgetReport](t)(Forget(bg, s, ForgetOptions{Text: oneWord}))
	rel := must[string](t)(filepath.Rel(dir, largest))
	if !slices.Contains(done.Remains, filepath.ToSlash(rel)) {
		t.Errorf("remains %v, not %s", done.Remains, rel)
	}
	say(t, s, "talk", "life goes on")
	repaired := must[RepairReport](t)(Repair(bg, env(dir, nil), RepairOptions{Copy: filepath.Join(t.TempDir(), "copy")}))
	if n := left(t, dir, oneWord); n > 0 {
		t.Errorf("%d places have it after the repair: %+v", n, repaired)
	}
	say(t, open(t, dir, nil), "talk", "and on")
}

// Where it cannot be read what was being forgotten, nobody can write; a repair gives it up, and says so.
func TestForgetThatCannotBeFinished(t *testing.T) {
	dir, _ := oblivious(t)
	path := filepath.Join(dir, filepath.FromSlash(session.UnfinishedName()))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("forgotten 1\nhalf"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if report := must[FsckReport](t)(Fsck(context.Background(), open(t, dir, nil), FsckOptions{})); len(report.Faults) != 1 {
		t.Errorf("faults %v", report.Faults)
	}
	done := must[RepairReport](t)(Repair(context.Background(), env(dir, nil), RepairOptions{}))
	if len(done.Lost) != 1 || len(done.Left) > 0 || !strings.Contains(done.Lost[0], "forget it again") {
		t.Errorf("lost %q, left %v", done.Lost, done.Left)
	}
	s := open(t, dir, nil)
	say(t, s, "talk", "hello again")
	clean(t, s)
}
