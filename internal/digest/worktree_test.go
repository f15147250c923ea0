package digest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestShownTree has what a script printed after edits of a.go and sub/b.go, after new.go was
// written, and after a commit of a.go alone, and which files git shows as kept (+) or not (-).
func TestShownTree(t *testing.T) {
	const clean = "On branch main\nnothing to commit, working tree clean\n"
	long := func(lines ...string) string {
		return "On branch main\nChanges not staged for commit:\n  (use \"git add <file>...\")\n\t" +
			strings.Join(lines, "\n\t") + "\n\nno changes added to commit (use \"git add\")\n"
	}
	for _, c := range []struct{ name, script, output, want string }{
		{"clean", "git status", clean, "+new.go +sub/b.go"},
		{"clean, cut", "git status | head -3", clean, "+new.go +sub/b.go"},
		{"one changed", "git status", long("modified:   sub/b.go"), "+new.go"},
		{"more changed", "git status && git diff --stat", long("modified:   a.go", "new file:   new.go",
			"deleted:    sub/b.go") + " a.go | 2 +-\n", "-a.go"},
		{"a new folder", "git status", long("modified:   a.go", "sub/"), "-a.go +new.go"},
		{"renamed", "git status", long("renamed:    old.go -> sub/b.go"), "+new.go"},
		{"from a folder", "cd sub && git status", long("modified:   ../a.go", "modified:   b.go"),
			"-a.go +new.go"},
		{"cut", "git status | head -5", "On branch main\n\tmodified:   a.go\n", ""},
		{"short, clean", "git status --short", "", "+new.go +sub/b.go"},
		{"short", "git status -sb", "## main...origin/main\n M sub/b.go\n?? new.go\n", ""},
		{"short, with a quoted name", "git status -s", " M \"a\\303\\244.go\"\n", "+new.go +sub/b.go"},
		{"short, staged", "git add -A && git status --porcelain=v1", "M  a.go\nA  new.go\n",
			"-a.go +sub/b.go"},
		{"short, and more", "git status -s && git log -1", " M sub/b.go\n?? new.go\n1a2b3c4 M\n", ""},
		{"short, not first", "ls && git status -s", "a.go\n", ""},
		{"short, cut", "git status -s | head -1", " M sub/b.go\n", ""},
		{"another branch", "git checkout main", "Switched to branch 'main'\n", "+sub/b.go"},
		{"another branch, pulled", "git switch main && git pull",
			"M\tsub/b.go\nAlready up to date.\nSwitched to branch 'main'\n", ""},
		{"a new branch", "git checkout -b next", "Switched to a new branch 'next'\n", ""},
		{"before a commit", "git status -s; git commit -qm two", "", ""},
		{"somewhere else", "cd /tmp/x && git status", clean, ""},
		{"nothing asked", "cat notes", clean, ""},
	} {
		at := []Message{{Role: "user", Text: "Mend it", Dir: "/p"}}
		for i, file := range []string{"/p/a.go", "sub/b.go", "new.go"} {
			tool, args := "edit", `","old_string":"1","new_string":"2"}`
			if file == "new.go" {
				tool, args = "write", `","content":"package p"}`
			}
			id := string(rune('a' + i))
			at = append(at, called(id, tool, `{"file_path":"`+file+args), answered(id, "ok"))
			if i == 0 {
				at = append(at, called("d", "bash", `{"command":"git commit -qm one a.go"}`),
					answered("d", ""))
			}
		}
		args, _ := json.Marshal(map[string]string{"command": c.script})
		at = append(at, called("e", "bash", string(args)), answered("e", c.output))
		var got []string
		for _, f := range Of(numbered(at...)) {
			switch f.Key {
			case Kept:
				got = append(got, "+"+strings.TrimPrefix(f.Path, "/p/"))
			case Unkept:
				got = append(got, "-"+strings.TrimPrefix(f.Path, "/p/"))
			}
		}
		slices.SortFunc(got, func(a, b string) int { return strings.Compare(a[1:], b[1:]) })
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
