package digest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestCommands(t *testing.T) {
	tests := []struct{ script, want string }{
		// Files that are read
		{`cat src/a.go`, "read: read src/a.go"},
		{`sed -n '1,220p' src/a.go`, "read: read src/a.go"},
		{`sed -n '/^func/p' src/a.go`, "read: read src/a.go"},
		{`head -n 20 README.md`, "read: read README.md"},
		{`nl -ba src/a.go | sed -n '1,20p'`, "read: read src/a.go"},
		{`cat "my notes/a b.md"`, "read: read my notes/a b.md"},
		{`cat my\ notes/a.md`, "read: read my notes/a.md"},
		{`cat a.go b.go`, "read: read a.go\nread: read b.go"},
		{`cat a.go && echo --- && cat b.go`, "read: read a.go\nread: read b.go"},
		{`cd /p/src && cat a.go`, "read: read /p/src/a.go"},
		{`cd /p && cd src; cat ./a.go`, "read: read /p/src/a.go"},
		{`cd /p && cat /etc/hosts`, "read: read /etc/hosts"},
		{`cat a.go 2>/dev/null`, "read: read a.go"},
		{`cat $FILE`, "command: ran cat $FILE"},
		{`sed -i 's/a/b/' a.go`, "edit: edited a.go"},
		{`cat a.go && make`, "command: ran cat a.go && make"},
		{"cat > a.go <<'EOF'\npackage p\nEOF", "edit: wrote a.go"},
		{"tee -a a.md <<EOF\nx\nEOF", "edit: edited a.md"},
		{"cat <<EOF > t_test.go\nfunc TestX\nEOF\ngo test ./... 2>&1 | tee out.log",
			"edit: wrote t_test.go: TestX\ncommand: ran cat <<EOF > t_test.go; go test ./... 2>&1 | tee out.log"},
		{"git apply <<EOF\n--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-x\n+y\nEOF", "edit: edited a.go"},
		{"go test ./... > /tmp/out.txt 2>&1", "command: ran go test ./... > /tmp/out.txt"},
		{"make 2>&1 > build.log", "command: ran make 2>&1 > build.log"},
		// Searches
		{`rg -n "lost|token" src`, `search: ran rg -n "lost|token" src`},
		{`cd /p && grep -rn lost src 2>/dev/null | head -20`,
			"search: ran grep -rn lost src 2>/dev/null"},
		{`ls -la`, "search: ran ls -la"},
		// Other commands
		{`cd /p && make build 2>&1 | tail -20`, "command: ran make build"},
		{`make build 2>&1`, "command: ran make build"},
		{"make \\\n  build", "command: ran make build"},
		{`# only words`, "command: ran # only words"},
		{`cd /p`, "command: ran cd /p"},
		// Commits
		{`git commit -m "Keep the last token"`, "commit: tried to commit: Keep the last token"},
		{`git commit -m 'It'\''s kept'`, "commit: tried to commit: It's kept"},
		{`git commit -m "Keep \"EOF\" tokens"`, `commit: tried to commit: Keep "EOF" tokens`},
		{`git commit --message="Keep it"`, "commit: tried to commit: Keep it"},
		{`git commit -am "Keep it"`, "commit: tried to commit: Keep it"},
		{`git add . && git -C /p commit -q -m "Keep it" && git push`, "commit: tried to commit: Keep it"},
		{`git commit --amend --no-edit`, "commit: tried to commit: amended the last commit"},
		{`git commit -m "Keep it" --dry-run`, `command: ran git commit -m "Keep it" --dry-run`},
		{`git commit --dry-run -m "Keep it"`, `command: ran git commit --dry-run -m "Keep it"`},
		{`git commit`, "command: ran git commit"},
		{`git commit -m ""`, `command: ran git commit -m ""`},
		{"git commit -m \"$(cat <<'EOF'\nKeep the last token :)\n\nThe scanner dropped what " +
			"stood before the end.\nEOF\n)\"",
			"commit: tried to commit: Keep the last token :)\nwritten: The scanner dropped what stood " +
				"before the end."},
		{"git commit -F - <<'EOF'\nKeep the last token\nEOF",
			"commit: tried to commit: Keep the last token"},
		{`echo "git commit -m x"`, `command: ran echo "git commit -m x"`},
		// Patches
		{"apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a b.go\n+x\n*** End Patch\nEOF",
			"edit: wrote a b.go"},
	}
	for _, tt := range tests {
		t.Run(tt.script, func(t *testing.T) {
			args, _ := json.Marshal(map[string]string{"command": tt.script})
			check(t, []Message{called("a", "bash", string(args))}, tt.want)
		})
	}
}

