// Package identity tells whose project a session is, by the directory in which it began: the
// project's own, or another checkout of its repository of git, wherever it is. It reads what git
// keeps of a work tree, and asks git itself only for the first commits. Begin with Project.Belongs,
// the rule, and with Look, which gathers what the rule needs.
package identity

import (
	"bufio"
	"bytes"
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/gitfile"
)

// Checkout is what identifies the project of a directory; zero where there is no git.
type Checkout struct {
	Dir     string   // the work tree
	Common  string   // the directory that all work trees of the repository share
	Remotes []string // addresses, in one spelling; none that is a path
}

// maxConfig is the most that is read of a file of git.
const maxConfig = 1 << 20

// Of returns the checkout that a directory is in. It follows a work tree to its repository.
func Of(dir string) (c Checkout, ok bool) {
	root, common, ok := Enclosing(dir)
	if !ok {
		return Checkout{}, false
	}
	c = Checkout{Dir: root, Common: common}
	if b, err := durable.ReadAtMost(filepath.Join(common, "config"), maxConfig); err == nil {
		c.Remotes = Remotes(b)
	}
	return c, true
}

// commonDir returns the directory of the repository that a .git belongs to: a directory, or a file
// that names one. It is "" if there is none, and for a marker.
func commonDir(git string) string {
	info, err := os.Stat(git)
	if err != nil {
		return ""
	}
	if !info.IsDir() {
		to, ok := readLink(git)
		if !ok {
			return ""
		}
		git = to
	}
	if b, err := durable.ReadAtMost(filepath.Join(git, "commondir"), maxConfig); err == nil {
		git = under(git, strings.TrimSpace(string(b)))
	}
	if !isRepository(git) {
		return ""
	}
	if real, err := filepath.EvalSymlinks(git); err == nil {
		git = real
	}
	return git
}

func under(dir, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// Remotes returns the addresses of the remotes in a configuration of git, as Address spells them,
// sorted.
func Remotes(config []byte) (list []string) {
	eachSetting(config, func(section, name, value string) {
		if section != "remote" || name != "url" {
			return
		}
		if a := Address(value); a != "" {
			list = append(list, a)
		}
	})
	slices.Sort(list)
	return slices.Compact(list)
}

// eachSetting calls visit with each setting in a configuration of git: the section without the name
// in quotes, and the setting, both in lower case, and the value.
func eachSetting(config []byte, visit func(section, name, value string)) {
	section := ""
	lines := bufio.NewScanner(bytes.NewReader(config))
	lines.Buffer(nil, maxConfig)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if rest, ok := strings.CutPrefix(line, "["); ok {
			rest, _, _ = strings.Cut(rest, "]")
			section, _, _ = strings.Cut(strings.ToLower(rest), " ")
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok {
			continue
		}
		visit(section, strings.ToLower(strings.TrimSpace(name)),
			strings.Trim(strings.TrimSpace(value), `"`))
	}
}

// Address returns the address of a repository in one spelling, host and path: without scheme, user,
// port and ending. It is "" for a path, which says nothing on another machine or after a move.
func Address(remote string) string {
	host, path := "", ""
	if strings.Contains(remote, "://") {
		u, err := url.Parse(remote)
		if err != nil || u.Scheme == "file" {
			return ""
		}
		host, path = u.Hostname(), u.Path
	} else { // user@host:path
		var ok bool
		host, path, ok = strings.Cut(remote, ":")
		if !ok || strings.ContainsAny(host, `/\`) || len(host) < 2 { // a letter is a drive
			return ""
		}
		host = host[strings.LastIndexByte(host, '@')+1:]
	}
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	if path = strings.TrimRight(path, "/"); host == "" || path == "" {
		return ""
	}
	return strings.ToLower(host) + "/" + path
}

// same says why two checkouts are of one project: "the same repository", "the same remote" or "the
// same first commit"; "" if they are not. Where both have remotes, the remotes decide: forks have
// common commits. roots returns the first commits of a checkout.
func same(a, b *Checkout, roots func(*Checkout) []string) string {
	if a.Common == "" || b.Common == "" {
		return ""
	}
	if a.Common == b.Common {
		return whyTree
	}
	if len(a.Remotes) > 0 && len(b.Remotes) > 0 {
		if slices.ContainsFunc(a.Remotes,
			func(r string) bool { return slices.Contains(b.Remotes, r) }) {
			return whyRemote
		}
		return ""
	}
	first := roots(a)
	if len(first) > 0 &&
		slices.ContainsFunc(roots(b),
			func(id string) bool { return slices.Contains(first, id) }) {
		return "the same first commit"
	}
	return ""
}

// rootsTime is how long git may look for first commits: a long history takes it seconds.
const rootsTime = 5 * time.Second

// roots returns the commits without parents that HEAD has in a work tree; none where git does not
// tell. No setting of that repository can run a program.
func roots(ctx context.Context, dir string) []string {
	ctx, cancel := context.WithTimeout(ctx, rootsTime)
	defer cancel()
	out, err := gitfile.Run(ctx, dir, "", "rev-list", "--max-parents=0", "HEAD")
	if err != nil {
		return nil
	}
	return strings.Fields(out)
}
