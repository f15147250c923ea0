package digest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestRestored(t *testing.T) {
	for _, c := range []struct {
		script string
		want   []string
	}{
		{"git checkout -- a.go b/c.go", []string{"a.go", "b/c.go"}},
		{"git checkout HEAD~1 -- a.go && go build ./...", []string{"a.go"}},
		{"git checkout .", []string{"."}},
		{"git checkout main", nil},
		{"git restore a.go", []string{"a.go"}},
		{"git restore --source HEAD~1 a.go", []string{"a.go"}},
		{"git restore --staged a.go", nil},
		{"git reset --hard origin/main", []string{"."}},
		{"git reset a.go", nil},
		{"git -C ../other checkout -- a.go", nil},
		{"echo git checkout -- a.go", nil},
	} {
		args, _ := json.Marshal(map[string]string{"command": c.script})
		call := called("a", "bash", string(args))
		var got []string
		for _, f := range Of([]Message{call, answered("a", "")}) {
			if f.Kind == Edit {
				got = append(got, f.Path)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.script, got, c.want)
		}
		for _, f := range Of([]Message{call, failedWith("a", "Exit code 1\nerror: pathspec")}) {
			if f.Kind == Edit {
				t.Errorf("%s failed: %+v", c.script, f)
			}
		}
	}
}

// TestFilesGone has what a script makes of the files a.go, which was edited, and new.go, which was
// written.
func TestFilesGone(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"rm new.go", "edited a.go; wrote new.go; restored new.go"},
		{"rm -f a.go", "edited a.go; wrote new.go; deleted a.go"},
		{"git rm -q --cached a.go", "edited a.go; wrote new.go"},
		{"git rm c.go", "edited a.go; wrote new.go; deleted c.go"},
		{"rm -rf build", "edited a.go; wrote new.go"},
		{"mv new.go b.go", "edited a.go; wrote new.go; restored new.go; moved new.go to b.go"},
		{"git mv a.go sub/", "edited a.go; wrote new.go; restored a.go; moved a.go to sub/a.go"},
		{"mv x y", "edited a.go; wrote new.go"},
		{"git stash", "edited a.go; wrote new.go; stashed all"},
		{`git stash ""`, "edited a.go; wrote new.go"},
		{"git stash list", "edited a.go; wrote new.go"},
		{"git stash -u && git pull && git stash pop",
			"edited a.go; wrote new.go; stashed all; edited a.go; wrote new.go"},
	} {
		args, _ := json.Marshal(map[string]string{"command": c.script})
		var got []string
		for _, f := range Of(numbered(
			called("1", "edit", `{"file_path":"a.go","old_string":"a","new_string":"b"}`),
			answered("1", "ok"),
			called("2", "write", `{"file_path":"new.go","content":"package a"}`), answered("2", "ok"),
			called("3", "bash", string(args)), answered("3", ""))) {
			if f.Kind == Edit {
				got = append(got, f.Text)
			}
		}
		if said := strings.Join(got, "; "); said != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.script, said, c.want)
		}
	}
}
