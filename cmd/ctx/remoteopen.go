package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format/share"
	"github.com/gemini-ctx/ctx/internal/cli/environ"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/remote/git"
	"github.com/gemini-ctx/ctx/internal/remote/helper"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/sharing"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/refs"
)

// defaultRemote is the name that a remote has where none is given.
const defaultRemote = "origin"

// urlScheme returns what stands before the first colon, if it has the form of a scheme: two or more
// lower-case letters, digits and +. One letter is a drive.
func urlScheme(text string) string {
	scheme, _, found := strings.Cut(text, ":")
	if !found || len(scheme) < 2 {
		return ""
	}
	for _, c := range []byte(scheme) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '+' {
			return ""
		}
	}
	return scheme
}

// remoteURL returns the normal form of what a person gives as the place of a remote: with dir: or
// git+ in front, or the scheme of a helper.
func (a *app) remoteURL(text string) (string, error) {
	scheme := urlScheme(text)
	switch {
	case strings.HasPrefix(text, sealedPrefix):
		place, group := cutGroup(text)
		inner, err := a.remoteURL(strings.TrimPrefix(place, sealedPrefix))
		return sealedPrefix + inner + group, err
	case text == "", text == "dir:":
		return "", usagef("the place of the remote is empty")
	case scheme == "dir":
		path := strings.TrimPrefix(text, "dir:")
		if in, ok := strings.CutPrefix(path, "~/"); ok { // no shell knows it behind a colon
			path = filepath.Join(a.home, in)
		}
		if path = a.path(path); strings.Contains(filepath.ToSlash(path)+"/", "/.gemini/context/") {
			return "", usagef("the place of the remote is in a store: %q", path)
		}
		return "dir:" + path, nil
	case strings.HasPrefix(text, "git+") && strings.Contains(text, ":"):
		return text, nil
	case scheme == "http", scheme == "https", scheme == "ssh", scheme == "git", scheme == "file",
		strings.HasPrefix(text, "git@"):
		return "git+" + text, nil
	case scheme != "" && helper.Scheme(text) == "":
		return "", withHint(unknownKind(text), "a folder is dir:PATH, a git repository its path or URL")
	case scheme != "":
		return text, nil
	}
	text = strings.TrimPrefix(text, "git+")
	path := a.path(text)
	if isGit(path) {
		return "git+" + path, nil
	}
	return "", withHint(usagef("%q is not a git repository", oneLine(text)),
		"for a folder that is shared as it is, use dir:%s; `git init --bare %s` makes a repository",
		oneLine(text), oneLine(text))
}

