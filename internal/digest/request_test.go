package digest

import (
	"fmt"
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
	} {
		facts := Of(numbered(called("a", "bash", fmt.Sprintf(`{"command":%q}`, c.script)),
			answered("a", c.output)))
		if got := facts[0].Text; got != c.want {
			t.Errorf("%s: %q, want %q", c.script, got, c.want)
		}
	}
	for _, no := range []string{"gh pr view 94", "gh pr create --help", "echo gh pr create",
		"gh issue create --title x"} {
		if _, opens := pullRequest(commandsOf(no)); opens {
			t.Errorf("%s opens one", no)
		}
	}
}
