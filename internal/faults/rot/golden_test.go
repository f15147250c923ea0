package rot

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/maintenance/gc"
	"github.com/gemini-ctx/ctx/internal/maintenance/repair"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/objects"
)

var update = flag.Bool("update", false, "make the golden stores that are missing")

// version is the directory of the stores that this build writes: the version of the store in the
// sense of docs/format/versioning.md, and what of it has a newer version.
const version = "v1"

// stores are the stores that -update makes.
var stores = []struct {
	name string
	make func(project string) (dir string, err error)
}{
	{"plain", Plain},
	{"everything", Everything},
	{"forgetful", Forgetful},
	{"demo", func(project string) (string, error) {
		return Conversation(project,
			filepath.Join("..", "..", "..", "cmd", "ctx", "demo", "conversation.jsonl"), 60)
	}},
}

// kept reports whether a file belongs to a golden store. Caches and leftovers do not.
func kept(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	return top != "cache" && top != "tmp" && top != "lock" && top != "lock.owner"
}

func pack(t *testing.T, dir, file string) {
	t.Helper()
	var out bytes.Buffer
	zip, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(zip)
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil || !kept(filepath.ToSlash(rel)) {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: filepath.ToSlash(rel), Size: int64(len(b)),
			Mode: 0o600, ModTime: time.Unix(0, 0).UTC()}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		_, err = w.Write(b)
		return err
	})
	if err = errors.Join(err, w.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// unpack makes the store in a golden file, without empty directories, as some copying tools do.
func unpack(t *testing.T, file string) (dir string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), ".gemini", "context")
	for in := tar.NewReader(zip); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// said returns the answers of a store as one text. It omits searches, whose ranking may change, and
// objects, whose ids identify them.
func said(t *testing.T, dir string) string {
	t.Helper()
	answers, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, q := range answers.Questions() {
		what, _, _ := strings.Cut(q, " ")
		if slices.Contains([]string{"object", "header", "prefix", "search"}, what) {
			continue
		}
		if err := answers[q].Err; err != nil {
			t.Errorf("%s: %v", q, err)
		}
		fmt.Fprintf(&b, "== %s\n%s", q, answers[q].Text)
	}
	return b.String()
}

