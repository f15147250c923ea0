package brief

import (
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/digest"
)

func TestRoot(t *testing.T) {
	const win = `C:\Users\mia\shop`
	tests := []struct {
		name           string
		began, project string
		paths          string // of the session
		file, want     string
	}{
		{"where it began", "/p", "", "/p/net/a.go", "/p/net/a.go", "net/a.go"},
		{"a neighbour edited as often", "/d/p", "", "/d/p/a /d/p/b /d/lib/c /d/lib/e /d/lib/f",
			"/d/p/net/a.go", "net/a.go"},
		{"a file of the neighbour", "/d/p", "", "/d/p/a /d/lib/c", "/d/lib/c", "../lib/c"},
		{"a neighbour of longer name", "/d/p", "", "/d/p/a", "/d/p2/c", "../p2/c"},
		{"all files in one directory", "/p", "", "/p/net/a.go /p/net/b.go", "/p/net/a.go",
			"net/a.go"},
		{"a subdirectory of the project", "/p/web", "/p", "/p/web/a /p/api/b", "/p/web/a", "web/a"},
		{"beside a subdirectory", "/p/web", "/p", "/p/web/a /p/api/b", "/p/api/b", "api/b"},
		{"another project's store", "/p/web", "/q", "/p/web/a", "/p/web/a", "a"},
		{"a work tree in the project", "/p/.worktrees/x", "/p", "/p/.worktrees/x/a",
			"/p/.worktrees/x/a", "a"},
		{"below a work tree", "/p/.claude/worktrees/x/cmd", "/p", "/p/.claude/worktrees/x/a",
			"/p/.claude/worktrees/x/lib/a", "lib/a"},
		{"the main work tree, from another one", "/p/.worktrees/x", "/p", "/p/.worktrees/x/a",
			"/p/a", "/p/a"},
		{"the root itself", "/d/p", "", "/d/p/a", "/d/p", "."},
		{"the root itself on Windows", win, "", win + `\a`, win, "."},
		{"far away", "/d/p", "", "/d/p/a", "/tmp/c", "/tmp/c"},
		{"a work tree of another machine", "/Users/u/p/.worktrees/1/cmd", "/p",
			"/Users/u/p/.worktrees/1/a", "/Users/u/p/.worktrees/1/a", "a"},
		{"a work tree beside the project", "/p-fix", "/p", "/p-fix/a", "/p-fix/a", "a"},
		{"no file where it began", "/home/u", "", "/srv/p/a /srv/p/b/c", "/srv/p/b/c", "b/c"},
		{"relative names", "/p", "", "net/a.go", "net/a.go", "net/a.go"},
		{"a relative name in a subdirectory", "/p/web", "/p", "a.go", "a.go", "web/a.go"},
		{"a relative name that leads out", "/p/web", "/p", "../a.go", "../a.go", "a.go"},
		{"a relative name in a work tree", "/p/.worktrees/x/cmd", "/p", "a", "a", "cmd/a"},
		{"no beginning is known", "", "", "/p/a.go /p/q/b.go", "/p/q/b.go", "q/b.go"},
		{"only a project is known", "", "/p", "/p/q/a.go /p/q/b.go", "/p/q/b.go", "q/b.go"},
		{"four of five", "", "", "/p/1 /p/2 /p/3 /p/4 /tmp/5", "/p/1", "1"},
		{"three of four", "", "", "/p/1 /p/2 /p/3 /tmp/5", "/p/1", "/p/1"},
		{"nothing is known", "", "", "", "/p/1", "/p/1"},
		{"the whole file system", "/", "", "/p/1 /q/2", "/p/1", "/p/1"},
		{"a slash at the end", "/p/", "", "/p/1 /q/2", "/p/1", "1"},
		{"Windows", win, "", win + `\net\a.go`, win + `\net\a.go`, "net/a.go"},
		{"capitals of Windows", win, "", win + `\a`, `c:\users\mia\shop\net\a.go`, "net/a.go"},
		{"slashes on Windows", win, "", win + `\a`, "C:/Users/mia/shop/net/a.go", "net/a.go"},
		{"a neighbour on Windows", win, "", win + `\a`, `C:\Users\mia\lib\a.go`,
			"../lib/a.go"},
		{"another drive", win, "", win + `\a`, `D:\lib\a.go`, "D:/lib/a.go"},
		{"relative on Windows", win, "", win + `\a`, `net\a.go`, "net/a.go"},
		{"a server of Windows", `\\nas\shop`, "", `\\nas\shop\a`, `\\nas\shop\net\a.go`, "net/a.go"},
	}
	for _, tt := range tests {
		var list []digest.Fact
		for _, p := range strings.Fields(tt.paths) {
			list = append(list, read(p, ""))
		}
		if got := NewRoot(tt.began, tt.project).Of(list).Name(tt.file); got != tt.want {
			t.Errorf("%s: %s: got %q, want %q", tt.name, tt.file, got, tt.want)
		}
	}
}

func TestRootShortensTexts(t *testing.T) {
	tests := []struct{ began, text, want string }{
		{"/p", "go vet /p/net/a.go /p/b.go", "go vet net/a.go b.go"},
		{"/p", "cat /home/p/a.go ../p/a.go /p2/a", "cat /home/p/a.go ../p/a.go /p2/a"},
		{"/d/p", "diff /d/p/a /d/q/a", "diff a ../q/a"},
		{"/p", "cd /p && make", "cd /p && make"},
		{"/p", "cat '/p/a' \"/p/b\" --in=/p/c", "cat 'a' \"b\" --in=c"},
		{`C:\p`, `type C:\p\net\a.go C:/p/b.go`, `type net\a.go b.go`},
		{"", "cat /p/a", "cat /p/a"},
	}
	for _, tt := range tests {
		if got := NewRoot(tt.began, "").Shorten(tt.text); got != tt.want {
			t.Errorf("%s: %s: got %q, want %q", tt.began, tt.text, got, tt.want)
		}
	}
}
