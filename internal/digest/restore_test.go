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
		{"git restore --staged --worktree a.go", []string{"a.go"}},
		{"cd sub && git checkout -- ../a.go", []string{"a.go"}},
		{"cd sub && git checkout -- :/", []string{"."}},
		{"git -C . checkout -- a.go", []string{"a.go"}},
		{"jj restore a.go", []string{"a.go"}},
		{"jj abandon", []string{"."}},
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
		{"git mv x/b.go . && git mv c.go d.go y", "edited a.go; wrote new.go; moved x/b.go to b.go; " +
			"moved c.go to y/c.go; moved d.go to y/d.go"},
		{"mv old.go lib/zebra.go", "edited a.go; wrote new.go; moved old.go to lib/zebra.go"},
		{"mv out.txt /tmp/out.txt", "edited a.go; wrote new.go"},
		{"mv *.log old.d", "edited a.go; wrote new.go"},
		{"mv x y", "edited a.go; wrote new.go"},
		{"git stash", "edited a.go; wrote new.go; stashed all"},
		{"git stash push -m x -- new.go", "edited a.go; wrote new.go; restored new.go"},
		{"git stash push -u a.go", "edited a.go; wrote new.go; restored a.go"},
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

// TestTakenBack has edits and commits, and what is told to be taken back.
func TestTakenBack(t *testing.T) {
	edit := func(id, file, old, now string) []Message {
		return []Message{called(id, "edit", `{"file_path":"`+file+`","old_string":"`+old+
			`","new_string":"`+now+`"}`), answered(id, "ok")}
	}
	run := func(id, script, output string) []Message {
		args, _ := json.Marshal(map[string]string{"command": script})
		return []Message{called(id, "bash", string(args)), answered(id, output)}
	}
	one := edit("1", "a.go", "red", "blue")
	commit := run("2", "git commit -am one", "[main 1a2b3c4] one")
	other := slices.Concat(edit("3", "b.go", "1", "2"), run("4", "git commit -qam two", ""))
	for _, c := range []struct {
		name string
		made [][]Message
		want string
	}{
		{"hard", [][]Message{one, commit, run("5", "git reset --hard HEAD~1", "")},
			"taken back one; a.go taken back; . restored"},
		{"at once", [][]Message{one, run("2", "git commit -qm one && git reset --hard HEAD^", "")},
			"taken back one; a.go taken back; . restored"},
		{"soft", [][]Message{one, commit, run("5", "git reset --soft HEAD~1", "")}, "taken back one"},
		{"hard, the newest", [][]Message{one, commit, other, run("5", "git reset --hard 1a2b3c4", "")},
			"taken back two; b.go taken back; . restored"},
		{"to where it is", [][]Message{one, commit, run("5", "git reset --hard HEAD", "")},
			". restored"},
		{"reverted", [][]Message{one, commit, run("5", "git revert --no-edit HEAD", "[main 2] R")},
			"a.go taken back"},
		{"at once reverted", [][]Message{one, run("2", "git commit -m one && git revert HEAD", "")},
			"a.go taken back"},
		{"an older one", [][]Message{one, commit, other, run("5", "git revert 1a2b3c4d", "")},
			"a.go taken back"},
		{"edited since", [][]Message{one, commit, edit("3", "a.go", "1", "2"),
			run("4", "git commit -qam two", ""), run("5", "git revert 1a2b3c4", "")}, ""},
		{"given up", [][]Message{one, commit, run("5", "git revert --abort", "")}, ""},
		{"by edits", [][]Message{one, edit("2", "a.go", "x", "y"), edit("3", "a.go", "y", "x"),
			edit("4", "a.go", "blue", "red")}, "a.go restored"},
		{"by one edit", [][]Message{one, edit("2", "a.go", "x", "y"), edit("3", "a.go", "y", "x")}, ""},
		{"after the commit", [][]Message{one, commit, edit("3", "a.go", "blue", "red")}, ""},
	} {
		var got []string
		for _, f := range Of(numbered(slices.Concat(c.made...)...)) {
			switch {
			case f.State == Dropped && f.Kind == Commit:
				_, title, _ := strings.Cut(f.Text, ": ")
				title, _, _ = strings.Cut(title, " ")
				got = append(got, "taken back "+title)
			case f.State == Dropped && f.Key == TakenBack:
				got = append(got, f.Path+" taken back")
			case f.State == Dropped:
				got = append(got, f.Path+" restored")
			}
		}
		if said := strings.Join(got, "; "); said != c.want {
			t.Errorf("%s: %s, want %s", c.name, said, c.want)
		}
	}
}

// Git says that a name which it checked out is that of a file.
func TestRestoredByName(t *testing.T) {
	edit := called("e", "Edit", `{"file_path":"a.go","old_string":"x","new_string":"y"}`)
	for output, want := range map[string]bool{"Updated 1 path from the index\n": true,
		"Updated 1 path from 1a2b3c4\n": true, "Switched to branch 'a.go'\n": false, "": false} {
		facts := Of(numbered(edit, answered("e", "ok"),
			called("a", "bash", `{"command":"git checkout a.go"}`), answered("a", output)))
		last := facts[len(facts)-1]
		if got := last.Text == "restored a.go"; got != want {
			t.Errorf("%q: %v", output, last)
		}
	}
}
