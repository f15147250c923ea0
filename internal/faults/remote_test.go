package faults

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"

	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/remote/remotetest"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/sharing"
)

// others is a remote with what another store shares: a session, and a word that it has forgotten.
var others = sync.OnceValues(func() (*remotetest.Memory, error) {
	dir, err := os.MkdirTemp("", "ctx-others-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	w := &world{root: dir, now: written}
	e := w.env()
	if err := os.MkdirAll(e.WorkDir, 0o700); err != nil {
		return nil, err
	}
	e.Random = rand.NewChaCha8([32]byte(bytes.Repeat([]byte{9}, 32)))
	r, _, err := repo.Init(e, e.WorkDir)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	s := session.New(r)
	for i := range 12 {
		if err := say(s, "work", main, "user", fmt.Sprint("another store says ", i)); err != nil {
			return nil, err
		}
	}
	m := &remotetest.Memory{}
	x, err := share(s, m, "origin")
	if err == nil {
		_, err = x.Push(bg, sharing.PushOptions{})
	}
	if err == nil {
		_, err = forget.Run(bg, s.Opened, forget.Options{Text: "another store says 5"})
	}
	if err == nil {
		_, err = x.Push(bg, sharing.PushOptions{})
	}
	return m, err
})

// share joins a store with a remote; all sessions are shared.
func share(s *session.Store, r remote.Remote, name string) (*sharing.Sharer, error) {
	rule, err := sharing.ParseRule("all")
	if err != nil {
		return nil, err
	}
	return sharing.Open(bg, s.Opened, r, sharing.Options{Name: name, Label: "here", Rule: rule})
}

// push pushes everything to a remote that nobody has used, so that a second run has one of its own.
func push(s *session.Store) error {
	v, err := s.Refs.Read()
	if err != nil {
		return err
	}
	x, err := share(s, &remotetest.Memory{}, fmt.Sprint("r", v.Number))
	if err == nil {
		_, err = x.Push(bg, sharing.PushOptions{})
	}
	return err
}

// pull takes in what another store shares.
func pull(s *session.Store) error {
	m, err := others()
	if err != nil {
		return err
	}
	x, err := share(s, m.Clone(), "origin")
	if err == nil {
		_, err = x.Pull(bg)
	}
	return err
}
