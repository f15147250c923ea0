package main

import (
	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/session"
)

func newConfigCmd(a *app) *cobra.Command {
	origin := true
	cmd := a.newCmd("config", a.listSettings(&origin))
	return group(cmd, newConfigListCmd(a), newConfigGetCmd(a), newConfigSetCmd(a))
}

func newConfigListCmd(a *app) *cobra.Command {
	var origin bool
	cmd := a.newCmd("list", a.listSettings(&origin))
	cmd.Flags().BoolVar(&origin, "show-origin", false, "show where each setting is set")
	return cmd
}

func newConfigGetCmd(a *app) *cobra.Command {
	cmd := a.newCmd("get KEY", a.onStore(func(s *session.Store, args []string) error {
		setting, err := s.Clusters.Setting(args[0])
		if err != nil {
			return err
		}
		return a.result(fields(setting), "%s", oneLine(setting.Value))
	}))
	cmd.ValidArgsFunction = a.completeSettings()
	return cmd
}

func (a *app) listSettings(origin *bool) runE {
	return a.onStore(func(s *session.Store, _ []string) error {
		var rows [][]string
		for _, setting := range s.Clusters.Settings() {
			switch {
			case a.json:
				a.document(setting)
			case *origin:
				rows = append(rows,
					[]string{setting.Key + "=" + oneLine(setting.Value), oneLine(setting.Origin)})
			default:
				a.line("%s=%s", setting.Key, oneLine(setting.Value))
			}
		}
		a.table(rows)
		return nil
	})
}
