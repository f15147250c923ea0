package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/sharing"
)

func newPullCmd(a *app) *cobra.Command {
	var back []string
	cmd := a.newCmd("pull [NAME]",
		a.onRemote(func(_ *session.Store, x *sharing.Sharer, name string) error {
			r, err := x.Pull(a.c, back...)
			a.printPull(name, r, err)
			if err != nil {
				return fmt.Errorf("cannot pull all of %s: %w", name, err)
			}
			return nil
		}))
	cmd.ValidArgsFunction = a.completeRemotes(false)
	cmd.Flags().StringArrayVar(&back, "back", nil, "bring back `SESSION`, which was removed here")
	return cmd
}

// printPull prints what came, a line for each session. bad is the error of the pull: what could not
// be looked at is not known to bring nothing.
func (a *app) printPull(name string, r sharing.PullReport, bad error) {
	if a.json {
		a.document("remote", name, "stores", append([]sharing.PulledStore{}, r.Stores...),
			"known", r.Known)
		return
	}
	var bytes int64
	for _, p := range r.Stores {
		for _, session := range p.Sessions {
			a.line("%s", oneLine(session))
		}
		for _, session := range p.Ended {
			a.line("%s  no longer shared", oneLine(session))
		}
		for _, session := range p.Removed {
			a.say("%s was removed here, and stays so: `ctx pull --back %s` brings it back",
				oneLine(session), oneLine(session))
		}
		if p.Forgot > 0 {
			a.say("%s has forgotten %s, and so has this store now", oneLine(p.Label),
				plural(p.Forgot, "body", "bodies"))
		}
		for _, id := range p.Asked {
			a.say(
				"%s has forgotten %v, which this store said itself: `ctx forget %v` forgets "+
					"it here", oneLine(p.Label), id.Short(shortLen), id.Short(shortLen))
		}
		bytes += p.Bytes
	}
	switch {
	case len(r.Stores) == 0 && bad != nil:
		return
	case len(r.Stores) == 0 && r.Known == 0:
		a.say("no other store shares anything on %s", name)
		return
	case len(r.Stores) == 0:
		a.say("nothing new on %s", name)
		return
	}
	a.say("pulled from %s: %s, %s", name, plural(len(r.Stores), "store", "stores"),
		byteCount(bytes))
}

// sayForgetting says what a pull is about to forget.
func (a *app) sayForgetting(label string, from []sharing.Going) {
	if a.json {
		return
	}
	for _, g := range from {
		of := "clusters and ended sessions"
		if g.Session != "" {
			of = oneLine(g.Session)
		}
		a.say("%s asks to forget, and this store forgets now: %s of %s", oneLine(label),
			plural(g.Bodies, "body", "bodies"), of)
	}
}

func newSyncCmd(a *app) *cobra.Command {
	return a.newCmd("sync [NAME]",
		a.onRemote(func(s *session.Store, x *sharing.Sharer, name string) error {
			pulled, pullErr := x.Pull(a.c)
			if errors.Is(pullErr, a.c.Err()) && a.c.Err() != nil {
				return pullErr
			}
			pushed, err := x.Push(a.c, sharing.PushOptions{})
			if a.json {
				a.printPull(name, pulled, pullErr)
				if err == nil {
					err = a.printPush(s, name, pushed, false)
				}
			}
			if err == nil {
				err = a.heldBack(name, pushed)
			}
			if err = errors.Join(pullErr, err); err != nil {
				return fmt.Errorf("cannot sync with %s: %w", name, err)
			}
			return nil
		}))
}

func newCloneCmd(a *app) *cobra.Command {
	var share string
	cmd := a.newCmd("clone URL [DIR]", func(args []string) (err error) {
		a.watchInterrupts()
		url, err := a.remoteURL(args[0])
		if err != nil {
			return err
		}
		if err := haveFolder(url); err != nil {
			return err
		}
		place, _ := cutGroup(url)
		target := path.Base(strings.TrimSuffix(strings.TrimRight(place, "/"), ".git"))
		if len(args) > 1 {
			target = args[1]
		}
		target = a.path(target)
		if err := os.MkdirAll(target, 0o777); err != nil {
			return err
		}
		r, created, err := repo.Init(a.env(), target)
		if err != nil {
			return err
		}
		a.opened = append(a.opened, r)
		a.placed(r, target, created)
		s := session.New(r)
		s.History.Warn = a.warn
		if !created {
			if err := mayGoOn(s, target, url); err != nil {
				return err
			}
		}
		if _, err := addRemote(s, defaultRemote,
			repo.Remote{URL: url, Share: share}); err != nil {
			return err
		}
		if strings.HasPrefix(url, sealedPrefix) {
			of, err := a.changeMembers(s, defaultRemote, url,
				remote.MemberChange{Do: remote.ListMembers})
			if err != nil {
				return err
			}
			if _, err := addRemote(s, defaultRemote,
				repo.Remote{URL: withGroup(url, of)}); err != nil {
				return err
			}
		}
		return a.useRemote(s, nil, func(x *sharing.Sharer, name string) error {
			pulled, err := x.Pull(a.c)
			a.printPull(name, pulled, err)
			if err != nil {
				return fmt.Errorf("cannot clone all of %s: %w", oneLine(withoutPassword(url)),
					err)
			}
			if len(pulled.Stores) == 0 && !a.json {
				a.say("no session yet: the first `ctx push` of another store brings some")
			}
			return nil
		})
	})
	cmd.Flags().StringVar(&share, "share", "", "share all, none, or `PATTERNS` with commas")
	return cmd
}

// mayGoOn returns an error unless a clone may go on in a store that is there: one that a clone of
// the same place has begun, in which nothing was said, or one that has nothing yet.
func mayGoOn(s *session.Store, target, url string) error {
	view, err := s.Refs.Read()
	if err != nil {
		return err
	}
	set, err := s.Remotes()
	if err != nil {
		return err
	}
	origin, begun := set.Remotes[defaultRemote]
	here, _ := cutGroup(url)
	there, _ := cutGroup(origin.URL)
	may := begun && here == there || !begun && view.Number == 0
	for _, ref := range view.Names("sessions/") {
		session, _, _ := history.BranchOfRef(ref)
		_, shared := history.Owner(view, session)
		may = may && shared
	}
	if !may {
		return withHint(fmt.Errorf("there is a store in %q", oneLine(target)),
			"`ctx remote add` adds the place to it")
	}
	return nil
}
