package upkeep

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/lock/locktest"
	"github.com/gemini-ctx/ctx/repo"
	"github.com/gemini-ctx/ctx/session"
)

func TestBundleAndBack(t *testing.T) {
	for _, s := range []*session.Store{create(t), grow(t, 5), old(t, 13)} {
		dir := tempDir(t)
		file := filepath.Join(dir, "store.ctx")
		done := must[BundleReport](t)(Bundle(context.Background(), s, file, nil))
		if done.Store != s.ID || done.Operation != must[*viewOf](t)(read(s)).Number {
			t.Errorf("bundle: %+v", done)
		}
		must[BundleReport](t)(Bundle(context.Background(), s, file+"2", nil))
		if a, b := must[[]byte](t)(os.ReadFile(file)), must[[]byte](t)(os.ReadFile(file+"2")); !bytes.Equal(a, b) {
			t.Error("two bundles of one store differ")
		}
		if _, err := Bundle(context.Background(), s, file, nil); !errors.Is(err, fs.ErrExist) {
			t.Errorf("over a file: %v", err)
		}
		project := tempDir(t)
		back := must[BundleReport](t)(Unbundle(context.Background(), env(project, nil, small...), file, project))
		if back != done {
			t.Errorf("wrote %+v, read %+v", done, back)
		}
		c := open(t, project, nil)
		clean(t, c)
		if texts(t, c) != texts(t, s) || c.ID != s.ID {
			t.Error("not the same store")
		}
		if a, b := must[[]byte](t)(c.Key()), must[[]byte](t)(s.Key()); !bytes.Equal(a, b) {
			t.Error("not the same key")
		}
		live(t, c, rand.New(rand.NewPCG(1, 1)), 10)
		clean(t, c)
		if _, err := Unbundle(context.Background(), env(project, nil), file, project); !errors.Is(err, fs.ErrExist) {
			t.Errorf("over a store: %v", err)
		}
	}
}

// A bundle that was damaged anywhere makes no store, and leaves nothing.
func TestUnbundleRefusesDamage(t *testing.T) {
	s := create(t)
	live(t, s, rand.New(rand.NewPCG(4, 4)), 6)
	file := filepath.Join(tempDir(t), "store.ctx")
	must[BundleReport](t)(Bundle(context.Background(), s, file, nil))
	good := must[[]byte](t)(os.ReadFile(file))
	project := tempDir(t)
	try := func(what string, b []byte) {
		t.Helper()
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Unbundle(context.Background(), env(project, nil), file, project); err == nil {
			t.Errorf("%s: taken", what)
		}
		if left := files(t, project); len(left) > 0 {
			t.Fatalf("%s: left %q", what, left[0])
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	end := bytes.LastIndex(good, []byte(bundleSum))
	for range 24 {
		bad := bytes.Clone(good)
		at := r.IntN(end)
		bad[at] ^= 0x20
		if bad[at]|0x20 == 0x20 && at%512 >= 500 {
			continue // padding
		}
		if inPadding(good, at) {
			continue
		}
		try(fmt.Sprintf("flip at %d", at), bad)
		try(fmt.Sprintf("cut at %d", at), good[:at])
	}
	try("another version", bytes.Replace(good, []byte("ctx-bundle 1\n"), []byte("ctx-bundle 2\n"), 1))
	try("empty", nil)
	for name, want := range map[string]bool{
		"../evil": false, "/etc/evil": false, "objects/../../x": false, "refs/log-01": false, "hooks/run": false, "lock": false,
		"objects/pack/pack-zz.pack": false, "cache/links": false, "log/hook": false, "refs/log-7": true, "tmp/x": false, "refs": false, "": false,
	} {
		if _, ok := bundleLimit(name); ok != want {
			t.Errorf("name %q: %v", name, ok)
		}
		if !want {
			try("name "+name, with(t, s, tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600}))
		}
	}
	try("a link", with(t, s, tar.Header{Typeflag: tar.TypeSymlink, Name: "config.toml", Linkname: "/etc/passwd"}))
	try("too large", with(t, s, tar.Header{Typeflag: tar.TypeReg, Name: "key", Size: maxSmall + 1}))
	try("another store", with(t, s, tar.Header{Typeflag: tar.TypeReg, Name: "format", Size: 0}))
}

// inPadding reports whether a byte of a tar file belongs to nothing: flipping it changes nothing.
func inPadding(b []byte, at int) bool {
	for off := 0; off+512 <= len(b); {
		var size int64
		if _, err := fmt.Sscanf(string(b[off+124:off+135]), "%o", &size); err != nil {
			return false
		}
		data := off + 512
		end := data + int(size)
		next := data + (int(size)+511)/512*512
		if at < next {
			return at >= end
		}
		off = next
	}
	return false
}

// with makes a bundle that begins as one of s and then has a file of the caller's, with a digest that fits.
func with(t testing.TB, s *session.Store, h tar.Header) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, sum := tar.NewWriter(&buf), sha256.New()
	add := func(h tar.Header, text string) {
		h.Format = tar.FormatPAX
		if h.Name == "" {
			h.Name = "."
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		sumName(sum, h.Name, h.Size)
		if _, err := io.WriteString(io.MultiWriter(w, sum), text); err != nil {
			t.Fatal(err)
		}
	}
	head := string(bundleHeadText(s.ID, 0))
	add(tar.Header{Typeflag: tar.TypeReg, Name: bundleHead, Size: int64(len(head))}, head)
	add(h, strings.Repeat("x", int(h.Size)))
	end := fmt.Sprintf("%x\n", sum.Sum(nil))
	add(tar.Header{Typeflag: tar.TypeReg, Name: bundleSum, Size: int64(len(end))}, end)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// A bundle is made while others write and collect garbage. Each is a whole store.
func TestBundleBesideWritersAndGC(t *testing.T) {
	s := grow(t, 13)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	errs := make(chan error, 4)
	writer, collect := open(t, s.Dir, nil), open(t, s.Dir, nil)
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			batch := []session.Message{{Role: "user", Text: fmt.Sprint("line ", i)}}
			if _, _, err := writer.Append(context.Background(), "talk", session.MainBranch, batch, session.AppendOptions{}); err != nil {
				errs <- err
				return
			}
		}
	})
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := GC(context.Background(), collect, GCOptions{Best: true}); err != nil {
				errs <- err
				return
			}
		}
	})
	dir := tempDir(t)
	for i := range 4 {
		file := filepath.Join(dir, fmt.Sprint(i))
		if _, err := Bundle(context.Background(), s, file, nil); err != nil {
			t.Error(err)
			break
		}
		project := tempDir(t)
		if _, err := Unbundle(context.Background(), env(project, nil, small...), file, project); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
}

