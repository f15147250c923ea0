package main

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/sharing"
	"github.com/gemini-ctx/ctx/sanitize"
)

func newRemoteAddCmd(a *app) *cobra.Command {
	var share string
	var members []string
	cmd := a.newCmd("add NAME URL", a.onStore(func(s *session.Store, args []string) error {
		url, err := a.remoteURL(args[1])
		if err != nil {
			return err
		}
		if len(members) > 0 && !strings.HasPrefix(url, sealedPrefix) {
			return usagef("--member is for an encrypted remote: %s%s", sealedPrefix,
				oneLine(withoutPassword(url)))
		}
		set, err := s.Remotes()
		if err != nil {
			return err
		}
		if strings.HasPrefix(url, sealedPrefix) {
			if err := mayAdd(set, args[0], repo.Remote{URL: url, Share: share}); err != nil {
				return err
			}
			if url, err = a.beginSealed(s, set, args[0], url, members); err != nil {
				return err
			}
		}
		r, err := addRemote(s, args[0], repo.Remote{URL: url, Share: share})
		if err != nil {
			return err
		}
		a.warnHelper(r.URL)
		if shareText(r) == "none" {
			a.say(
				"hint: nothing is shared yet: `ctx config set remote.%s.share all`, or "+
					"patterns of sessions", args[0])
		}
		return a.result(fields("remote", args[0], "url", withoutPassword(r.URL), "share",
			shareText(r)),
			"%s %s", args[0], oneLine(withoutPassword(r.URL)))
	}))
	cmd.Flags().StringVar(&share, "share", "", "share all, none, or `PATTERNS` with commas")
	cmd.Flags().StringArrayVar(&members, "member", nil,
		"encrypt it to `[NAME=]RECIPIENT`; may be given again")
	return cmd
}

// addRemote adds a remote, and returns it. One that is there with the same place keeps its rule,
// unless another is given.
func addRemote(s *session.Store, name string, r repo.Remote) (repo.Remote, error) {
	set, err := s.Remotes()
	if err != nil {
		return r, err
	}
	if err := mayAdd(set, name, r); err != nil {
		return r, err
	}
	if old, ok := set.Remotes[name]; ok && r.Share == "" {
		r.Share, r.Allow = old.Share, old.Allow
	}
	if set.Remotes == nil {
		set.Remotes = map[string]repo.Remote{}
	}
	set.Remotes[name] = r
	return r, s.SetRemotes(set)
}

// mayAdd returns an error for a remote that cannot be added. The same place again, with or without
// the group whose keys are there, is the same remote.
func mayAdd(set repo.Remotes, name string, r repo.Remote) error {
	if err := repo.CheckRemoteName(name); err != nil {
		return usagef("%v", err)
	}
	if _, err := sharing.ParseRule(r.Share); err != nil {
		return usagef("%v", err)
	}
	old, ok := set.Remotes[name]
	here, group := cutGroup(r.URL)
	there, before := cutGroup(old.URL)
	if ok && (here != there || group != "" && before != "" && group != before) {
		return withHint(fmt.Errorf("remote %s is %s", name, withoutPassword(old.URL)),
			"`ctx remote rm %s` removes it, or choose another name", name)
	}
	return nil
}

func shareText(r repo.Remote) string {
	return cmp.Or(r.Share, "none")
}

// withoutPassword returns a URL as it may be shown.
func withoutPassword(url string) string {
	if shown, _, err := sanitize.Text([]byte(url)); err == nil {
		url = string(shown) // a secret may stand in the query
	}
	scheme, rest, ok := strings.Cut(url, "://")
	end := strings.IndexByte(rest, '/')
	if end < 0 {
		end = len(rest)
	}
	at := strings.LastIndexByte(rest[:end], '@')
	if !ok || at < 0 {
		return url
	}
	user, _, secret := strings.Cut(rest[:at], ":")
	if secret {
		user += ":…"
	}
	return scheme + "://" + user + rest[at:]
}

func newRemoteListCmd(a *app) *cobra.Command {
	return a.newCmd("list", a.onStore(func(s *session.Store, _ []string) error {
		set, err := s.Remotes()
		if err != nil {
			return err
		}
		l := a.listing()
		for _, name := range remoteNames(set) {
			url, share := withoutPassword(set.Remotes[name].URL), shareText(set.Remotes[name])
			l.add(fields("remote", name, "url", url, "share", share), name, oneLine(url),
				"shares "+oneLine(share))
		}
		return l.print()
	}))
}

func newRemoteRmCmd(a *app) *cobra.Command {
	cmd := a.newCmd("rm NAME", a.onStore(func(s *session.Store, args []string) error {
		set, name, _, err := remoteOf(s, args)
		if err != nil {
			return err
		}
		if err := sharing.Leave(a.c, s.Opened, name); err != nil {
			return err
		}
		delete(set.Remotes, name)
		if err := s.SetRemotes(set); err != nil {
			return err
		}
		return a.result(fields("removed", name), "removed %s", name)
	}))
	cmd.ValidArgsFunction = a.completeRemotes(false)
	return cmd
}

func newRemoteTestCmd(a *app) *cobra.Command {
	cmd := a.newCmd("test [NAME]", a.onStore(func(s *session.Store, args []string) (err error) {
		_, name, which, err := remoteOf(s, args)
		if err != nil {
			return err
		}
		r, err := a.openURL(s, name, which.URL)
		if err != nil {
			return err
		}
		defer func() { err = joinClose(err, r) }()
		id := make([]byte, 8)
		if _, err := io.ReadFull(a.random, id); err != nil {
			return err
		}
		if err := prove(a.c, r, hex.EncodeToString(id)); err != nil {
			return fmt.Errorf("remote %s: %w", name, err)
		}
		heads, err := r.List(a.c, "heads/")
		if err != nil {
			return fmt.Errorf("remote %s: %w", name, err)
		}
		return a.result(fields("remote", name, "ok", true, "stores", len(heads)), "%s: ok, %s",
			name, plural(len(heads), "store", "stores"))
	}))
	cmd.ValidArgsFunction = a.completeRemotes(false)
	return cmd
}

// prove checks a remote in its own way, or else in the way that fits all.
func prove(c context.Context, r remote.Remote, id string) error {
	if own, ok := r.(remote.Checker); ok {
		return own.Check(c)
	}
	return remote.Prove(c, r, id)
}

// joinClose closes a remote behind its use.
func joinClose(err error, r remote.Remote) error {
	if bad := r.Close(); err == nil {
		err = bad
	}
	return err
}
