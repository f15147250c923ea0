package digest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/prose"
)

// TestCommitsOfScripts has scripts that commit, what they printed, and the facts of the commits.
func TestCommitsOfScripts(t *testing.T) {
	const (
		one = "[main 1a2b3c4] One\n 1 file changed\n"
		two = "[main 2b3c4d5] Two\n 1 file changed\n"
	)
	for _, c := range []struct {
		name, script, output string
		fails                bool
		want                 string
	}{
		{"several", `git commit -m One && git commit -m Two`, one + two, false,
			"commit[passed]: committed: One (1a2b3c4)\ncommit[passed]: committed: Two (2b3c4d5)"},
		{"several, quietly", `git commit -qm One; git commit -qm Two`, "", false,
			"commit[passed]: committed: One\ncommit[passed]: committed: Two"},
		{"the second failed", `git commit -m One && git commit -m Two`, one + "error: no", true,
			"commit[passed]: committed: One (1a2b3c4)\n" +
				"commit[failed]: tried to commit: Two: failed\n" +
				"failure: error: no"},
		{"what follows failed", `git commit -m One && git push`, one + "error: no such remote", true,
			"commit[passed]: committed: One (1a2b3c4)\nfailure: error: no such remote"},
		{"a message from a variable", `git commit -m "$M" && git push`, one + "error: no such remote",
			true, "commit[passed]: committed: $M (1a2b3c4)\nfailure: error: no such remote"},
		{"of a merge", `git add -A && git commit --no-edit`, "[topic 1a2b3c4] Merge branch 'main'\n",
			false, "commit[passed]: committed: Merge branch 'main' (1a2b3c4)"},
		{"of a merge that went on", `GIT_EDITOR=true git merge --continue`,
			"[topic 1a2b3c4] Merge branch 'main'\n", false,
			"commit[passed]: committed: Merge branch 'main' (1a2b3c4)"},
		{"none, and another command", `git commit -m One; echo done`,
			"error: pathspec 'x' did not match\ndone", false,
			"commit[failed]: tried to commit: One"},
		{"none", `git commit -m One && git push`, "error: no such path", true,
			"commit[failed]: tried to commit: One: failed\nfailure: error: no such path"},
	} {
		t.Run(c.name, func(t *testing.T) {
			args, _ := json.Marshal(map[string]string{"command": c.script})
			result := answered("a", c.output)
			if c.fails {
				result = failedWith("a", c.output)
			}
			check(t, []Message{called("a", "bash", string(args)), result}, c.want)
		})
	}
}

// TestAmended has a commit that is made anew: it alone stands.
func TestAmended(t *testing.T) {
	for script, want := range map[string]string{
		"git commit --amend -m Two":           "committed: Two (2b3c4d5)",
		"git commit --amend --no-edit":        "committed: Two (2b3c4d5)",
		"git commit -q --amend --no-edit":     "committed: One",
		"git commit -qm Two":                  "committed: One (1a2b3c4); committed: Two",
		"git -C /tmp/x commit --amend -m Two": "committed: One (1a2b3c4)",
	} {
		args, _ := json.Marshal(map[string]string{"command": script})
		output := "[main 2b3c4d5] Two"
		if prose.HasAny(script, []string{" -q"}) {
			output = ""
		}
		d := Digester{}
		d.Add(numbered(called("1", "bash", `{"command":"git commit -m One"}`),
			answered("1", "[main 1a2b3c4] One"), called("2", "bash", string(args)),
			answered("2", output)))
		got := ""
		for _, i := range d.commits(-1) {
			if got != "" {
				got += "; "
			}
			got += d.Made[i].Text
		}
		if got != want {
			t.Errorf("%s: %s, want %s", script, got, want)
		}
	}
}

// TestTaskOutcome has what Claude Code tells of a command in the background.
func TestTaskOutcome(t *testing.T) {
	for end, want := range map[string]string{
		"<status>completed</status>\n\n<exit_code>0</exit_code>\n\n<output>\nok\n</output>": "[passed]: " +
			"ran make",
		"<status>failed</status>\n<exit_code>2</exit_code>": "[failed]: ran make: exit status 2",
		"<status>completed</status>\n<exit_code>1</exit_code>\n<stderr>x</stderr>": "[failed]: ran " +
			"make: exit status 1",
		"<status>failed</status>":  "[failed]: ran make: failed",
		"<status>killed</status>":  ": ran make",
		"<status>running</status>": ": ran make: in the background as b1",
	} {
		for _, lead := range []string{
			"<retrieval_status>success</retrieval_status>\n\n<task_id>b1</task_id>\n\n", ""} {
			d := Digester{}
			d.Add(numbered(called("1", "Bash", `{"command":"make"}`),
				answered("1", "Command running in background with ID: b1. Output is elsewhere."),
				called("2", "BashOutput", `{"bash_id":"b1"}`), answered("2", lead+end)))
			if got := "command" + want; show(d.Made[0]) != got {
				t.Errorf("%s%s: %s, want %s", lead, end, show(d.Made[0]), got)
			}
			d.Add([]Message{called("3", "BashOutput", `{"bash_id":"b1"}`),
				answered("3", "<status>completed</status>\n<exit_code>1</exit_code>")})
			if runs := d.Made[0].State == Failed; want[0] == ':' && want != ": ran make" && !runs {
				t.Errorf("%s%s: the end is not known: %s", lead, end, show(d.Made[0]))
			}
		}
	}
}

// TestCommitsElsewhere has commands that begin beside the project, as their record or the call
// says, or that work in a clone: what they commit, and where they end, is not the project's.
func TestCommitsElsewhere(t *testing.T) {
	const began = "/home/ada/shop"
	for _, c := range []struct{ name, dir, workdir, script, output, want string }{
		{"in the project", began, "", "git commit -m One", "[main 1a2b3c4] One",
			"committed: One (1a2b3c4)"},
		{"below it", began, began + "/web", "git commit -m One", "[main 1a2b3c4] One",
			"committed: One (1a2b3c4)"},
		{"its record is elsewhere", "/tmp/try", "", "git commit -m One", "[main 1a2b3c4] One",
			"ran git commit -m One"},
		{"its call is elsewhere", began, "/tmp/try", "git commit -m One", "[main 1a2b3c4] One",
			"ran git commit -m One"},
		{"back in the project", began, "/tmp/try", "cd " + began + " && git commit -m One",
			"[main 1a2b3c4] One", "committed: One (1a2b3c4)"},
		{"a branch of a clone", began, "",
			"git clone -q . /tmp/c && cd /tmp/c && git switch -c scratch",
			"Switched to a new branch 'scratch'", "ran git clone -q . /tmp/c"},
	} {
		args, _ := json.Marshal(map[string]string{"cmd": c.script, "workdir": c.workdir})
		list := []Message{asked("Go on."), called("a", "exec_command", string(args)),
			answered("a", c.output)}
		list[0].Dir, list[1].Dir, list[2].Dir = began, c.dir, c.dir
		got := ""
		for _, f := range Of(list) {
			if f.Kind == Branch {
				t.Errorf("%s: %s", c.name, f.Text)
			}
			if f.Kind == Commit || f.Kind == Command {
				got = f.Text
			}
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