// isGit reports whether a directory is a git repository, bare or not.
func isGit(path string) bool {
	for _, at := range []string{path, filepath.Join(path, ".git")} {
		head, err := os.Stat(filepath.Join(at, "HEAD"))
		config, err2 := os.Stat(filepath.Join(at, "config"))
		if err == nil && err2 == nil && head.Mode().IsRegular() && config.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// haveFolder returns an error if a remote is to be read and its folder is not there, or is one of
// something else: a name that is misspelled, or a disk that is not mounted, must not become an
// empty remote.
func haveFolder(url string) error {
	place, _ := cutGroup(url)
	for strings.HasPrefix(place, sealedPrefix) {
		place = strings.TrimPrefix(place, sealedPrefix)
	}
	path, ok := strings.CutPrefix(place, "dir:")
	if !ok {
		return nil
	}
	list, err := os.ReadDir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return withHint(fmt.Errorf("there is no folder %q", path),
			"is its disk mounted? the first `ctx push` to a remote makes the folder")
	case err == nil && len(list) > 0 && !slices.ContainsFunc(list, ofRemote):
		return withHint(fmt.Errorf("%q is a folder of something else, not a remote", path),
			"is its disk mounted? the first `ctx push` to a folder makes a remote of it")
	}
	return nil
}

// ofRemote reports whether a file has one of the names that a remote begins with: a program that
// syncs folders may bring the others first.
func ofRemote(e fs.DirEntry) bool {
	switch e.Name() {
	case "format", "heads", "stores", "lock":
		return true
	}
	return false
}

// usedRemote reports whether the store has put something on a remote, or seen what others did.
func usedRemote(view *refs.View, name string) bool {
	return view.Get(history.RemoteRefs+name).Exists() ||
		slices.ContainsFunc(view.Names(history.StoreRefs),
			func(ref string) bool { return strings.HasSuffix(ref, "/"+name) })
}

// openURL opens the remote at a place that remoteURL returned. name is that of the remote in the
// store.
func (a *app) openURL(s *session.Store, name, url string) (remote.Remote, error) {
	if err := haveFolder(url); err != nil {
		view, bad := s.Refs.Read()
		if bad != nil || usedRemote(view, name) {
			return nil, errors.Join(bad, err)
		}
	}
	if path, ok := strings.CutPrefix(url, "dir:"); ok {
		return remote.OpenDir(path, a.fs,
			lock.Owner{PID: a.pid, Store: s.ID, Command: a.command, Since: a.now()})
	}
	if where, ok := strings.CutPrefix(url, "git+"); ok {
		return git.Open(a.c, git.Config{
			URL: where, Bare: copyOf(s, name), Now: a.now, FS: a.fs, Owner: a.env().Owner,
		})
	}
	if helper.Scheme(url) == "" {
		return nil, unknownKind(url)
	}
	r, err := helper.Open(a.c, helper.Config{
		URL: url, Beside: environ.Beside(), Cache: copyOf(s, name),
	})
	if errors.Is(err, exec.ErrNotFound) {
		err = withHint(err,
			"`go install ./cmd/...` in the source of ctx puts the programs for remotes beside "+
				"it; others belong on PATH")
	}
	return r, err
}

// unknownKind returns the error about a place of which the beginning names no kind of remote.
func unknownKind(url string) error {
	return usagef("no kind of remote is known for %q", oneLine(withoutPassword(url)))
}

// warnHelper warns if the program for a remote is not there.
func (a *app) warnHelper(url string) {
	if strings.HasPrefix(url, "dir:") || strings.HasPrefix(url, "git+") {
		return
	}
	if program, _, err := helper.Find(helper.Scheme(url), environ.Beside()); err != nil {
		a.warn("there is no program " + program +
			" beside ctx or on PATH: nothing can be pushed or pulled")
	}
}

// copyOf returns the directory in which a store keeps a copy of a remote that is a git repository.
func copyOf(s *session.Store, name string) string {
	return filepath.Join(s.Dir, "cache", "remote-"+name+".git")
}

// tidyCopies packs the copies of the store's remotes. A failure is only a warning: the next push or
// pull looks after a copy that is damaged.
func (a *app) tidyCopies(s *session.Store) {
	dir := filepath.Dir(copyOf(s, ""))
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	for _, f := range files {
		if ok, _ := filepath.Match(filepath.Base(copyOf(s, "*")), f.Name()); ok {
			err = errors.Join(err,
				git.Collect(a.c,
					git.Config{Bare: filepath.Join(dir, f.Name()), Now: a.now, FS: a.fs,
						Owner: a.env().Owner}))
		}
	}
	if err != nil && a.c.Err() == nil {
		a.warn("the copy of a remote is not packed: " + err.Error())
	}
}

// sealedPrefix begins the URL of an encrypted remote. The URL of the place follows, and perhaps the
// group whose keys have to be there.
const sealedPrefix = "age+"

// groupSize is the number of digits of a group.
const groupSize = 32

// cutGroup cuts the group off the URL of an encrypted remote, with the # before it.
func cutGroup(url string) (place, group string) {
	at := len(url) - groupSize - 1
	if !strings.HasPrefix(url, sealedPrefix) || at < 0 || url[at] != '#' ||
		strings.Trim(url[at+1:], "0123456789abcdef") != "" {
		return url, ""
	}
	return url[:at], url[at:]
}

// hintSealed gives the error of a remote that was opened without the keys that it needs a hint.
func (a *app) hintSealed(err error, r remote.Remote, url string) error {
	b, bad := r.Get(a.c, share.FormatFile)
	if bad != nil || strings.HasPrefix(url, sealedPrefix) ||
		!strings.Contains(string(b), "\nfeature age\n") {
		return err
	}
	return withHint(err, "the remote is encrypted: its URL is %s%s", sealedPrefix,
		oneLine(withoutPassword(url)))
}

// namedRemote returns the remote of a name, or the only one, or origin.
func namedRemote(set repo.Remotes, args []string) (name string, r repo.Remote, err error) {
	name = defaultRemote
	switch {
	case len(args) > 0:
		name = args[0]
	case len(set.Remotes) == 1:
		for only := range set.Remotes {
			name = only
		}
	}
	r, ok := set.Remotes[name]
	switch {
	case !ok && len(set.Remotes) == 0:
		return "", r,
			withHint(notFound("the store has no remote"), "`ctx remote add origin URL` adds one")
	case !ok:
		known := slices.Sorted(maps.Keys(set.Remotes))
		if len(args) == 0 {
			return "", r, usagef("no remote is named, and none is called %s: there are %s",
				defaultRemote, oneLine(strings.Join(known, ", ")))
		}
		if near := repo.Nearest(name, known); near != "" {
			return "", r, withHint(notFound("remote %q", oneLine(name)), "did you mean `%s`?", near)
		}
		return "", r,
			withHint(notFound("remote %q", oneLine(name)),
				"`ctx remote list` lists the remotes of this store")
	}
	return name, r, nil
}

// remoteOf is namedRemote for the remotes of a store, which it returns, too.
func remoteOf(
	s *session.Store, args []string,
) (set repo.Remotes, name string, r repo.Remote, err error) {
	if set, err = s.Remotes(); err == nil {
		name, r, err = namedRemote(set, args)
	}
	return set, name, r, err
}

// useRemote opens the remote that args name, and what joins it with the store, for use.
func (a *app) useRemote(
	s *session.Store, args []string, use func(x *sharing.Sharer, name string) error,
) (err error) {
	set, name, which, err := remoteOf(s, args)
	if err != nil {
		return err
	}
	rule, err := sharing.ParseRule(which.Share)
	if err != nil {
		return err
	}
	r, err := a.openURL(s, name, which.URL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	x, err := sharing.Open(a.c, s.Opened, r, sharing.Options{
		Name: name, Label: a.label(set), Rule: rule, Allow: which.Allow,
		Progress: a.progress(), Forgetting: a.sayForgetting,
	})
	if err != nil {
		return fmt.Errorf("remote %s: %w", name, a.hintSealed(err, r, which.URL))
	}
	return use(x, name)
}

// onRemote returns the work of a command that uses the remote that the arguments name.
func (a *app) onRemote(
	use func(s *session.Store, x *sharing.Sharer, name string) error,
) runE {
	return a.onStore(func(s *session.Store, args []string) error {
		return a.useRemote(s, args,
			func(x *sharing.Sharer, name string) error { return use(s, x, name) })
	})
}

// label returns what others call this store: what is set, or the name of the machine.
func (a *app) label(set repo.Remotes) string {
	if set.Label != "" {
		return set.Label
	}
	host, _, _ := strings.Cut(strings.ToLower(a.host), ".")
	host = strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '-'
	}, host), "-")
	if host == "" {
		return "store"
	}
	return host[:min(len(host), 40)]
}

// remoteNames returns the names of remotes, in order.
func remoteNames(set repo.Remotes) []string {
	return slices.Sorted(maps.Keys(set.Remotes))
}
