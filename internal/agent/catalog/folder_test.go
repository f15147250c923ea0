package catalog

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
	"github.com/gemini-ctx/ctx/internal/identity"
)

// A transcript that names no directory is taken from a folder if one directory alone fits its name.
func TestFolders(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil || os.PathSeparator == '\\' {
		t.Skip(err)
	}
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	for _, dir := range []string{"a-b", "a/b", "one/sub/deep", ".dot/x", "项目", "测试"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at("one"), at("way")); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		began, named, project string
		want                  bool
	}{
		{"one", "", "one", true}, {"one", "", "one/sub", false}, {"one/sub/deep", "", "one", true},
		{"way", "", "one", true}, {"way/sub", "", "one", true}, {".dot/x", "", ".dot", true},
		{"a-b", "", "a-b", false}, {"a-b", "", "a/b", false}, {"a-b", "a-b", "a-b", true},
		{"a/b", "a-b", "a/b", false}, {"a/b", "a/b", "a/b", true},
		{"one/gone", "", "one", false}, {"one/gone", "one/gone", "one", true},
		{"项目", "", "项目", false}, {"测试", "测试", "测试", true}, {"测试", "测试", "项目", false},
	} {
		for name, names := range map[string]func(string) []string{
			"cursor": slugsOfCursor, "claude-code": oneName(claudecode.Slug),
		} {
			b := Begun{Folder: newFolder(filepath.Join(top, "p", names(at(row.began))[0]), names)}
			if row.named != "" {
				b.Named = []string{at(row.named)}
				b.Dir = at(row.named)
			}
			look := identity.NewLook(&identity.Project{Dir: at(row.project)}, nil)
			got := Judge([]Begun{b}, look, []string{at(row.project)})[0]
			if got.Ours != row.want {
				t.Errorf("%s, %+v: %+v", name, row, got.Verdict)
			}
		}
	}
	f := newFolder(filepath.Join(top, "p", claudecode.Slug(at("a/b"))), oneName(claudecode.Slug))
	there := f.There()
	slices.Sort(there)
	if want := []string{at("a-b"), at("a/b")}; !slices.Equal(there, want) {
		t.Errorf("%q, not %q", there, want)
	}
}
