package durable_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/durable"
)

// recorder returns an FS that runs everything and a list of its steps with paths below dir.
func recorder(dir string) (*durable.FS, *[]string) {
	var steps []string
	return &durable.FS{Hook: func(c durable.Call) error {
		rel, _ := filepath.Rel(dir, c.Path)
		steps = append(steps, fmt.Sprintf("%s %s %d", c.Op, filepath.ToSlash(rel), len(c.Data)))
		return nil
	}}, &steps
}

// stopAt returns an FS that stops at step n.
func stopAt(n int) *durable.FS {
	return &durable.FS{Hook: func(c durable.Call) error {
		if c.N == n {
			return durable.ErrStopped
		}
		return nil
	}}
}

// failAt returns an FS whose step n fails with err and no other.
func failAt(n int, err error) *durable.FS {
	return &durable.FS{Hook: func(c durable.Call) error {
		if c.N == n {
			return err
		}
		return nil
	}}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, f := range files {
		out = append(out, f.Name())
	}
	return out
}

func TestSteps(t *testing.T) {
	two := func(dir string) []durable.File {
		return []durable.File{
			{Path: filepath.Join(dir, "y"), Data: []byte("abc"), Perm: 0o600},
			{Path: filepath.Join(dir, "x"), Data: []byte("de"), Perm: 0o600},
		}
	}
	tests := []struct {
		name string
		do   func(f *durable.FS, dir string) error
		want string
	}{
		{"WriteFile", func(f *durable.FS, dir string) error {
			return f.WriteFile(filepath.Join(dir, "a"), []byte("abc"), 0o600, true)
		}, "write a 3; sync a 0; rename a 0"},
		{"WriteFile unsynced", func(f *durable.FS, dir string) error {
			return f.WriteFile(filepath.Join(dir, "a"), []byte("abc"), 0o600, false)
		}, "write a 3; rename a 0"},
		{"WriteDurable", func(f *durable.FS, dir string) error {
			return f.WriteDurable(filepath.Join(dir, "a"), []byte("abc"), 0o600)
		}, "write a 3; sync a 0; rename a 0; syncdir . 0"},
		{"WriteFiles",
			func(f *durable.FS, dir string) error { return f.WriteFiles(two(dir), true) },
			"write y 3; write x 2; sync y 0; sync x 0; rename y 0; rename x 0; syncdir . 0"},
		{"WriteFiles unsynced",
			func(f *durable.FS, dir string) error { return f.WriteFiles(two(dir), false) },
			"write y 3; write x 2; rename y 0; rename x 0"},
		{"AppendSync, Truncate", func(f *durable.FS, dir string) error {
			path := filepath.Join(dir, "log")
			return errors.Join(f.AppendSync(path, 0, []byte("abc")),
				f.AppendSync(path, 3, []byte("d")), f.Truncate(path, 3))
		}, "append log 3; sync log 0; append log 1; sync log 0; truncate log 0; sync log 0"},
		{"MkdirAll",
			func(f *durable.FS, dir string) error {
				return f.MkdirAll(filepath.Join(dir, "a", "b"))
			},
			"mkdir a 0; syncdir . 0; mkdir a/b 0; syncdir a 0"},
		{"Remove, Rename, Chtimes", func(f *durable.FS, dir string) error {
			a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
			return errors.Join(f.Mkdir(a), f.Rename(a, b),
				f.Chtimes(b, time.Unix(1, 0)), f.Remove(b))
		}, "mkdir a 0; rename b 0; chtimes b 0; remove b 0"},
		{"WriteNoSync", func(f *durable.FS, dir string) error {
			return f.WriteNoSync(filepath.Join(dir, "h"), []byte("x"))
		}, ""},
	}
	for _, test := range tests {
		dir := t.TempDir()
		f, steps := recorder(dir)
		if err := test.do(f, dir); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if got := strings.Join(*steps, "; "); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
		for _, n := range names(t, dir) {
			if durable.IsTemp(n) {
				t.Errorf("%s: left %s", test.name, n)
			}
		}
		if err := test.do(nil, t.TempDir()); err != nil {
			t.Errorf("%s without a hook: %v", test.name, err)
		}
	}
}

