package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/sharing"
)

func newConfigSetCmd(a *app) *cobra.Command {
	var user bool
	cmd := &cobra.Command{
		Use:   "set [--user] KEY VALUE",
		Short: "Set a setting",
		Long: long(`Sets a setting of the store, or with --user your own, which holds for all your
stores. The command changes one line of the config file. VALUE has the form that -c takes: lists of
names have commas between them, and commands and aliases are JSON arrays. Settings that name
programs are taken from your own file only.

What is shared is set for you and this store alone:

  remote.NAME.share   the sessions that are shared: all, none, or patterns with commas between them;
                      a pattern with ! in front takes sessions out again
  remote.NAME.allow   findings that may leave: classes of secrets and ids of objects, with commas
  remote.label        what others call this store; by default the name of the machine`, exitNoStore,
			exitNotFound),
		Example: "  ctx config set window.evict_at 60\n  ctx config set --user alias.lg " +
			"'[\"log\", \"--oneline\"]'\n  ctx config set remote.origin.share 'all,!private-*'",
		Args:              between(2, 2),
		ValidArgsFunction: a.completeSettings(),
		RunE: a.onStore(func(s *session.Store, args []string) error {
			key, value := args[0], args[1]
			switch {
			case !strings.HasPrefix(key, "remote."):
				if err := s.SetConfig(key, value, user); err != nil {
					return err
				}
			case user:
				return usagef("--user goes with other settings: what is shared is always yours")
			default:
				set, err := s.Remotes()
				if err != nil {
					return err
				}
				if err := setRemoteKey(&set, key, value); err != nil {
					return err
				}
				if err := s.SetRemotes(set); err != nil {
					return err
				}
			}
			return a.result(fields("key", key, "value", value), "%s=%s", oneLine(key),
				oneLine(value))
		}),
	}
	cmd.Flags().BoolVar(&user, "user", false, "set it in your own config file")
	return cmd
}

// setRemoteKey changes one setting about sharing.
func setRemoteKey(set *repo.Remotes, key, value string) error {
	if key == "remote.label" {
		if value != "" && (repo.CheckRemoteName(value) != nil) {
			return usagef("bad label %q: it has lower-case letters, digits, _ and -",
				oneLine(value))
		}
		set.Label = value
		return nil
	}
	name, what, ok := strings.Cut(strings.TrimPrefix(key, "remote."), ".")
	if !ok || !strings.HasPrefix(key, "remote.") || what != "share" && what != "allow" {
		return withHint(usagef("%q is not a setting of a remote", oneLine(key)),
			"`ctx help config set` lists them")
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
