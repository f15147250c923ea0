package identity

import (
	"os"
	"path/filepath"
	"testing"
)

// TestMainWorkTree has a row for each way in which a directory can be, or not be, a linked work
// tree. The files are those that git writes.
func TestMainWorkTree(t *testing.T) {
	for name, row := range map[string]struct {
		common, config string // of the repository, below the root
		link, back     string // of the linked work tree in wt: its .git, and the gitdir of it
		want           string // below the root; "" for none
	}{
		"beside the project":     {"p/.git", "", "../p/.git/worktrees/wt", "../../../../wt/.git", "p"},
		"another tree is listed": {"p/.git", "", "../p/.git/worktrees/wt", "../../../../p/.git/HEAD", ""},
		"none is listed":         {"p/.git", "", "../p/.git/worktrees/wt", "", ""},
		"a whole repository":     {"p/.git", "", "../p/.git", "../../../../wt/.git", ""},
		"nowhere":                {"p/.git", "", "../q/.git/worktrees/wt", "../../../../wt/.git", ""},
		"of a submodule": {"p/.git/modules/m", "[core]\n\tworktree = ../../../m\n",
			"../p/.git/modules/m/worktrees/wt", "../../../../../../wt/.git", "p/m"},
		"of a bare repository": {"p.git", "[core]\n\tbare = true\n", "../p.git/worktrees/wt",
			"../../../wt/.git", "p.git"},
		"of a bare repository that a .git file names": {"b/.bare", "[core]\n\tbare = true\n",
			"../b/.bare/worktrees/wt", "../../../../wt/.git", "b"},
		"of a git directory elsewhere": {"far.git", "[core]\n\tbare = false\n",
			"../far.git/worktrees/wt", "../../../wt/.git", ""},
	} {
		t.Run(name, func(t *testing.T) {
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			write := func(path, text string) {
				path = filepath.Join(root, filepath.FromSlash(path))
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write("b/.git", "gitdir: ./.bare\n")
			write("p/m/file", "")
			write(row.common+"/HEAD", "ref: refs/heads/main\n")
			write(row.common+"/config", row.config)
			write(row.common+"/worktrees/wt/HEAD", "ref: refs/heads/wt\n")
			write(row.common+"/worktrees/wt/commondir", "../..\n")
			if row.back != "" {
				write(row.common+"/worktrees/wt/gitdir", row.back+"\n")
			}
			write("wt/.git", "gitdir: "+row.link+"\n")
			write("wt/below/file", "")
			got, ok := MainWorkTree(filepath.Join(root, "wt"))
			if want := filepath.Join(root, filepath.FromSlash(row.want)); ok != (row.want != "") ||
				ok && got != want {
				t.Errorf("got %q, %v; want %q", got, ok, row.want)
			}
			if got, ok := MainWorkTree(filepath.Join(root, "wt", "below")); ok {
				t.Errorf("below the root: %q", got)
			}
		})
	}
}

// A marker is no repository: the project around it is.
func TestEnclosingPassesMarkers(t *testing.T) {
	root := t.TempDir()
	for path, head := range map[string]string{".git": "ref: refs/heads/main\n",
		".gemini/context/.git": MarkerHEAD, "nested/.git": "ref: refs/heads/none\n"} {
		dir := filepath.Join(root, filepath.FromSlash(path))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "HEAD"), []byte(head), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for dir, want := range map[string]string{".gemini/context": "", ".gemini/context/.git": "",
		".gemini": "", "nested": "nested"} {
		got, _, ok := Enclosing(filepath.Join(root, filepath.FromSlash(dir)))
		if !ok || got != filepath.Join(root, want) {
			t.Errorf("from %q: %q, %v", dir, got, ok)
		}
	}
}
