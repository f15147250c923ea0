package catalog

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/identity"
)

// Env is the part of the environment that decides where agents keep their files.
type Env struct {
	Get  func(name string) string // an environment variable
	Home string                   // the home directory; "" if there is none
}

// under returns the directory that a variable names, or else standard under the home directory, and
// then below in it.
func (e Env) under(variable, standard, below string) string {
	dir := e.Get(variable)
	if dir == "" && e.Home != "" {
		dir = filepath.Join(e.Home, filepath.FromSlash(standard))
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, below)
}

// IsHere reports whether the agent is on this machine: look finds its program, as exec.LookPath
// does, or it has left files.
func (a *Agent) IsHere(e Env, look func(program string) (string, error)) bool {
	if a.Program == "" {
		return false
	}
	if _, err := look(a.Program); err == nil {
		return true
	}
	root := a.Root(e)
	if root == "" {
		return false
	}
	signs := a.Signs
	if signs == nil {
		signs = []string{"."}
	}
	return slices.ContainsFunc(signs, func(sign string) bool {
		_, err := os.Stat(filepath.Join(root, sign))
		return err == nil
	})
}

// beside are how names of files end that stand beside transcripts: the list of the others that
// Continue, and what is made of it, has; what OpenClaw measures of a session.
var beside = [...]string{"sessions.json", ".trajectory.jsonl"}

func isBeside(file string) bool {
	return slices.ContainsFunc(beside[:], func(end string) bool {
		return strings.HasSuffix(Plain(filepath.Base(file)), end)
	})
}

// Sessions lists the transcripts of the agent under root, those of subagents last. only, if it is
// not nil, says which: no other file is opened.
func (a *Agent) Sessions(root string, only func(file string) bool) (list []Begun) {
	if a.Find != nil {
		return a.Find(root, only)
	}
	patterns := slices.Clone(a.Files)
	for _, dir := range inEditors(a.Editors) {
		for _, pattern := range a.InEditors {
			patterns = append(patterns, dir+pattern)
		}
	}
	for _, pattern := range patterns {
		for _, file := range transcripts(root, pattern) {
			if isBeside(file) || !wanted(only, file) {
				continue
			}
			b := Begun{File: file, Session: a.Began(file)}
			if a.Folder != nil {
				b.Folder = a.Folder(file)
			}
			list = append(list, b)
		}
	}
	return list
}

// SessionsWithin lists the transcripts that the agent keeps in the directory of a project. Where
// several are copies of one session, it is the longest: the others say the same in other forms.
func (a *Agent) SessionsWithin(dir string) (list []Begun) {
	places := map[string]int{} // of the copies, by session
	for _, pattern := range a.Within {
		for _, file := range transcripts(dir, pattern) {
			if a.CopyOf != nil {
				id := a.CopyOf(file)
				if at, again := places[id]; again && id != "" {
					if sizeOf(file) > sizeOf(list[at].File) {
						list[at].File = file
					}
					continue
				}
				places[id] = len(list)
			}
			list = append(list, Begun{File: file, Session: identity.Session{Dir: dir}})
		}
	}
	return list
}

// sizeOf returns the size of a file; 0 if it cannot be told.
func sizeOf(file string) int64 {
	info, err := os.Stat(file)
	if err != nil {
		return 0
	}
	return info.Size()
}

// glob lists the files that match a pattern with slashes, under dir.
func glob(dir, pattern string) []string {
	if os.PathSeparator != '\\' { // a backslash cannot be quoted
		dir = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
	}
	// The pattern is good
	files, _ := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
	return files
}

// transcripts is glob for files that somebody may have packed.
func transcripts(dir, pattern string) []string {
	return unpacked(slices.DeleteFunc(glob(dir, pattern+"*"), func(file string) bool {
		ok, _ := path.Match(path.Base(pattern), filepath.Base(Plain(file)))
		return !ok
	}))
}

// maxSettings is the most that is read of a file that describes sessions.
const maxSettings = 4 << 20