func TestStopEverywhere(t *testing.T) {
	for n := 1; ; n++ {
		dir := t.TempDir()
		path := filepath.Join(dir, "a")
		if err := (&durable.FS{}).WriteFile(path, []byte("old"), 0o600, true); err != nil {
			t.Fatal(err)
		}
		f := stopAt(n)
		err := f.WriteDurable(path, []byte("new"), 0o600)
		if err == nil {
			if n != 5 {
				t.Errorf("stopped at %d steps, not 4", n-1)
			}
			return
		}
		if !errors.Is(err, durable.ErrStopped) || !f.Stopped() {
			t.Fatalf("step %d: %v", n, err)
		}
		before := names(t, dir)
		for _, err := range []error{
			f.Remove(path), f.WriteNoSync(path, nil), f.Mkdir(path + "2"),
			f.AppendSync(path, 3, []byte("x")),
			f.WriteFiles([]durable.File{{Path: path, Data: []byte("x"), Perm: 0o600}}, false),
			f.Truncate(path, 0),
		} {
			if !errors.Is(err, durable.ErrStopped) {
				t.Errorf("step %d: a later call was not stopped: %v", n, err)
			}
		}
		if after := names(t, dir); !slices.Equal(before, after) {
			t.Errorf("step %d: %v became %v after the stop", n, before, after)
		}
		got, err := durable.ReadFile(path)
		want := "old"
		if n == 4 {
			want = "new"
		}
		if err != nil || string(got) != want {
			t.Errorf("step %d: %q, %v", n, got, err)
		}
	}
}

func TestFailEverywhere(t *testing.T) {
	broken := errors.New("no space")
	for n := 1; n <= 7; n++ {
		dir := t.TempDir()
		err := failAt(n, broken).WriteFiles([]durable.File{
			{Path: filepath.Join(dir, "a"), Data: []byte("a"), Perm: 0o600},
			{Path: filepath.Join(dir, "b"), Data: []byte("b"), Perm: 0o600},
		}, true)
		if !errors.Is(err, broken) {
			t.Errorf("step %d: %v", n, err)
		}
		for _, name := range names(t, dir) {
			if durable.IsTemp(name) {
				t.Errorf("step %d: left %s", n, name)
			}
		}
	}
}

func TestTorn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	f := failAt(1, &durable.Torn{Keep: 2})
	if err := f.AppendSync(path, 0, []byte("abcd")); !errors.Is(err, durable.ErrStopped) {
		t.Error(err)
	}
	if got, _ := durable.ReadFile(path); string(got) != "ab" {
		t.Errorf("torn append left %q", got)
	}
	full := errors.New("no space")
	f = failAt(1, &durable.Torn{Keep: 1, Err: full})
	if err := f.AppendSync(path, 2, []byte("cd")); !errors.Is(err, full) {
		t.Error(err)
	}
	if err := f.Truncate(path, 2); err != nil {
		t.Error(err)
	}
	if got, _ := durable.ReadFile(path); string(got) != "ab" {
		t.Errorf("after truncation: %q", got)
	}
}

func TestAppendKnowsTheEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	var f durable.FS
	if err := f.AppendSync(path, 3, []byte("x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("append beyond a file that is not there: %v", err)
	}
	if err := f.AppendSync(path, 0, []byte("abc")); err != nil {
		t.Fatal(err)
	}
	for _, off := range []int64{0, 2, 4} {
		if err := f.AppendSync(path, off, []byte("x")); err == nil {
			t.Errorf("append at %d of 3 bytes was taken", off)
		}
	}
	if got, _ := durable.ReadFile(path); string(got) != "abc" {
		t.Errorf("%q", got)
	}
}

func TestReadAtMost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	if err := new(durable.FS).WriteFile(path, bytes.Repeat([]byte{'x'}, 10), 0o600,
		false); err != nil {
		t.Fatal(err)
	}
	if _, err := durable.ReadAtMost(path, 9); !errors.Is(err, durable.ErrTooLarge) {
		t.Error(err)
	}
	if b, err := durable.ReadAtMost(path, 10); err != nil || len(b) != 10 {
		t.Error(len(b), err)
	}
}

func TestPermissions(t *testing.T) {
	dir := t.TempDir()
	var f durable.FS
	if err := f.WriteFile(filepath.Join(dir, "a"), []byte("x"), 0o600, false); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "a"))
	if err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Error(info.Mode(), err)
	}
}

func TestIsTemp(t *testing.T) {
	for name, want := range map[string]bool{
		".tmp-1": true, ".tmp-ctx-12": true, ".format1234567890": true,
		".config.toml12345678": true,
		"format":               false, ".gitignore": false, ".format": false,
		".format1234567":   false,
		"format1234567890": false,
		".1234567890":      false, "seg-00000001": false,
	} {
		if got := durable.IsTemp(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if !durable.IsTempOf(".settings.json1234567890", "settings.json") ||
		durable.IsTempOf(".settings.json.bak1234567890", "settings.json") {
		t.Error("IsTempOf takes another name, or not its own")
	}
}
