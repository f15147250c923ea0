package main

import (
	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/session"
)

func newConfigCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the settings, and set what is shared",
		Long: long(`Shows the settings that apply to this run, and where each is set.
compact.strategy may come from the project's .gemini/settings.json. To change a setting, edit
.gemini/context/config.toml or your own config file (see `+"`ctx help environment`"+`), or use -c
KEY=VALUE for one run. What is shared with remotes is set with `+"`ctx config set`"+`.`,
			exitNoStore, exitCorrupt),
		Example: "  ctx config list --show-origin\n  ctx config get window.graduate_at",
		RunE:    func(*cobra.Command, []string) error { return runConfigList(a, true) },
	}
	return group(cmd, newConfigListCmd(a), newConfigGetCmd(a), newConfigSetCmd(a))
}

func newConfigListCmd(a *app) *cobra.Command {
	var origin bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List all settings",
		Long:    long("Lists all settings as KEY=VALUE, sorted by key.", exitNoStore, exitCorrupt),
		Example: "  ctx config list --show-origin",
		Args:    between(0, 0),
		RunE:    func(*cobra.Command, []string) error { return runConfigList(a, origin) },
	}
	cmd.Flags().BoolVar(&origin, "show-origin", false, "show where each setting is set")
	return cmd
}

func newConfigGetCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "get KEY",
		Short:   "Print the value of a setting",
		Long:    long("Prints the value of one setting.", exitNoStore, exitCorrupt),
		Example: "  ctx config get lock.timeout",
		Args:    between(1, 1),

		ValidArgsFunction: a.completeSettings(),
		RunE: a.onStore(func(s *session.Store, args []string) error {
			setting, err := s.Clusters.Setting(args[0])
			if err != nil {
				return err
			}
			return a.result(fields(setting), "%s", oneLine(setting.Value))
		}),
	}
}

func runConfigList(a *app, origin bool) error {
	s, err := a.openStore()
	if err != nil {
		return err
	}
	var rows [][]string
	for _, setting := range s.Clusters.Settings() {
		switch {
		case a.json:
			a.document(setting)
		case origin:
			rows = append(rows,
				[]string{setting.Key + "=" + oneLine(setting.Value), oneLine(setting.Origin)})
		default:
			a.line("%s=%s", setting.Key, oneLine(setting.Value))
		}
	}
	a.table(rows)
	return nil
}
