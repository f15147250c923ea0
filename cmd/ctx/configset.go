package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/sharing"
)

func newConfigSetCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "set KEY VALUE",
		Short: "Set what is shared, and how",
		Long: long(`Sets one of

  remote.NAME.share   the sessions that are shared: all, none, or patterns with commas between them;
                      a pattern with ! in front takes sessions out again
  remote.NAME.allow   findings that may leave: classes of secrets and ids of objects, with commas
  remote.label        what others call this store; by default the name of the machine

For other settings, edit .gemini/context/config.toml or your own config file.`, exitNoStore, exitNotFound),
		Example: "  ctx config set remote.origin.share 'all,!private-*'",
		Args:    between(2, 2),
		RunE: a.onStore(func(s *session.Store, args []string) error {
			set, err := s.Remotes()
			if err != nil {
				return err
			}
			if err := setRemoteKey(&set, args[0], args[1]); err != nil {
				return err
			}
			if err := s.SetRemotes(set); err != nil {
				return err
			}
			return a.result(fields("key", args[0], "value", args[1]), "%s=%s", oneLine(args[0]), oneLine(args[1]))
		}),
	}
}

// setRemoteKey changes one setting about sharing.
func setRemoteKey(set *repo.Remotes, key, value string) error {
	if key == "remote.label" {
		if value != "" && (repo.CheckRemoteName(value) != nil) {
			return usagef("bad label %q: it has lower-case letters, digits, _ and -", oneLine(value))
		}
		set.Label = value
		return nil
	}
	name, what, ok := strings.Cut(strings.TrimPrefix(key, "remote."), ".")
	if !ok || !strings.HasPrefix(key, "remote.") || what != "share" && what != "allow" {
		return withHint(usagef("%q is not a setting that this command changes", oneLine(key)),
			"edit .gemini/context/config.toml for the settings of the store; `ctx config list --show-origin` shows where each is set")
	}
	_, r, err := namedRemote(*set, []string{name})
	if err != nil {
		return err
	}
	if what == "share" {
		if _, err := sharing.ParseRule(value); err != nil {
			return usagef("%v", err)
		}
		r.Share = value
	} else {
		r.Allow = nil
		for one := range strings.SplitSeq(value, ",") {
			if one = strings.TrimSpace(one); one != "" {
				r.Allow = append(r.Allow, one)
			}
		}
	}
	set.Remotes[name] = r
	return nil
}
