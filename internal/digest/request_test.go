package digest

import (
	"fmt"
	"strings"
	"testing"
)

// What a script that opens a pull request becomes, with its output.
func TestRequest(t *testing.T) {
	const at = "https://github.com/someone/heron/pull/94\n"
	for _, c := range []struct{ script, output, want string }{
		{`gh pr create --title "Paint the heron" --body "It was grey"`, at,
			"opened PR #94: Paint the heron"},
		{"git push -u origin x && gh pr create -t 'Paint it' --fill", "Creating …\n" + at,
			"opened PR #94: Paint it"},
		{"gh pr create --title=Paint", "", "opened a pull request: Paint"},
		{"gh pr create --fill", at, "opened PR #94"},
		{"glab mr create --title Paint --yes", "https://gitlab.com/a/b/-/merge_requests/7\n",
			"opened PR #7: Paint"},
		{"gh pr create --fill", "https://forge.example/a/b/pulls/3", "opened PR #3"},
		{"gh pr create --fill", "see http://github.com/a/b/pull/3", "opened a pull request"},
		{"gh pr create --fill", "https://github.com/a/b/pull/new/x", "opened a pull request"},
		{"gh issue create -t 'It leaks'", "https://github.com/a/b/issues/12\n",
			"opened issue #12: It leaks"},
		{"jira issue create -s 'It leaks'", "https://a.example/browse/KEY-7\n",
			"opened issue KEY-7: It leaks"},
		{"glab issue create --title=Leak", "", "opened an issue: Leak"},
	} {
		facts := Of(numbered(called("a", "bash", fmt.Sprintf(`{"command":%q}`, c.script)),
			answered("a", c.output)))
		if got := facts[0].Text; got != c.want {
			t.Errorf("%s: %q, want %q", c.script, got, c.want)
		}
	}
	for _, c := range []struct{ tool, output, want string }{
		{"mcp__linear__create_issue", `{"id":"1","identifier":"ENT-241","title":"Leak"}`,
			"opened issue ENT-241: Leak"},
		{"github.create_pull_request", `{"url":"https://github.com/a/b/pull/9"}`,
			"opened PR #9: Leak"},
		{"mcp__jira__createJiraIssue", `{"key": "KEY-7"}`, "opened issue KEY-7: Leak"},
		{"mcp__linear__get_issue", `{"identifier":"ENT-241"}`, "linear get_issue: Leak"},
	} {
		facts := Of(numbered(called("a", c.tool, `{"title":"Leak"}`), answered("a", c.output)))
		if got := facts[0].Text; got != c.want {
			t.Errorf("%s: %q, want %q", c.tool, got, c.want)
		}
	}
	for _, no := range []string{"gh pr view 94", "gh pr create --help", "echo gh pr create",
		"gh issue list --title x"} {
		if key, _ := opens(commandsOf(no)); key != "" {
			t.Errorf("%s opens one", no)
		}
	}
}

// A pull request that was merged is told so: the newest, or the one with the number.
func TestMergedRequest(t *testing.T) {
	const at = "https://github.com/a/b/pull/94\n"
	for _, c := range []struct{ script, output, want string }{
		{"gh pr merge --squash", "", "merged PR #94: Paint it"},
		{"gh pr merge 94 --squash --delete-branch", "✓ Merged", "merged PR #94: Paint it"},
		{"gh pr merge " + at, "", "merged PR #94: Paint it"},
		{"gh pr checks && gh pr merge 7", "", "merged PR #7"},
		{"gh pr merge --auto --squash", "", ""},
		{"gh pr merge 94", "will be automatically merged", ""},
		{"gh pr merge --help", "", ""},
		{"gh pr view 94", "", ""},
	} {
		got := ""
		for _, f := range Of(numbered(called("a", "bash",
			`{"command":"gh pr create --title 'Paint it'"}`), answered("a", at),
			called("b", "bash", fmt.Sprintf(`{"command":%q}`, c.script)),
			answered("b", c.output))) {
			if f.IsRequest() && strings.HasPrefix(f.Text, "merged") {
				got = f.Text
			}
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.script, got, c.want)
		}
	}
}
