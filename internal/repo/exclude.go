package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/identity"
)

// Exclude has git pass over files of this machine alone, by patterns in info/exclude of the
// repository that dir is in, which is no file of the project. Without git it does nothing.
func Exclude(fsys *durable.FS, dir string, patterns ...string) error {
	_, common, ok := identity.Enclosing(dir)
	if !ok {
		return nil
	}
	return exclude(fsys, common, patterns...)
}

// maxExclude limits how many bytes of info/exclude are read.
const maxExclude = 1 << 20

func isExcluded(common, pattern string) bool {
	b, err := durable.ReadAtMost(filepath.Join(common, "info", "exclude"), maxExclude)
	return err == nil && hasLine(string(b), pattern)
}

func hasLine(text, line string) bool {
	for l := range strings.Lines(text) {
		if strings.TrimSpace(l) == line {
			return true
		}
	}
	return false
}

// exclude adds patterns to info/exclude of a repository. It follows no link there: a repository may
// have come with the project.
func exclude(fsys *durable.FS, common string, patterns ...string) error {
	missing := slices.DeleteFunc(slices.Clone(patterns),
		func(p string) bool { return isExcluded(common, p) })
	if len(missing) == 0 {
		return nil
	}
	add := strings.Join(missing, "\n") + "\n"
	info := filepath.Join(common, "info")
	path := filepath.Join(info, "exclude")
	if err := mkdir(fsys, info); err != nil {
		return err
	}
	perm, text := fs.FileMode(0o644), ""
	for _, name := range []string{info, path} {
		at, err := os.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return err
		case at.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0:
			return fmt.Errorf("%q is a link: add to it the line %s", name,
				strings.Join(missing, " and the line "))
		case name == path:
			b, err := durable.ReadAtMost(path, maxExclude)
			if err != nil {
				return err
			}
			perm, text = at.Mode().Perm(), string(b)
		}
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return fsys.WriteFile(path, []byte(text+add), perm, false)
}
