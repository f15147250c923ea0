package catalog

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
	"github.com/gemini-ctx/ctx/internal/identity"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Folder is where an agent keeps the transcripts of one directory, and of others whose names it
// writes alike: its name says where to look, and never whose they are.
type Folder struct {
	Path string
	// Exact says that no two directories have a folder with this name: it is a digest.
	Exact bool
	// fits says whether the agent would keep the sessions of a directory here.
	fits func(dir string) bool
	// there returns the directories on this machine that fit; nil where only a name can be tried.
	there func() []string
}

// newFolder describes a folder. names returns the names that the agent may give to that of a
// directory; said are directories that the agent says the folder is of.
func newFolder(path string, names func(dir string) []string, said ...string) *Folder {
	name := filepath.Base(path)
	fits := func(dir string) bool {
		return dir != "" && slices.ContainsFunc(names(dir), func(of string) bool {
			return name == of || len(of) > claudecode.MaxSlug &&
				strings.HasPrefix(name, of[:claudecode.MaxSlug]+"-")
		})
	}
	return &Folder{Path: path, fits: fits, there: sync.OnceValue(func() []string {
		list := slices.DeleteFunc(said, func(dir string) bool { return !fits(dir) })
		for _, top := range topsOf(name) {
			list = append(list, below(top, name, names, fits)...)
		}
		return spelledOnce(list)
	})}
}

// oneName makes names for newFolder of an agent that has one name for each directory.
func oneName(slug func(dir string) string) func(dir string) []string {
	return func(dir string) []string { return []string{slug(dir)} }
}

// topsOf returns the directories that a directory with a folder of a name can be in.
func topsOf(name string) []string {
	if os.PathSeparator != '\\' {
		return []string{"/"}
	}
	return []string{name[:min(1, len(name))] + `:\`}
}

// below returns the directories in dir that fit. It reads only directories whose own name leads to
// that of the folder.
func below(
	dir, name string, names func(string) []string, fits func(string) bool,
) (list []string) {
	for _, entry := range namesIn(dir) {
		path := filepath.Join(dir, entry)
		if fits(path) && identity.IsDir(path) {
			list = append(list, path)
		}
		if slices.ContainsFunc(names(path), func(of string) bool {
			return len(of) < len(name) && strings.HasPrefix(name, of+"-")
		}) {
			list = append(list, below(path, name, names, fits)...)
		}
	}
	return list
}

// spelledOnce returns directories without those that are another one by a link.
func spelledOnce(dirs []string) (list []string) {
	seen := map[string]bool{}
	for _, dir := range dirs {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			real = dir
		}
		if !seen[real] {
			seen[real] = true
			list = append(list, dir)
		}
	}
	return list
}

// There returns the directories on this machine for which the agent would name the folder so.
func (f *Folder) There() []string {
	if f == nil || f.there == nil {
		return nil
	}
	return f.there()
}

// maxBelow is how many directories in a project are tried for a folder that has a digest as its
// name.
const maxBelow = 4096

// inside returns directories, and those in them.
func inside(dirs []string) (list []string) {
	for _, dir := range dirs {
		left := maxBelow
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return nil // what cannot be read has no directories
			}
			if name := d.Name(); name == ".git" || name == "node_modules" {
				return fs.SkipDir
			}
			if left--; left < 0 {
				return fs.SkipAll
			}
			list = append(list, path)
			return nil
		})
	}
	return list
}

// maxPath is the longest path that is looked for.
const maxPath = 1 << 10

// pathsThatFit returns the directories that fit, and that absolute paths in a file are, or are in,
// until enough says so. of returns what counts of a record.
func pathsThatFit(
	file string, fits func(dir string) bool, of func(jsonvalue.Object) string,
	enough func(found []string) bool,
) (found []string) {
	headsOf(file, "/", func(o jsonvalue.Object) bool {
		text := of(o)
		for at := 0; at < len(text); at++ {
			if text[at] != '/' || at > 0 && isName(text[at-1]) {
				continue
			}
			dir := prefixThatFits(text[at:min(len(text), at+maxPath)], fits)
			if dir != "" && !slices.Contains(found, dir) {
				if found = append(found, dir); enough(found) {
					return false
				}
			}
		}
		return true
	})
	return found
}

func prefixThatFits(path string, fits func(dir string) bool) string {
	for end := 1; end < len(path); end++ {
		if (path[end] == '/' || !isName(path[end])) && fits(path[:end]) {
			return path[:end]
		}
		if path[end] == '"' || path[end] == '\\' {
			return ""
		}
	}
	return ""
}

// isName reports whether a byte is one of a name in a path that needs no quotes.
func isName(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80 ||
		strings.IndexByte("/._-+@~", c) >= 0
}