// TestSameCommand has pairs of commands of which the later run replaces the earlier one.
func TestSameCommand(t *testing.T) {
	const same, other = true, false
	tests := []struct {
		a, b string
		want bool
	}{
		{"go test ./...", "cd /p && go test ./... 2>&1 | tail -5", same},
		{"go test ./...", "GOFLAGS=-p=1 go test ./... > out.txt", same},
		{"go test ./...", "timeout 60 go test ./...", same},
		{"go test ./...", "gofmt -l . && go test ./...", same},
		{"go test ./parse -run One", "go test ./parse -run Two", same},
		{"go test ./...", "go test ./parse", other},
		{"make", "make test", other},
	}
	for _, tt := range tests {
		facts := Of(numbered(called("", "bash", fmt.Sprintf(`{"command":%q}`, tt.a)),
			called("", "bash", fmt.Sprintf(`{"command":%q}`, tt.b))))
		if got := facts[0].Key == facts[1].Key; got != tt.want {
			t.Errorf("%s and %s: keys %q and %q", tt.a, tt.b, facts[0].Key, facts[1].Key)
		}
	}
}

func TestCommitMade(t *testing.T) {
	for output, want := range map[string]string{
		"[main 1a2b3c4] Keep it\n 1 file changed":   "1a2b3c4",
		"fmt: ok\n[fix/a b 0123456789ab] Keep it\n": "0123456789ab",
		"[main (root-commit) 1a2b3c4] Keep it":      "1a2b3c4",
		"[detached HEAD 1a2b3c4] Keep it":           "1a2b3c4",
		"[main 1a2b] Keep it":                       "", "[1a2b3c4] Keep it": "",
		"1a2b3c4 Keep it": "", "[main 1a2b3cx] Keep it": "", "": "",
	} {
		if got, _ := commitMade(output, ""); got != want {
			t.Errorf("%q: %q, want %q", output, got, want)
		}
	}
}

// TestPushed checks what is known of the newest commit when git has pushed.
func TestPushed(t *testing.T) {
	const commit, push = `{"command":"git commit -qm 'Keep it (all)'"}`, `{"command":"git push"}`
	onMain := Message{Role: "model", Branch: "main"}
	for _, c := range []struct{ made, printed, want string }{
		{"[main 1a2b3c4] Keep it (all)", "To x:a/b.git\n   0a1b2c3..1a2b3c4  main -> main",
			"Keep it (all) (1a2b3c4, pushed)"},
		{"[main 1a2b3c4] Keep it (all)", "To x\n * [new branch]      main -> main",
			"Keep it (all) (1a2b3c4, pushed)"},
		{"", " * [new branch] main -> main", "Keep it (all) (pushed)"},
		{"[main 1a2b3c4] Keep it (all)", // rebased before it was pushed
			" + 0a1b2c3...9f8e7d6c main -> main (forced update)", "Keep it (all) (9f8e7d6c, pushed)"},
		{"[main 1a2b3c4] Keep it (all)", "   0a1b2c3..9f8e7d6  main -> origin/main",
			"Keep it (all) (1a2b3c4)"},
		{"[main 1a2b3c4] Keep it (all)", "   0a1b2c3..9f8e7d6  other -> other",
			"Keep it (all) (1a2b3c4)"},
		{"[main 1a2b3c4] Keep it (all)", " * [new tag] main -> main", "Keep it (all) (1a2b3c4)"},
		{"[main 1a2b3c4] Keep it (all)", "", "Keep it (all) (1a2b3c4)"},
	} {
		facts := Of(numbered(onMain, called("a", "bash", commit), answered("a", c.made),
			called("b", "bash", push), answered("b", c.printed)))
		if got := strings.TrimPrefix(facts[1].Text, "committed: "); got != c.want {
			t.Errorf("%q: %s, want %s", c.printed, got, c.want)
		}
	}
	const again = `{"command":"git reset --hard 1a2b3c4"}`
	check(t, []Message{called("a", "bash", commit), answered("a", "[main 1a2b3c4] Keep it (all)"),
		called("b", "bash", push), answered("b", "   0a1b2c3..1a2b3c4  main -> main"),
		called("c", "bash", again), answered("c", "")},
		"commit[passed]: committed: Keep it (all) (1a2b3c4, pushed)", "command[passed]: ran git push",
		"output: 0a1b2c3..1a2b3c4 main -> main", "command[passed]: ran git reset --hard 1a2b3c4",
		"edit[dropped]: restored "+Everything)
}

