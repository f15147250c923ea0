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
// repository that dir is in, which is no file of the project. A line before them says for whom and
// for which directory they are, so that Include takes the same lines away. Without git it does
// nothing.
func Exclude(fsys *durable.FS, dir, owner string, patterns ...string) error {
	root, common, ok := identity.Enclosing(dir)
	if !ok {
		return nil
	}
	return exclude(fsys, common, ownerLine(root, dir, owner), patterns...)
}

// Include takes away the lines that Exclude has written for an owner, byte for byte. A file that
// has nothing else goes.
func Include(fsys *durable.FS, dir, owner string, patterns ...string) error {
	root, common, ok := identity.Enclosing(dir)
	if !ok {
		return nil
	}
	path := filepath.Join(common, "info", "exclude")
	text, perm, err := readExclude(path)
	lines := slices.Collect(strings.Lines(text))
	at := slices.IndexFunc(lines, isLine(ownerLine(root, dir, owner)))
	torn := false // the line before had no end
	if at < 0 {
		at = slices.IndexFunc(lines, isLine(ownerLine(root, dir, owner)+tornLine))
		torn = true
	}
	if err != nil || at < 0 {
		return err
	}
	end := at + 1
	for end < len(lines) && slices.Contains(patterns, strings.TrimSpace(lines[end])) {
		end++
	}
	last := end == len(lines)
	text = strings.Join(slices.Delete(lines, at, end), "")
	if torn && last {
		text = strings.TrimSuffix(text, "\n")
	}
	if text == "" {
		return fsys.Remove(path)
	}
	return fsys.WriteFile(path, []byte(text), perm, false)
}

// maxExclude limits how many bytes of info/exclude are read.
const maxExclude = 1 << 20

// ownerMark begins the line before the patterns of an owner, and tornLine ends it where the file
// did not end with a line feed.
const (
	ownerMark = "# ctx install "
	tornLine  = " (the line before had no end)"
)

// ownerLine is the line before the patterns of an owner. Work trees share the file.
func ownerLine(root, dir, owner string) string {
	below, err := filepath.Rel(root, dir)
	if err != nil {
		below = dir
	}
	return fmt.Sprintf("%s%s: %q of %q", ownerMark, owner, filepath.ToSlash(below),
		filepath.Base(root))
}

func isExcluded(common, pattern string) bool {
	b, err := durable.ReadAtMost(filepath.Join(common, "info", "exclude"), maxExclude)
	return err == nil && hasLine(string(b), pattern)
}

func isLine(want string) func(string) bool {
	return func(line string) bool { return strings.TrimSpace(line) == want }
}

func hasLine(text, line string) bool {
	return slices.ContainsFunc(slices.Collect(strings.Lines(text)), isLine(line))
}

// others returns a text without the lines that owners have.
func others(text string) string {
	var out strings.Builder
	owned := false
	for line := range strings.Lines(text) {
		owned = strings.HasPrefix(line, ownerMark) ||
			owned && (strings.HasPrefix(line, "*") || strings.HasPrefix(line, "**/"))
		if !owned {
			out.WriteString(line)
		}
	}
	return out.String()
}

// readExclude reads info/exclude; "" where there is none. It follows no link there: a repository
// may have come with the project.
func readExclude(path string) (text string, perm fs.FileMode, err error) {
	perm = 0o644
	for _, name := range []string{filepath.Dir(path), path} {
		at, err := os.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return "", perm, err
		case at.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0:
			return "", perm, fmt.Errorf("%q is a link", name)
		case name == path:
			b, err := durable.ReadAtMost(path, maxExclude)
			return string(b), at.Mode().Perm(), err
		}
	}
	return "", perm, nil
}

// exclude adds patterns that nobody has written to info/exclude of a repository, behind the line
// of an owner; "" for none.
func exclude(fsys *durable.FS, common, owner string, patterns ...string) error {
	info := filepath.Join(common, "info")
	path := filepath.Join(info, "exclude")
	text, perm, err := readExclude(path)
	there := !slices.ContainsFunc(patterns, func(p string) bool { return !isExcluded(common, p) })
	if there && (err != nil || owner == "") { // behind a link, too
		return nil
	}
	if err := mkdir(fsys, info); err != nil {
		return err
	}
	if err != nil {
		return fmt.Errorf("%w: add to it the line %s", err, strings.Join(patterns, " and the line "))
	}
	if owner != "" && (hasLine(text, owner) || hasLine(text, owner+tornLine)) {
		return nil
	}
	missing := slices.DeleteFunc(slices.Clone(patterns),
		func(p string) bool { return hasLine(others(text), p) })
	if len(missing) == 0 {
		return nil
	}
	torn := text != "" && !strings.HasSuffix(text, "\n")
	if torn {
		text += "\n"
	}
	if owner != "" && torn {
		owner += tornLine
	}
	if owner != "" {
		text += owner + "\n"
	}
	return fsys.WriteFile(path, []byte(text+strings.Join(missing, "\n")+"\n"), perm, false)
}
