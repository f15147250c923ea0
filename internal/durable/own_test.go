package durable

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A store may have come with a project. What its names link to is not written to, cut, or made.
func TestLinksAreNotFollowed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip(
			"a link cannot be told when a file is opened here: package repo refuses a " +
				"store that has one")
	}
	dir := t.TempDir()
	outside, missing := filepath.Join(dir, "outside"), filepath.Join(dir, "missing")
	link, dangling := filepath.Join(dir, "link"), filepath.Join(dir, "dangling")
	if err := os.WriteFile(outside, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for to, name := range map[string]string{outside: link, missing: dangling} {
		if err := os.Symlink(to, name); err != nil {
			t.Skip("no links can be made here: ", err)
		}
	}
	var f FS
	for name, write := range map[string]func(path string) error{
		"WriteNoSync":  func(path string) error { return f.WriteNoSync(path, []byte("x")) },
		"AppendNoSync": func(path string) error { return f.AppendNoSync(path, []byte("x"), 100) },
		"AppendSync": func(path string) error {
			return f.AppendSync(path, int64(len("precious")), []byte("x"))
		},
		"AppendNew": func(path string) error { return f.AppendSync(path, 0, []byte("x")) },
		"Truncate":  func(path string) error { return f.Truncate(path, 1) },
	} {
		for _, path := range []string{link, dangling} {
			if err := write(path); err == nil {
				t.Errorf("%s through %s is no error", name, filepath.Base(path))
			}
		}
	}
	if b, err := os.ReadFile(outside); err != nil || string(b) != "precious" {
		t.Errorf("outside is %q, %v", b, err)
	}
	if _, err := os.Lstat(missing); err == nil {
		t.Error("a file was made at the end of a link")
	}
	// A rename replaces the link.
	if err := f.WriteFile(link, []byte("new"), 0o600, false); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(outside); string(b) != "precious" {
		t.Errorf("outside is %q", b)
	}
	if info, err := os.Lstat(link); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the link is %v, %v", info, err)
	}
}
