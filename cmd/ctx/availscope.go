package main

import (
	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/summarizer"
)

// sharedScope is the name of the scope that the whole store shares.
const sharedScope = "shared"

// availScope says which scope of marks a command reads and writes.
type availScope struct {
	cmd            *cobra.Command
	session, scope string
	own            bool // it is not what the store shares; known once it is open
}

// newCmd returns a command with the flags, whose arguments are names, see app.newCmd.
func (o *availScope) newCmd(a *app, use string, run runE) *cobra.Command {
	cmd := namesOnly(a.newCmd(use, run))
	o.cmd = cmd
	cmd.Flags().StringVarP(&o.session, "session", "s", "", "what this session knows")
	cmd.Flags().StringVar(&o.scope, "scope", "",
		"what is known under a `NAME`; "+sharedScope+" is the store's")
	a.completeFlag(cmd, "session", a.completeSessions())
	return cmd
}

// open opens the store and the file of the scope.
func (o *availScope) open(a *app) (*session.Store, *summarizer.HealthFile, error) {
	changed := func(name string) bool { return o.cmd != nil && o.cmd.Flags().Changed(name) }
	var err error
	switch {
	case changed("session") && changed("scope"):
		err = usagef("both -s and --scope")
	case changed("session"):
		err = checkName("session", o.session)
	case changed("scope"):
		err = checkName("scope", o.scope)
	}
	if err != nil {
		return nil, nil, err
	}
	s, err := a.openStore()
	if err != nil {
		return nil, nil, err
	}
	file := a.health(s)
	if o.scope != "" && o.scope != sharedScope {
		o.own = true
		file.Path = summarizer.ScopedHealthPath(s.Dir, "scope/"+o.scope)
	}
	if o.session != "" {
		view, err := s.Refs.Read()
		if err != nil {
			return nil, nil, err
		}
		if o.session, err = s.Recall.Named(view, o.session); err != nil {
			return nil, nil, err
		}
		whose, err := s.Conversation.HealthOf(view, o.session)
		if err != nil {
			return nil, nil, err
		}
		if whose != "" {
			o.own = true
			file.Path = sessionHealth(s, whose)
		}
	}
	return s, file, nil
}

// sessionHealth returns the path of the marks that belong to one session.
func sessionHealth(s *session.Store, name string) string {
	return summarizer.ScopedHealthPath(s.Dir, "session/"+name)
}
