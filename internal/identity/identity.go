// Package identity tells whose project a session is, by the directory in which it began: the
// project's own, or another checkout of its repository of git, wherever it is. It reads what git
// keeps of a work tree, and runs nothing. Begin with Project.Belongs, the rule, and with Look,
// which gathers what the rule needs.
package identity

import (
	"bufio"
	"bytes"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/durable"
)

// Checkout is what identifies the project of a directory; zero where there is no git.
type Checkout struct {
	Dir     string   // the work tree
	Common  string   // the directory that all work trees of the repository share
	Remotes []string // addresses, in one spelling; none that is a path
	// Origins are the repositories that remotes name by a path, as Common; a clone of one has it.
	Origins []string
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
		eachRemote(b, func(remote string) {
			if common := repositoryAt(root, remote); common != "" {
				c.Origins = append(c.Origins, common)
			}
		})
	}
	return c, true
}

// repositoryAt returns the directory of the repository that a remote of a work tree names by a
// path, "" for none.
func repositoryAt(root, remote string) string {
	path := strings.TrimPrefix(remote, "file://")
	if Address(remote) != "" || strings.Contains(path, "://") {
		return ""
	}
	path = under(root, path)
	for _, git := range [...]string{filepath.Join(path, ".git"), path, path + ".git"} {
		if common := commonDir(git); common != "" {
			return common
		}
	}
	return ""
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
	eachRemote(config, func(remote string) {
		if a := Address(remote); a != "" {
			list = append(list, a)
		}
	})
	slices.Sort(list)
	return slices.Compact(list)
}

// eachRemote calls visit with each remote in a configuration of git, as it is written there.
func eachRemote(config []byte, visit func(remote string)) {
	eachSetting(config, func(section, name, value string) {
		if section == "remote" && name == "url" {
			visit(value)
		}
	})
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

// same says why two checkouts are of one project, as the reasons of a verdict have it; "" if they
// are not. Where both have remotes with an address, these decide: a fork is another project. Common
// commits say nothing: projects that began with one template have them.
func same(a, b *Checkout) string {
	if a.Common == "" || b.Common == "" {
		return ""
	}
	if a.Common == b.Common {
		return whyTree
	}
	if len(a.Remotes) > 0 && len(b.Remotes) > 0 {
		if shared(a.Remotes, b.Remotes) {
			return whyRemote
		}
		return ""
	}
	if shared(append(slices.Clip(a.Origins), a.Common), append(slices.Clip(b.Origins), b.Common)) {
		return whyClone
	}
	return ""
}

// shared reports whether two lists have something in common.
func shared(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}
