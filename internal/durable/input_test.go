package durable_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/gemini-ctx/ctx/internal/durable"
)

// A file of exactly the largest size is read whole; one byte more is refused before anything is
// read.
func TestInputSize(t *testing.T) {
	for _, c := range []struct {
		size int
		ok   bool
	}{{0, true}, {99, true}, {100, true}, {101, false}} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, make([]byte, c.size), 0o600); err != nil {
			t.Fatal(err)
		}
		b, err := durable.ReadInput(path, 100)
		if (err == nil) != c.ok || c.ok && len(b) != c.size ||
			!c.ok && !errors.Is(err, durable.ErrTooLarge) {
			t.Errorf("%d bytes: read %d, %v", c.size, len(b), err)
		}
	}
}

// A file that grows while it is read ends with an error at the largest size.
func TestInputGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 60), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := durable.OpenInput(path, 100)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if _, err := io.ReadFull(in, make([]byte, 50)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, make([]byte, 101), 0o600); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(in); len(rest) != 50 || !errors.Is(err, durable.ErrTooLarge) {
		t.Errorf("read %d bytes more, %v", len(rest), err)
	}
	// A reader may ask again, and from behind the largest size.
	for _, at := range []int64{101, 150} {
		if n, err := in.Read(make([]byte, 9)); n != 0 || !errors.Is(err, durable.ErrTooLarge) {
			t.Errorf("read %d bytes once more, %v", n, err)
		}
		if _, err := in.Seek(at, io.SeekStart); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := in.Read(make([]byte, 9)); n != 0 || !errors.Is(err, durable.ErrTooLarge) {
		t.Errorf("read %d bytes behind the largest size, %v", n, err)
	}
}

// A file that was read can be read once more.
func TestInputTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 100), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := durable.OpenInput(path, 100)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for range 2 {
		if b, err := io.ReadAll(in); len(b) != 100 || err != nil {
			t.Errorf("read %d bytes, %v", len(b), err)
		}
		if _, err := in.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
	}
}

// A directory of files is a file system like any other, with the largest size for each file.
func TestInputFS(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir,
		fstest.MapFS{"a/b": {Data: []byte("text")}, "long": {Data: make([]byte, 9)}}); err != nil {
		t.Fatal(err)
	}
	files := durable.InputFS(dir, 8)
	if b, err := fs.ReadFile(files, "a/b"); string(b) != "text" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	if list, err := fs.ReadDir(files, "a"); len(list) != 1 || err != nil {
		t.Errorf("%v, %v", list, err)
	}
	for name, want := range map[string]error{"long": durable.ErrTooLarge, "none": fs.ErrNotExist,
		"../x": fs.ErrInvalid} {
		if _, err := fs.ReadFile(files, name); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
