package catalog

import (
	"encoding/json"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/gemini-ctx/ctx/internal/identity"
)

// Stranger is an agent that leaves sessions in known places, and whose sessions no reader takes.
type Stranger struct {
	Title string // for people: "Zed"
	// Homes are directories below the home directory, with slashes, and Files patterns of sessions
	// below each.
	Homes, Files []string
}

// inEditors returns the directories in which editors that are made of VS Code keep the files of a
// user. Where none are named, they are VS Code and its relatives.
func inEditors(editors []string) (dirs []string) {
	own := editors == nil
	if own {
		editors = []string{"Code", "Code - Insiders", "VSCodium", "Cursor"}
	}
	for _, base := range []string{".config", "Library/Application Support", "AppData/Roaming"} {
		for _, editor := range editors {
			dirs = append(dirs, base+"/"+editor+"/User/")
		}
	}
	if own {
		dirs = append(dirs, ".vscode-server/data/User/")
	}
	return dirs
}

// strangers returns the rows. The places are those that the agents' own documents name.
func strangers() []Stranger {
	return []Stranger{
		{Title: "Cline", Homes: []string{".cline"}, Files: []string{"data/sessions/*/*.messages.json"}},
		{Title: "Kimi CLI", Homes: []string{".kimi"}, Files: []string{"sessions/*/*.jsonl"}},
		{Title: "Vibe", Homes: []string{".vibe"}, Files: []string{"logs/session/*.json"}},
		{Title: "gptme", Homes: []string{".local/share/gptme"}, Files: []string{"logs/*/*.jsonl"}},
	}
}

// StrangerOf returns whose session a file is that no reader takes, by its path; ok is false for any
// other file.
func StrangerOf(file string) (s Stranger, ok bool) {
	names := strings.Split(filepath.ToSlash(file), "/")
	for _, s := range strangers() {
		var patterns []string
		for _, home := range s.Homes {
			for _, pattern := range s.Files {
				patterns = append(patterns, path.Join(path.Base(home), pattern))
			}
		}
		for _, pattern := range patterns {
			n := len(names) - 1 - strings.Count(pattern, "/")
			if n < 0 {
				continue
			}
			if ok, _ := path.Match(pattern, strings.Join(names[n:], "/")); ok {
				return s, true
			}
		}
	}
	return Stranger{}, false
}

// Strange is a place with sessions of a project that no reader takes.
type Strange struct {
	Title    string
	Place    string // a directory
	Sessions int
}

// The most files of an agent that are looked at, and the bytes at the beginning of each.
const (
	maxStrange  = 4000
	strangeHead = 256 << 10
)

// Strangers returns the places that have sessions of a project. look says which sessions are its
// own. It opens only regular files, and keeps nothing of them.
func Strangers(e Env, look *identity.Look) (list []Strange) {
	named := regexp.MustCompile(dirPattern) // here: no program needs it at its start
	for _, s := range strangers() {
		for _, home := range s.Homes {
			if e.Home == "" {
				continue
			}
			place := filepath.Join(e.Home, filepath.FromSlash(home))
			found := Strange{s.Title, place, 0}
			for _, pattern := range s.Files {
				files := glob(place, pattern)
				for _, file := range files[:min(len(files), maxStrange)] {
					if isOf(named, file, look) {
						found.Sessions++
					}
				}
			}
			if found.Sessions > 0 {
				list = append(list, found)
			}
		}
	}
	return list
}

// isOf reports whether a file is of a project.
func isOf(named *regexp.Regexp, file string, look *identity.Look) bool {
	b := beginning(file, strangeHead)
	where := namedDir(named, b)
	if where == "" { // of VS Code, which keeps it beside
		beside := filepath.Join(filepath.Dir(file), "../workspace.json")
		where = namedDir(named, beginning(beside, strangeHead))
	}
	return where != "" && look.Belongs(&identity.Session{Dir: where}).Ours
}

// beginning returns the first bytes of a regular file, without a mark of Unicode; none if it cannot
// be read.
func beginning(file string, most int64) []byte {
	in, end, err := open(file)
	if err != nil {
		return nil
	}
	defer end()
	b, _ := io.ReadAll(io.LimitReader(in, most)) // a part is as good
	return []byte(strings.TrimPrefix(string(b), "\ufeff"))
}

// dirPattern finds the directory that a session names: by a member of JSON, or in the words with
// which Cline tells the model.
const dirPattern = `"(?:cwd|workspaceDirectory|workspace_dir|working_dir|working_directory|` +
	`workingDirectory|work_dir|workspacePath|folder)"\s*:\s*("(?:[^"\\]|\\.)*")|` +
	`Current (?:Working|Workspace) Directory \(([^()"]+)\)`

// namedDir returns the first directory that a session names; "" for none.
func namedDir(named *regexp.Regexp, b []byte) string {
	m := named.FindSubmatch(b)
	if m == nil {
		return ""
	}
	dir := string(m[2])
	if m[1] != nil && json.Unmarshal(m[1], &dir) != nil {
		return ""
	}
	return localDir(dir)
}

// localDir returns a directory on this machine that a session names as a path or as a URL; "" for
// none.
func localDir(dir string) string {
	if u, err := url.Parse(dir); err == nil && u.Scheme == "file" {
		dir = strings.TrimPrefix(u.Path, "/")
		if os.PathSeparator == '/' {
			dir = u.Path
		}
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return dir
}
