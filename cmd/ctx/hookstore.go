package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/internal/hooks"
	"github.com/gemini-ctx/ctx/internal/identity"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
)

// hearTime is how long an agent may take to say what a call of a hook is about. What it says later
// goes to the store of the directory where the hook was called.
const hearTime = time.Second

// storeOf opens the store that a call of a hook is for; nil for none. It is the store of the
// directory in which the session began, wherever the agent went since: so a hook records what an
// import of that project takes. Where nothing says that directory, or nothing is there any more,
// the one in which the agent works decides. CTX_DIR decides for all.
func (a *app) storeOf(
	ctx context.Context, agent *hooks.Agent, in *hooks.Heard,
) (*session.Store, error) {
	if a.getenv("CTX_DIR") != "" {
		return a.storeAt(a.dir)
	}
	began, works := in.Places(ctx)
	for n, of := range began {
		dir, there := leftOf(of.Dir)
		s, err := a.storeAt(dir)
		if err != nil {
			return nil, err
		}
		if s != nil && (there || identity.Below(of.Dir, a.projectDir(s))) {
			in.Choose(n)
			return s, nil
		}
	}
	for _, dir := range []string{works, a.dir} {
		if _, there := leftOf(dir); !there {
			continue
		}
		s, err := a.storeAt(dir)
		if err != nil {
			return nil, err
		}
		if s != nil {
			return a.ifOurs(s, agent, in, began)
		}
	}
	return nil, nil
}

// ifOurs returns a store if one of the sessions is of its project, or nothing is left of where they
// began. Else it says so in the store, and returns nil.
func (a *app) ifOurs(
	s *session.Store, agent *hooks.Agent, in *hooks.Heard, began []identity.Session,
) (*session.Store, error) {
	if ok, _ := s.Allowed(); !ok || len(began) == 0 {
		return s, nil // the caller asks again whether it is allowed
	}
	known, err := notedPaths(s)
	if err != nil {
		return nil, err
	}
	look, _ := a.lookFor(s, known, nil)
	for n := range began {
		if _, there := leftOf(began[n].Dir); !there || look.Belongs(&began[n]).Ours {
			in.Choose(n)
			return s, nil
		}
	}
	in.LeaveOut(s, agent, began[0].Dir)
	return nil, nil
}

// noteTrees notes a work tree outside of the project in which a session began that a hook has
// recorded: an import takes what else was said there, once the tree is gone.
func (a *app) noteTrees(ctx context.Context, s *session.Store, in *hooks.Heard) error {
	began, _ := in.Places(ctx)
	for _, of := range began {
		if of.Dir == "" || identity.Below(of.Dir, a.projectDir(s)) {
			continue
		}
		noted, err := notedPaths(s)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(noted,
			func(top string) bool { return identity.Below(of.Dir, top) }) {
			continue
		}
		look, _ := a.lookFor(s, noted, nil)
		if v := look.Belongs(&of); v.Ours && v.Of != "" {
			if err := a.notePaths(s, noted, []string{v.Of}); err != nil {
				return err
			}
		}
	}
	return nil
}

// storeAt opens the store that a command in a directory would use; nil for none.
func (a *app) storeAt(dir string) (*session.Store, error) {
	if dir == "" {
		return nil, nil
	}
	was := a.dir
	a.dir = dir
	s, err := a.openStore()
	if errors.Is(err, repo.ErrNoStore) {
		a.dir = was
		return nil, nil
	}
	return s, err
}

// leftOf returns a directory, or the nearest one above it that is there, and whether it is there
// itself; "" for a path of another system, and for none.
func leftOf(dir string) (left string, there bool) {
	if !filepath.IsAbs(dir) {
		return "", false
	}
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil && info.IsDir() {
			return at, at == filepath.Clean(dir)
		}
		if at == filepath.Dir(at) {
			return "", false
		}
	}
}
