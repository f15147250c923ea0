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
	cmd := a.newCmd("set [--user] KEY VALUE",
		a.onStore(func(s *session.Store, args []string) error {
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
		}))
	cmd.ValidArgsFunction = a.completeSettings()
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
