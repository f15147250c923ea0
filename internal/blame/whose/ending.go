package whose

import (
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/identity"
	"github.com/gemini-ctx/ctx/internal/session"
)

// The most files that are looked at for one whose path ends as somebody says, and how many of
// several are named.
const (
	mostWalked = 100_000
	mostNamed  = 3
)

// ending returns the one file of the project whose path ends in the name that was asked for. path
// is where that name leads, and no file. The error is one of usage, with the files if there are
// several.
func ending(s *session.Store, path, asked string) (string, error) {
	none := command.WithHint(command.Usagef("cannot read %.200q: no such file", path),
		"`ctx log --file FILE` has what changed a file that is gone")
	name := filepath.Clean(filepath.FromSlash(asked))
	dir, here := strings.CutSuffix(path, string(filepath.Separator)+name)
	if !here || asked == "" {
		return "", none
	}
	root, _, inGit := identity.Enclosing(dir)
	if !inGit {
		root = filepath.Dir(filepath.Dir(s.Dir))
	}
	var found []string
	walked := 0
	_ = filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		hidden := strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"
		switch walked++; {
		case walked > mostWalked:
			return filepath.SkipAll
		case d.IsDir() && (err != nil || hidden && at != root):
			return filepath.SkipDir
		case d.Type().IsRegular() && strings.HasSuffix(at, string(filepath.Separator)+name):
			found = append(found, at)
		}
		return nil
	}) // what cannot be read has no file that could be named
	switch {
	case len(found) == 1 && walked <= mostWalked:
		return found[0], nil
	case len(found) == 0:
		return "", none
	}
	var names []string
	for _, at := range found[:min(len(found), mostNamed)] {
		rel, _ := filepath.Rel(dir, at) // both are below root
		names = append(names, filepath.ToSlash(rel))
	}
	return "", command.WithHint(none, "did you mean %s?", strings.Join(names, " or "))
}
