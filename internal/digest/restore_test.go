package digest

import (
	"encoding/json"
	"slices"
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