func TestUpdate(t *testing.T) {
	for _, s := range stores {
		base := filepath.Join("testdata", version, s.name)
		if _, err := os.Stat(base + ".tar.gz"); err == nil {
			continue // a golden store is never changed
		}
		if !*update {
			t.Fatalf(
				"there is no golden store %s; `go test ./internal/faults/rot -update` makes it",
				base)
		}
		if err := os.MkdirAll(filepath.Dir(base), 0o755); err != nil {
			t.Fatal(err)
		}
		dir, err := s.make(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		pack(t, dir, base+".tar.gz")
		if err := os.WriteFile(base+".txt", []byte(said(t, dir)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func each(t *testing.T, do func(t *testing.T, file string)) {
	files, err := filepath.Glob(filepath.Join("testdata", "v*", "*.tar.gz"))
	if err != nil || len(files) < len(stores) {
		t.Fatalf("%d golden stores, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(
			filepath.ToSlash(
				strings.TrimSuffix(strings.TrimPrefix(file, "testdata"+string(filepath.Separator)),
					".tar.gz")), func(t *testing.T) { do(t, file) })
	}
}

func open(t *testing.T, dir string) *session.Store {
	t.Helper()
	s, err := Open(dir, nil, Later)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func sound(t *testing.T, dir string) {
	t.Helper()
	report, err := fsck.Run(context.Background(), open(t, dir).Opened, fsck.Options{})
	faults := slices.DeleteFunc(report.Faults,
		func(f fsck.Fault) bool { return f.Kind == "absent" && f.Subject == madeUp })
	if err != nil || len(faults) > 0 {
		t.Fatal(err, faults)
	}
}

// madeUp is the entry of the store "everything" whose record in absent/ was written by hand. fsck
// reports correctly that no operation forgot it.
const madeUp = "78ed5031a21a6d9dd9e17b41fe7cdad76529f4dbea8e801436f556b47ed1543e"

// withoutChoices omits the renderings. What is chosen for a rendering depends on rules of the
// program, which may change, and not on the store.
func withoutChoices(said string) string { return without(said, "render ") }

// without omits the sections whose heads begin with the given text.
func without(said, text string) string {
	var b strings.Builder
	for i, section := range strings.Split(said, "== ") {
		head, _, _ := strings.Cut(section, "\n")
		if strings.HasPrefix(head, text) {
			continue
		}
		if i > 0 {
			b.WriteString("== ")
		}
		b.WriteString(section)
	}
	return b.String()
}

// Every golden store is sound, and gives the same answers, to the byte, as when it was written,
// except for renderings.
func TestOldStoresAreRead(t *testing.T) {
	each(t, func(t *testing.T, file string) {
		dir := unpack(t, file)
		sound(t, dir)
		want, err := os.ReadFile(strings.TrimSuffix(file, ".tar.gz") + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		for n := range 2 { // first without a cache, then with one
			got := strings.Split(withoutChoices(said(t, dir)), "\n")
			for i, line := range strings.Split(
				withoutChoices(strings.ReplaceAll(string(want), "\r\n", "\n")), "\n") {
				if i >= len(got) || got[i] != line {
					t.Fatalf("reading %d, line %d: it said\n%s\nand says\n%s", n, i+1, line,
						got[min(i, len(got)-1)])
				}
			}
		}
	})
}

// Every golden store can be written to, and is sound afterwards.
func TestOldStoresGoOn(t *testing.T) {
	each(t, func(t *testing.T, file string) {
		dir := unpack(t, file)
		s, c := open(t, dir), context.Background()
		for n := range 6 {
			if _, _, err := s.Conversation.Append(c, "work", history.MainBranch,
				[]conversation.Message{{Role: "user",
					Text: fmt.Sprintf("it goes on with the parser, %d", n)}},
				conversation.AppendOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Compaction.Compact(c,
			compaction.CompactOptions{Branches: []history.BranchName{{Session: "work",
				Branch: history.MainBranch}}}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Conversation.Undo(c, "work"); err != nil {
			t.Fatal(err)
		}
		sound(t, dir)
		if _, err := gc.Run(c, s.Opened, gc.Options{Grace: -1}); err != nil {
			t.Fatal(err)
		}
		sound(t, dir)
	})
}

// After gc of a golden store the store says what it said before.
func TestOldStoresAreCollected(t *testing.T) {
	each(t, func(t *testing.T, file string) {
		dir := unpack(t, file)
		before := said(t, dir)
		s := open(t, dir)
		if _, err := gc.Run(context.Background(), s.Opened, gc.Options{Grace: -1}); err != nil {
			t.Fatal(err)
		}
		sound(t, dir)
		// gc drops old log
		if got := said(t, dir); without(got, "operations") != without(before, "operations") {
			t.Error("it says something else than before")
		}
	})
}

// gc stores the log of every golden store densely, and it says what it said before.
func TestOldLogsBecomeDense(t *testing.T) {
	some := 0
	each(t, func(t *testing.T, file string) {
		dir := unpack(t, file)
		before := said(t, dir)
		s := open(t, dir)
		s.Config.Log.Keep = 10000 * 24 * time.Hour
		for range 2 {
			if _, err := gc.Run(context.Background(), s.Opened,
				gc.Options{Grace: -1, LogFrom: 1}); err != nil {
				t.Fatal(err)
			}
		}
		logs, err := filepath.Glob(filepath.Join(dir, "refs", "log-*"))
		if err != nil || len(logs) < 2 {
			t.Fatalf("segments %q, %v", logs, err)
		}
		for _, path := range logs {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if _, records, _ := bytes.Cut(b, []byte{'\n'}); format.BeginsDense(records) {
				some++
			}
		}
		sound(t, dir)
		after := said(t, dir)
		// A checkpoint may have closed the log, and have written the forests.
		if rest := func(said string) string {
			return without(without(said, "operations"), "refs")
		}; rest(after) != rest(before) {
			t.Error("it says something else than before")
		}
		if !strings.Contains(after, section(before, "operations")) {
			t.Error("an operation is not what it was")
		}
	})
	if some == 0 {
		t.Error("no segment became dense")
	}
}

// section returns the lines of the section of a head.
func section(said, head string) string {
	_, rest, _ := strings.Cut(said, "== "+head+"\n")
	lines, _, _ := strings.Cut(rest, "== ")
	return lines
}

// The derived objects of every golden store are removed, and come back with the same ids.
func TestOldStoresAreRebuilt(t *testing.T) {
	each(t, func(t *testing.T, file string) {
		dir := unpack(t, file)
		before := said(t, dir)
		lost := takeDerived(t, open(t, dir))
		s := open(t, dir)
		done, err := repair.Rebuild(context.Background(), s.Opened, repair.RebuildOptions{})
		if err != nil || !done.Same {
			t.Fatalf("%+v, %v", done, err)
		}
		sound(t, dir)
		if got := said(t, dir); got != before {
			t.Error("it says something else than before")
		}
		t.Logf("%d files taken away, %+v", lost, done)
	})
}

// takeDerived removes the indexes of packs, and packs of one object that follows from the rest. It
// returns how many files it has removed.
func takeDerived(t *testing.T, s *session.Store) (lost int) {
	t.Helper()
	for _, pack := range storetest.Must[[]format.ID](t)(s.Objects.PackNames(objects.IndexExt)) {
		c := storetest.Must[objects.PackContents](t)(s.Objects.PackContents(pack))
		header := storetest.Must[[]byte](t)(s.Objects.Header(c.IDs[0]))
		paths := []string{s.Objects.IndexPath(pack)}
		if kind, _, _ := format.HeaderKind(header); len(c.IDs) == 1 &&
			slices.Contains([]string{"node", "page", "forest"}, kind) {
			paths = append(paths, s.Objects.PackPath(pack))
		}
		for _, path := range paths {
			lost++
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	return lost
}
