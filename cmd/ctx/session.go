package main

import (
	"strconv"

	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/spf13/cobra"
)

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

func newSessionShowCmd(a *app) *cobra.Command {
	return a.newCmd("show [SESSION]",
		a.onView(func(s *session.Store, view *refs.View, args []string) error {
			return showSession(a, s, view, args)
		}))
}

// showSession shows the session of the argument, or the one that HEAD names.
func showSession(a *app, s *session.Store, view *refs.View, args []string) error {
	one, err := sessionNamed(s, view, args)
	if err != nil {
		return err
	}
	d := document.OverviewOf(&one)
	if a.json {
		return a.answer(d)
	}
	if !a.nul {
		alone := one
		alone.Parent = nil // the last line says it
		a.line("%s  %s\n%s", a.paint(styleID, oneLine(sessions.ShortName(view, one.Name))),
			a.sessionTitle(&one), a.sessionDetails(&alone, 0))
		if err := a.sayWork(s, &one); err != nil {
			return err
		}
	}
	var rows [][]string
	for i, b := range d.Branches {
		rows = append(rows, []string{
			b.Name, strconv.FormatUint(b.Seq, 10), strconv.FormatUint(b.Frontier, 10),
			strconv.FormatUint(b.Through, 10),
			short(s, one.Branches[i].Value.ID),
		})
	}
	a.titled([]string{"BRANCH", "MESSAGES", "IN CLUSTERS", "RENDERED AS CLUSTERS", "TIP"}, rows)
	if d.Parent != nil {
		a.line("%s", parentText(d.Parent))
	}
	return nil
}

// sayWork says how many turns a session has, what was changed in it, and how it ended.
func (a *app) sayWork(s *session.Store, one *sessions.Overview) error {
	main := sessions.MainOf(&one.Session)
	turns, err := s.Recall.Turns(history.BranchName{Session: one.Name, Branch: main.Name},
		main.Value)
	if err != nil || len(turns) == 0 {
		return err
	}
	a.line("%s", plural(len(turns), "turn", "turns"))
	last := &turns[len(turns)-1]
	a.table(append(workOf(turns), []string{"last", oneLine(last.Wanted)},
		[]string{"", oneLine(last.Came())}))
	return nil
}

// sessionNamed returns the session of the argument, or the session that HEAD names.
func sessionNamed(s *session.Store, view *refs.View, args []string) (sessions.Overview, error) {
	name := ""
	if len(args) > 0 {
		if name = args[0]; name == "" {
			return sessions.Overview{}, checkName("session", name)
		}
	}
	name, err := sessionOr(s, view, name)
	if err != nil {
		return sessions.Overview{}, err
	}
	list, err := s.Recall.Overviews(view)
	for _, one := range list {
		if one.Name == name {
			return one, err
		}
	}
	if err == nil {
		err = notFound("no session %q", name)
	}
	return sessions.Overview{}, err
}

func newSessionUseCmd(a *app) *cobra.Command {
	return a.newCmd("use SESSION",
		a.onView(func(s *session.Store, view *refs.View, args []string) error {
			if args[0] == "-" {
				args[0] = "@{-1}" // as git has it
			}
			name, err := s.Recall.Named(view, args[0])
			if err == nil {
				err = s.Conversation.Use(a.c, name)
			}
			if err == nil && a.json {
				err = a.answer("head", name)
			}
			return err
		}))
}

func newSessionRmCmd(a *app) *cobra.Command {
	var force bool
	cmd := a.newCmd("rm SESSION",
		a.onView(func(s *session.Store, view *refs.View, args []string) error {
			one, err := sessionNamed(s, view, args)
			if err != nil {
				return err
			}
			titled := oneLine(s.Recall.Titled(view, one.Name))
			if !force {
				n := int(document.SessionOf(one.Session).Messages)
				if err := a.confirm("remove session %s with %s", titled,
					plural(n, "message", "messages")); err != nil {
					return err
				}
			}
			n, workers, err := s.Conversation.RemoveTree(a.c, one.Name)
			if err != nil {
				return err
			}
			if len(workers) > 0 {
				a.say("%s went with it",
					plural(len(workers), "session of a subagent", "sessions of subagents"))
			}
			if one.Head {
				if err := s.FollowPerson(a.c, view); err != nil {
					return err
				}
			}
			// Mostly not there; another session of the name would ask once less
			_ = a.fs.Remove(sessionHealth(s, one.Name))
			return a.result(fields("session", one.Name, "messages", n), "removed session %s: %s",
				titled, plural(n, "message", "messages"))
		}))
	cmd.ValidArgsFunction = a.completeSessions()
	cmd.Flags().BoolVarP(&force, "force", "f", false, "do not ask")
	return cmd
}
