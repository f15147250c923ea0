package bundle

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

	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/durable/durabletest"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/gc"
	"github.com/gemini-ctx/ctx/internal/maintenance/kit"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

func TestBundleAndBack(t *testing.T) {
	for _, s := range []*session.Store{kit.Create(t), kit.Grow(t, 5), kit.Old(t, 13)} {
		dir := durabletest.TempDir(t)
		file := filepath.Join(dir, "store.ctx")
		done := storetest.Must[Report](t)(Write(context.Background(), s.Opened, file, nil))
		if done.Store != s.ID || done.Operation != storetest.View(t, s).Number {
			t.Errorf("bundle: %+v", done)
		}
		storetest.Must[Report](t)(Write(context.Background(), s.Opened, file+"2", nil))
		if a, b := storetest.Must[[]byte](t)(os.ReadFile(file)),
			storetest.Must[[]byte](t)(os.ReadFile(file+"2")); !bytes.Equal(a, b) {
			t.Error("two bundles of one store differ")
		}
		if _, err := Write(context.Background(), s.Opened, file, nil); !errors.Is(err,
			fs.ErrExist) {
			t.Errorf("over a file: %v", err)
		}
		project := durabletest.TempDir(t)
		back := storetest.Must[Report](t)(
			Unpack(context.Background(), storetest.Env(project, nil, kit.Small...), file, project))
		if back != done {
			t.Errorf("wrote %+v, read %+v", done, back)
		}
		c := kit.Open(t, project, nil)
		kit.Clean(t, c)
		if kit.Texts(t, c) != kit.Texts(t, s) || c.ID != s.ID {
			t.Error("not the same store")
		}
		if a, b := storetest.Must[[]byte](t)(c.Key()),
			storetest.Must[[]byte](t)(s.Key()); !bytes.Equal(a, b) {
			t.Error("not the same key")
		}
		kit.Live(t, c, rand.New(rand.NewPCG(1, 1)), 10)
		kit.Clean(t, c)
		if _, err := Unpack(context.Background(), storetest.Env(project, nil), file,
			project); !errors.Is(err, fs.ErrExist) {
			t.Errorf("over a store: %v", err)
		}
	}
}

// A bundle that was damaged anywhere makes no store, and leaves nothing.
func TestUnbundleRefusesDamage(t *testing.T) {
	s := kit.Create(t)
	kit.Live(t, s, rand.New(rand.NewPCG(4, 4)), 6)
	file := filepath.Join(durabletest.TempDir(t), "store.ctx")
	storetest.Must[Report](t)(Write(context.Background(), s.Opened, file, nil))
	good := storetest.Must[[]byte](t)(os.ReadFile(file))
	project := durabletest.TempDir(t)
	try := func(what string, b []byte) {
		t.Helper()
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Unpack(context.Background(), storetest.Env(project, nil), file,
			project); err == nil {
			t.Errorf("%s: taken", what)
		}
		if left := kit.Files(t, project); len(left) > 0 {
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
	try("another version",
		bytes.Replace(good, []byte("ctx-bundle 1\n"), []byte("ctx-bundle 2\n"), 1))
	try("empty", nil)
	for name, want := range map[string]bool{
		"../evil": false, "/etc/evil": false, "objects/../../x": false, "refs/log-01": false,
		"hooks/run": false, "lock": false,
		"objects/pack/pack-zz.pack": false, "cache/links": false, "log/hook": false,
		"refs/log-7": true, "tmp/x": false, "refs": false, "": false,
	} {
		if _, ok := bundleLimit(name); ok != want {
			t.Errorf("name %q: %v", name, ok)
		}
		if !want {
			try("name "+name,
				with(t, s, tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600}))
		}
	}
	try("a link",
		with(t, s,
			tar.Header{Typeflag: tar.TypeSymlink, Name: "config.toml", Linkname: "/etc/passwd"}))
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

// with makes a bundle that begins as one of s and then has a file of the caller's, with a digest
// that fits.
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
	s := kit.Grow(t, 13)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	errs := make(chan error, 4)
	writer, collect := kit.Open(t, s.Dir, nil), kit.Open(t, s.Dir, nil)
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			batch := []conversation.Message{{Role: "user", Text: fmt.Sprint("line ", i)}}
			if _, _, err := writer.Conversation.Append(context.Background(), "talk",
				history.MainBranch, batch, conversation.AppendOptions{}); err != nil {
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
			if _, err := gc.Run(context.Background(), collect.Opened,
				gc.Options{Best: true}); err != nil {
				errs <- err
				return
			}
		}
	})
	dir := durabletest.TempDir(t)
	for i := range 4 {
		file := filepath.Join(dir, fmt.Sprint(i))
		if _, err := Write(context.Background(), s.Opened, file, nil); err != nil {
			t.Error(err)
			break
		}
		project := durabletest.TempDir(t)
		if _, err := Unpack(context.Background(), storetest.Env(project, nil, kit.Small...), file,
			project); err != nil {
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
	s := kit.Create(t)
	kit.Live(t, s, rand.New(rand.NewPCG(4, 5)), 8)
	want := kit.Texts(t, s)
	file := filepath.Join(durabletest.TempDir(t), "store.ctx")
	storetest.Must[Report](t)(Write(context.Background(), s.Opened, file, nil))
	points := durabletest.Stops(func(fsys *durable.FS) {
		project := durabletest.TempDir(t)
		storetest.Must[Report](t)(Unpack(context.Background(), storetest.Env(project, fsys),
			file, project))
	})
	made := 0
	for _, at := range points {
		project := durabletest.TempDir(t)
		_, err := Unpack(context.Background(), storetest.Env(project, at.FS()), file, project)
		r, openErr := repo.Open(storetest.Env(project, nil))
		switch {
		case errors.Is(openErr, repo.ErrNoStore):
			if err == nil {
				t.Fatalf("stop at %v: said to be done, and no store", at)
			}
			storetest.Must[Report](t)(Unpack(context.Background(), storetest.Env(project, nil),
				file, project))
			r, openErr = repo.Open(storetest.Env(project, nil))
		default:
			made++
		}
		if openErr != nil {
			t.Fatalf("stop at %v: %v", at, openErr)
		}
		c := session.New(r)
		kit.Clean(t, c)
		if kit.Texts(t, c) != want {
			t.Fatalf("stop at %v: not the same store", at)
		}
		_ = c.Close()
	}
	t.Logf("%d stops, %d with a store", len(points), made)
}
