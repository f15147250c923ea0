package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/document"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session"
)

func newSessionCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "session list|show|use|rm|link|state|model",
		Short:   "List, show, choose and remove sessions, and what is kept with them",
		Long:    long("A session is one conversation, with one or more branches. HEAD names the one that commands mean when none is named."),
		Example: "  ctx session list\n  ctx session use work",
		Args:    noSuchCommand,
		RunE:    needsCommand,
	}
	cmd.AddCommand(newSessionListCmd(a), newSessionShowCmd(a), newSessionUseCmd(a), newSessionRmCmd(a),
		newSessionLinkCmd(a), newSessionStateCmd(a), newSessionModelCmd(a))
	return cmd
}

// sessionDoc is a session as session list and show print it with --json.
type sessionDoc = document.Session

func sessionDocOf(s session.Session) sessionDoc { return document.SessionOf(s) }

func newSessionListCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the sessions",
		Long:    long("Lists the sessions by name, with their branches and how many messages they have. HEAD's has a star.", exitNoStore, exitCorrupt),
		Example: "  ctx session list --json",
		Args:    between(0, 0),
		RunE: func(*cobra.Command, []string) error {
			s, view, err := a.openView()
			if err != nil {
				return err
			}
			list, err := s.Sessions(view)
			if err != nil {
				return err
			}
			var rows [][]string
			for _, one := range list {
				d := sessionDocOf(one)
				if a.json {
					if err := a.printJSON(d); err != nil {
						return err
					}
					continue
				}
				star := " "
				if d.Head {
					star = "*"
				}
				row := []string{star, d.Session, plural(len(d.Branches), "branch", "branches"), plural(int(d.Messages), "message", "messages")}
				if d.Parent != nil {
					row = append(row, parentText(d.Parent))
				}
				rows = append(rows, row)
			}
			a.table(rows)
			return nil
		},
	}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

func newSessionShowCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "show [SESSION]",
		Short:             "Show a session's branches",
		Long:              long("Shows a session, HEAD's if none is named: of each branch its tip, its messages, and how far they went into clusters.", exitNoStore, exitCorrupt, exitNotFound),
		Example:           "  ctx session show work",
		Args:              between(0, 1),
		ValidArgsFunction: a.completeSessions(),
		RunE: func(_ *cobra.Command, args []string) error {
			s, view, err := a.openView()
			if err != nil {
				return err
			}
			one, err := sessionNamed(s, view, args)
			if err != nil {
				return err
			}
			d := sessionDocOf(one)
			if a.json {
				return a.printJSON(d)
			}
			var rows [][]string
			for i, b := range d.Branches {
				rows = append(rows, []string{
					b.Name, strconv.FormatUint(b.Seq, 10), strconv.FormatUint(b.Frontier, 10), strconv.FormatUint(b.Through, 10),
					short(s, one.Branches[i].Value.ID),
				})
			}
			a.titled([]string{"BRANCH", "MESSAGES", "GRADUATED", "IN CLUSTERS AS RENDERED", "TIP"}, rows)
			if d.Parent != nil {
				a.line("%s", parentText(d.Parent))
			}
			return nil
		},
	}
}

// sessionNamed returns the session of the argument, or HEAD's.
func sessionNamed(s *session.Store, view *refs.View, args []string) (session.Session, error) {
	name := ""
	if len(args) > 0 {
		name = args[0]
		if err := checkName("session", name); err != nil {
			return session.Session{}, err
		}
	}
	name, err := sessionOr(view, name)
	if err != nil {
		return session.Session{}, err
	}
	list, err := s.Sessions(view)
	for _, one := range list {
		if one.Name == name {
			return one, err
		}
	}
	if err == nil {
		err = notFound("no session %q", name)
	}
	return session.Session{}, err
}

func newSessionUseCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "use SESSION",
		Short:             "Make HEAD name a session",
		Long:              long("Makes HEAD name a session: the one that commands mean when none is named.", exitNoStore, exitLocked, exitCorrupt, exitNotFound),
		Example:           "  ctx session use work",
		Args:              between(1, 1),
		ValidArgsFunction: a.completeSessions(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkName("session", args[0]); err != nil {
				return err
			}
			s, view, err := a.openView()
			if err != nil {
				return err
			}
			name, err := session.Named(view, args[0])
			if err == nil {
				err = s.Use(cmd.Context(), name)
			}
			if err == nil && a.json {
				err = a.printJSON(map[string]any{"v": 1, "head": name})
			}
			return err
		},
	}
}

func newSessionRmCmd(a *app) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "rm SESSION",
		Short: "Remove a session",
		Long: long(`Removes a session and takes its messages out of the clusters. Asks on a terminal; elsewhere it needs --force. The words stay in
the store until gc finds that nothing names them any more; until then `+"`ctx undo -s SESSION`"+` brings the session back.`,
			exitNoStore, exitLocked, exitCorrupt, exitNotFound),
		Example:           "  ctx session rm scratch --force",
		Args:              between(1, 1),
		ValidArgsFunction: a.completeSessions(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkName("session", args[0]); err != nil {
				return err
			}
			s, view, err := a.openView()
			if err != nil {
				return err
			}
			one, err := sessionNamed(s, view, args)
			if err == nil && one.Name != args[0] {
				err = withHint(notFound("no session %q", args[0]), "to remove it, give the whole name: %s", one.Name)
			}
			if err != nil {
				return err
			}
			if !force {
				if err := a.confirm("remove session %s with %s", one.Name, plural(int(sessionDocOf(one).Messages), "message", "messages")); err != nil {
					return err
				}
			}
			n, err := s.RemoveSession(cmd.Context(), one.Name)
			if err != nil {
				return err
			}
			_ = a.fs.Remove(sessionHealth(s, one.Name)) // mostly not there; another session of the name would ask once less
			if a.json {
				return a.printJSON(struct {
					V        int    `json:"v"`
					Session  string `json:"session"`
					Messages int    `json:"messages"`
				}{1, one.Name, n})
			}
			a.line("removed session %s: %s", one.Name, plural(n, "message", "messages"))
			return nil
		},
	}
	cmd.Flags().BoolVarP(&force, "force", "f", false, "do not ask")
	return cmd
}