// Unbundle is stopped at its calls: there is no store, or a whole one.
func TestUnbundleStopped(t *testing.T) {
	s := create(t)
	live(t, s, rand.New(rand.NewPCG(4, 5)), 8)
	want := texts(t, s)
	file := filepath.Join(tempDir(t), "store.ctx")
	must[BundleReport](t)(Bundle(context.Background(), s, file, nil))
	points := locktest.Stops(func(fsys *lock.FS) {
		project := tempDir(t)
		must[BundleReport](t)(Unbundle(context.Background(), env(project, fsys), file, project))
	})
	made := 0
	for _, at := range points {
		project := tempDir(t)
		_, err := Unbundle(context.Background(), env(project, at.FS()), file, project)
		r, openErr := repo.Open(env(project, nil))
		switch {
		case errors.Is(openErr, repo.ErrNoStore):
			if err == nil {
				t.Fatalf("stop at %v: said to be done, and no store", at)
			}
			must[BundleReport](t)(Unbundle(context.Background(), env(project, nil), file, project))
			r, openErr = repo.Open(env(project, nil))
		default:
			made++
		}
		if openErr != nil {
			t.Fatalf("stop at %v: %v", at, openErr)
		}
		c := session.New(r)
		clean(t, c)
		if texts(t, c) != want {
			t.Fatalf("stop at %v: not the same store", at)
		}
		_ = c.Close()
	}
	t.Logf("%d stops, %d with a store", len(points), made)
}

// Destroy is stopped at its calls: the store is there whole, or it is not there.
func TestDestroyStopped(t *testing.T) {
	s := create(t)
	live(t, s, rand.New(rand.NewPCG(4, 6)), 8)
	want := texts(t, s)
	points := locktest.Stops(func(fsys *lock.FS) {
		if err := Destroy(context.Background(), open(t, copyStore(t, s.Dir), fsys)); err != nil {
			t.Fatal(err)
		}
	})
	for _, at := range points {
		dir := copyStore(t, s.Dir)
		err := Destroy(context.Background(), open(t, dir, at.FS()))
		r, openErr := repo.Open(env(dir, nil))
		switch {
		case errors.Is(openErr, repo.ErrNoStore):
		case openErr != nil:
			t.Fatalf("stop at %v: %v", at, openErr)
		case err == nil:
			t.Fatalf("stop at %v: said to be done, and it is there", at)
		default:
			c := session.New(r)
			clean(t, c)
			if texts(t, c) != want {
				t.Fatalf("stop at %v: not the same store", at)
			}
			if err := Destroy(context.Background(), c); err != nil {
				t.Fatal(err)
			}
			if left := files(t, filepath.Dir(dir)); len(left) > 0 {
				t.Fatalf("stop at %v: left %q", at, left[0])
			}
		}
	}
	t.Logf("%d stops", len(points))
}

func FuzzReadBundle(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		file := filepath.Join(t.TempDir(), "b")
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = readBundle(file, func(name string, size int64, from io.Reader) error {
			if limit, ok := bundleLimit(name); !ok || size > limit || strings.Contains(name, "..") || filepath.IsAbs(name) {
				t.Errorf("%q, %d bytes", name, size)
			}
			return nil
		})
	})
}

func FuzzParse(f *testing.F) {
	f.Fuzz(func(t *testing.T, header []byte) {
		p, err := parse(header)
		if err != nil {
			return
		}
		again, err := p.encode()
		if err != nil || !bytes.Equal(again, header) {
			t.Errorf("%q is read and printed as %q, %v", header, again, err)
		}
		if p.parents > len(p.links) {
			t.Errorf("%d parents among %d links", p.parents, len(p.links))
		}
		for _, l := range p.links {
			if l.id == (format.ID{}) {
				t.Error("a link to nothing")
			}
		}
	})
}

// A corpus that is no longer there fails nothing by itself.
func TestFuzzSeedsAreThere(t *testing.T) {
	for _, target := range []string{"FuzzReadBundle", "FuzzParse"} {
		seeds, err := filepath.Glob(filepath.Join("testdata", "fuzz", target, "*"))
		if err != nil || len(seeds) == 0 {
			t.Errorf("%s has no seeds", target)
		}
	}
}
