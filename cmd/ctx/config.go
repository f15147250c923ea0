package main

import (
	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/repo"
)

func newConfigCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the settings that hold",
		Long: long(`Shows the settings of the store as they hold for this run, compact.strategy also where the project's .gemini/settings.json has it. Change them in .gemini/context/config.toml, in your own
config file (see `+"`ctx help environment`"+`), or for one run with -c KEY=VALUE.`, exitNoStore, exitCorrupt),
		Example: "  ctx config list --show-origin\n  ctx config get window.graduate_at",
		Args:    noSuchCommand,
	}
	list := newConfigListCmd(a)
	cmd.RunE = func(*cobra.Command, []string) error { return runConfigList(a, true) }
	cmd.AddCommand(list, newConfigGetCmd(a))
	return cmd
}

func newConfigListCmd(a *app) *cobra.Command {
	var origin bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List every setting",
		Long:    long("Lists every setting as KEY=VALUE, sorted by key.", exitNoStore, exitCorrupt),
		Example: "  ctx config list --show-origin",
		Args:    between(0, 0),
		RunE:    func(*cobra.Command, []string) error { return runConfigList(a, origin) },
	}
	cmd.Flags().BoolVar(&origin, "show-origin", false, "say where each was given")
	return cmd
}

func newConfigGetCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "get KEY",
		Short:   "Print the value of one setting",
		Long:    long("Prints the value of one setting.", exitNoStore, exitCorrupt),
		Example: "  ctx config get lock.timeout",
		Args:    between(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := a.openStore()
			if err != nil {
				return err
			}
			setting, err := s.Setting(args[0])
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(settingJSON(setting))
			}
			a.line("%s", oneLine(setting.Value))
			return nil
		},
	}
}

func runConfigList(a *app, origin bool) error {
	s, err := a.openStore()
	if err != nil {
		return err
	}
	var rows [][]string
	for _, setting := range s.Settings() {
		switch {
		case a.json:
			if err := a.printJSON(settingJSON(setting)); err != nil {
				return err
			}
		case origin:
			rows = append(rows, []string{setting.Key + "=" + oneLine(setting.Value), oneLine(setting.Origin)})
		default:
			a.line("%s=%s", setting.Key, oneLine(setting.Value))
		}
	}
	a.table(rows)
	return nil
}

type settingDoc struct {
	V      int    `json:"v"`
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
}

func settingJSON(s repo.Setting) settingDoc { return settingDoc{1, s.Key, s.Value, s.Origin} }