func TestTrailers(t *testing.T) {
	for line, want := range map[string]bool{
		"Signed-off-by: Mia <mia@example.org>": true, "Co-Authored-By: Claude <a@example.org>": true,
		"🤖 Generated with [Claude Code](https://example.org)": true,
		"Reviewed: the parser keeps the token":                false,
		"The look-ahead: it keeps the token":                  false, "": false,
	} {
		if isTrailer(line) != want {
			t.Errorf("isTrailer(%q) = %t", line, !want)
		}
	}
}

// TestCommitsCount has commits of the project and others, with what the call printed.
func TestCommitsCount(t *testing.T) {
	const made = "[main 1a2b3c4] Keep it\n 1 file changed"
	tests := []struct{ name, script, output, want string }{
		{"here", `git add -A && git commit -m "Keep it"`, made,
			"commit[passed]: committed: Keep it (1a2b3c4)"},
		{"anew", "git commit --amend --no-edit", made,
			"commit[passed]: committed: Keep it (1a2b3c4)"},
		{"a message in a file", "git commit -F msg.txt", made,
			"commit[passed]: committed: Keep it (1a2b3c4)"},
		{"of another branch", "git cherry-pick abc1234", made,
			"commit[passed]: committed: Keep it (1a2b3c4)"},
		{"against another", "git revert --no-edit HEAD", made,
			"commit[passed]: committed: Keep it (1a2b3c4)"},
		{"in a directory of the project", `cd /p/sub && git commit -m "Keep it"`, made,
			"commit[passed]: committed: Keep it (1a2b3c4)"},
		{"in a new repository here", `git init && git add . && git commit -m "Keep it"`, made,
			"commit[passed]: committed: Keep it (1a2b3c4)"},
		{"in a temporary directory", `cd /tmp/try && git commit -m "Keep it"`, made, "command"},
		{"with -C", `git -C /tmp/try commit -m "Keep it"`, made, "command"},
		{"in a directory of mktemp", `T=$(mktemp -d); cd "$T" && git commit -m "Keep it"`, made,
			"command"},
		{"in a new repository elsewhere", `mkdir t && cd t && git init && git commit -m "Keep it"`,
			made, "command"},
		{"in a clone", `git clone /p /q && cd /q && git commit -m "Keep it"`, made, "command"},
		{"where files are edited", `cd /tmp/work && git commit -m "Keep it"`, made,
			"commit[passed]: committed: Keep it (1a2b3c4)"},
		{"failed", `git commit -m "Keep it"`, "Exit code 1\nerror: nothing to commit",
			"commit[failed]: tried to commit: Keep it"},
	}
	here, other := "commit[passed]: committed: Keep it (1a2b3c4)", "command"
	for script, want := range map[string]string{
		`cd /home/u/p/sub && git commit -m "Keep it"`:                            here,
		`cd /home/u && git commit -m "Keep it"`:                                  here,
		`cd ~/p && git commit -m "Keep it"`:                                      here,
		`cd $HOME/p/sub && git commit -m "Keep it"`:                              here,
		`cd sub && cd .. && git commit -m "Keep it"`:                             here,
		`git -C . commit -m "Keep it"`:                                           here,
		`git -c user.name=x --no-pager commit -m "Keep it"`:                      here,
		`git --git-dir=.git commit -m "Keep it"`:                                 here,
		`git --git-dir /home/u/p/.git --work-tree /home/u/p commit -m "Keep it"`: here,
		`(cd ../other && git commit -m "Not it") && git commit -m "Keep it"`:     here,
		`cd ~/other && git commit -m "Keep it"`:                                  other,
		`cd ~ && git commit -m "Keep it"`:                                        other,
		`(cd ../other && git commit -m "Keep it")`:                               other,
		`git -C ../other commit -m "Keep it"`:                                    other,
		`git -C /home/u/other commit -m "Keep it"`:                               other,
		`git --git-dir=../other/.git commit -m "Keep it"`:                        other,
		`git --git-dir ~/other.git --work-tree ~/other commit -m "Keep it"`:      other,
		`GIT_DIR=../other/.git git commit -m "Keep it"`:                          other,
		`export GIT_DIR=../other/.git && git commit -m "Keep it"`:                other,
		`pushd ../other && git commit -m "Keep it"`:                              other,
		`pushd ../other && popd && git commit -m "Keep it"`:                      here,
		`cd ../edited && git commit -m "Keep it"`:                                here,
		`git log commit -m "Keep it"`:                                            other,
	} {
		t.Run(script, func(t *testing.T) {
			list := []Message{
				called("e", "Write", `{"file_path":"/home/u/edited/a.go","content":"x"}`),
				called("a", "bash", fmt.Sprintf(`{"command":%q}`, script)), answered("a", made)}
			list[0].Dir = "/home/u/p"
			if got := show(Of(numbered(list...))[1]); !strings.HasPrefix(got, want) {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			facts := Of(numbered(
				called("e", "Write", `{"file_path":"/tmp/work/a.go","content":"x"}`),
				called("a", "bash", fmt.Sprintf(`{"command":%q}`, tt.script)),
				answered("a", tt.output)))
			if got := show(facts[1]); !strings.HasPrefix(got, tt.want) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestBranchOfAFailedScript(t *testing.T) {
	check(t, []Message{called("a", "bash", `{"command":"git checkout -b v2 && ls nothing"}`),
		failedWith("a", "Switched to a new branch 'v2'\nls: nothing: No such file")},
		"command[failed]: ran git checkout -b v2 && ls nothing: failed", "branch: on branch v2",
		"failure: ls: nothing: No such file")
	check(t, []Message{called("a", "bash",
		`{"command":"git status --short && git branch --show-current"}`), answered("a", "?? x\nv2")},
		"command[passed]: ran git status --short && git branch --show-current",
		"branch: on branch v2")
	for script, output := range map[string]string{
		"git checkout -b a; git switch -c v2; echo done": "Switched to a new branch 'a'\n" +
			"Switched to a new branch 'v2'\ndone",
		"gh pr checkout 12":               "Switched to branch 'v2'\nYour branch is new",
		"git rev-parse --abbrev-ref HEAD": "v2",
		"cd /tmp/x && git init -q && git checkout -b a; cd -; git switch -q -c v2 && " +
			"git branch --show-current": "Switched to a new branch 'a'\nv2",
		"git checkout main && git pull; git st -": "Switched to branch 'main'\nSwitched to branch 'v2'",
	} {
		list := Of(numbered(called("a", "bash", fmt.Sprintf(`{"command":%q}`, script)),
			answered("a", output)))
		is := false
		for _, f := range list {
			is = is || f.Kind == Branch && f.Text == "on branch v2"
		}
		if !is {
			t.Errorf("%s: %+v", script, list)
		}
	}
	for script, name := range map[string]string{
		"git checkout -B x base -q": "x", "git checkout -q -b x": "x", "git switch -q -c x main": "x",
		"git switch --quiet --force-create x": "x", "git checkout -q main": "",
		"git -C ../other checkout -q -b x": "", "git branch -q x": "", "git checkout -b": "",
		"git branch -m x": "x", "git branch -M old x": "", "git branch -c x": ""} {
		want := []string{"command[passed]: ran " + script}
		if name != "" {
			want = append(want, "branch: on branch "+name)
		}
		check(t, []Message{called("a", "bash", fmt.Sprintf(`{"command":%q}`, script)),
			answered("a", "")}, want...)
	}
}

// The branch that a record names counts until a command of git prints another one, which is none of
// another repository.
func TestBranchOfTheRecord(t *testing.T) {
	at := func(dir, branch string, m Message) Message {
		m.Dir, m.Branch = dir, branch
		return m
	}
	status := called("a", "bash", `{"command":"cd /tmp/try && git status"}`)
	ran := "command[passed]: ran git status"
	printed := answered("a", "On branch try\nclean")
	output := "output: On branch try"
	check(t, []Message{at("/p", "fix", status), at("/p", "fix", printed)},
		"branch: on branch fix", ran, output)
	check(t, []Message{at("/p", "", status), at("/p", "", printed)}, ran, output)
	here := called("a", "bash", `{"command":"git status"}`)
	check(t, []Message{at("/p", "", here), at("/p", "", printed)},
		ran, "branch: on branch try", output)
	check(t, []Message{at("/p", "fix", here), at("/p/web", "main", printed)},
		"branch: on branch fix", ran, "branch: on branch main", "branch: on branch try", output)
	check(t, []Message{at("/p", "fix", called("a", "bash", `{"command":"sh harness.sh"}`)),
		at("/p", "fix", printed)}, "branch: on branch fix",
		"command[passed]: ran sh harness.sh", output)
	check(t, []Message{at("/p", "fix", here), at("/other", "main", printed)},
		"branch: on branch fix", ran, output)
	script := called("a", "bash", `{"command":"git checkout -b fix-2 && echo made"}`)
	check(t, []Message{at("/p", "fix", script), at("/p", "fix", answered("a", "made"))},
		"branch: on branch fix", "command[passed]: ran git checkout -b fix-2",
		"branch: on branch fix-2")
}
