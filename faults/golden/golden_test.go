package golden

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

	"github.com/gemini-ctx/ctx/faults/kit"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/session"
	"github.com/gemini-ctx/ctx/upkeep"
)

var update = flag.Bool("update", false, "make the golden stores that are missing")

// version is the directory of the stores that this build writes. What it says is what docs/format/versioning.md calls the version of the store.
const version = "v1"

// stores are what -update makes a golden store of.
var stores = []struct {
	name string
	make func(project string) (dir string, err error)
}{
	{"plain", kit.Plain},
	{"everything", kit.Everything},
	{"forgetful", kit.Forgetful},
	{"demo", func(project string) (string, error) {
		return kit.Conversation(project, filepath.Join("..", "..", "cmd", "ctx", "demo", "conversation.jsonl"), 60)
	}},
}

// kept reports whether a file of a store is part of a golden one: caches and leftovers are not.
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
		h := &tar.Header{Typeflag: tar.TypeReg, Name: filepath.ToSlash(rel), Size: int64(len(b)), Mode: 0o600, ModTime: time.Unix(0, 0).UTC()}
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

// unpack makes the store of a golden file, as something that copies files and no empty directories would.
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

// said is what a store answers, as one text. What a search finds best may change, and what an object is says its id.
func said(t *testing.T, dir string) string {
	t.Helper()
	answers, err := kit.Read(dir)
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
			continue // it stays as it is for good
		}
		if !*update {
			t.Fatalf("there is no golden store %s; `go test ./faults/golden -update` makes it", base)
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
		t.Run(filepath.ToSlash(strings.TrimSuffix(strings.TrimPrefix(file, "testdata"+string(filepath.Separator)), ".tar.gz")), func(t *testing.T) { do(t, file) })
	}
}

func open(t *testing.T, dir string) *session.Store {
	t.Helper()
	s, err := kit.Open(dir, nil, kit.Later)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func sound(t *testing.T, dir string) {
	t.Helper()
	report, err := upkeep.Fsck(context.Background(), open(t, dir), upkeep.FsckOptions{})
	faults := slices.DeleteFunc(report.Faults, func(f upkeep.Fault) bool { return f.Kind == "absent" && f.Subject == madeUp })
	if err != nil || len(faults) > 0 {
		t.Fatal(err, faults)
	}
}

// madeUp is the entry of the store "everything" whose record in absent/ the test wrote by hand in those days: fsck says rightly
// that no operation forgot it.
const madeUp = "78ed5031a21a6d9dd9e17b41fe7cdad76529f4dbea8e801436f556b47ed1543e"

// withoutChoices leaves out the renderings: what is chosen for one, of this session and of others, is a
// rule of the program, which may change, and nothing that a store says.
func withoutChoices(said string) string {
	var b strings.Builder
	for i, section := range strings.Split(said, "== ") {
		head, _, _ := strings.Cut(section, "\n")
		if strings.HasPrefix(head, "render ") {
			continue
		}
		if i > 0 {
			b.WriteString("== ")
		}
		b.WriteString(section)
	}
	return b.String()
}

// Every golden store is sound, and says what it said when it was written, to the byte: all but what is
// chosen for a rendering.
func TestOldStoresAreRead(t *testing.T) {
	each(t, func(t *testing.T, file string) {
		dir := unpack(t, file)
		sound(t, dir)
		want, err := os.ReadFile(strings.TrimSuffix(file, ".tar.gz") + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		for n := range 2 { // once without a cache, once with
			got := strings.Split(withoutChoices(said(t, dir)), "\n")
			for i, line := range strings.Split(withoutChoices(strings.ReplaceAll(string(want), "\r\n", "\n")), "\n") {
				if i >= len(got) || got[i] != line {
					t.Fatalf("reading %d, line %d: it said\n%s\nand says\n%s", n, i+1, line, got[min(i, len(got)-1)])
				}
			}
		}
	})
}

// Every golden store is written to, and is sound then.
func TestOldStoresGoOn(t *testing.T) {
	each(t, func(t *testing.T, file string) {
		dir := unpack(t, file)
		s, c := open(t, dir), context.Background()
		for n := range 6 {
			if _, _, err := s.Append(c, "work", session.MainBranch, []session.Message{{Role: "user", Text: fmt.Sprintf("it goes on with the parser, %d", n)}}, session.AppendOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Compact(c, session.CompactOptions{Branches: []session.BranchName{{Session: "work", Branch: session.MainBranch}}}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Undo(c, "work"); err != nil {
			t.Fatal(err)
		}
		sound(t, dir)
		if _, err := upkeep.GC(c, s, upkeep.GCOptions{Grace: -1}); err != nil {
			t.Fatal(err)
		}
		sound(t, dir)
	})
}

// Of every golden store what follows from the rest is taken away, and comes back with the same ids.
func TestOldStoresAreRebuilt(t *testing.T) {
	each(t, func(t *testing.T, file string) {
		dir := unpack(t, file)
		before := said(t, dir)
		lost := 0
		err := filepath.WalkDir(filepath.Join(dir, "objects"), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			kind, _, err := format.HeaderKind(b)
			if derived := err == nil && (kind == "node" || kind == "page" || kind == "forest"); derived || strings.HasSuffix(path, ".idx") {
				lost++
				return os.Remove(path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		s := open(t, dir)
		done, err := upkeep.Rebuild(context.Background(), s, upkeep.RebuildOptions{})
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
