package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/capture"
	"github.com/gemini-ctx/ctx/machine"
	"github.com/gemini-ctx/ctx/repo"
)

type installOptions struct {
	user      bool
	dryRun    bool
	extension string
}

func newInstallCmd(a *app) *cobra.Command {
	o := &installOptions{}
	cmd := &cobra.Command{
		Use:   "install gemini-cli",
		Short: "Have an agent record what is said",
		Long: long(`Puts what an agent needs into its settings, so that it records what is said and knows what was said in other sessions.
` + "`ctx uninstall`" + ` takes it out again.`),
		Example: "  ctx install gemini-cli\n  ctx install gemini-cli --user --dry-run",
		Args:    noSuchCommand,
		RunE:    needsCommand,
	}
	gemini := &cobra.Command{
		Use:   "gemini-cli [--user | --extension DIR] [--dry-run]",
		Short: "Install the hooks of Gemini CLI",
		Long: long(`Puts ctx's hooks into .gemini/settings.json of the project, or with --user into the user's own, and prints the change. The rest of the file,
comments and order included, stays as it is, byte for byte; what it was before is kept beside it, as settings.json.before-ctx. A file that is not JSON is left
alone. Doing it again changes nothing. In a project without a store one is made; with --user nothing is recorded in a project before `+"`ctx init`"+` has been run there.

With --extension the hooks, and the commands /ctx:expand, /ctx:search and /ctx:status, are written into DIR, for `+"`gemini extensions install DIR`"+`.

The command that is installed never blocks the agent, not even when ctx is gone: then the agent shows what its shell says about that.`,
			exitNoStore, exitLocked, exitCorrupt),
		Example: "  ctx install gemini-cli\n  ctx install gemini-cli --user --dry-run\n  ctx install gemini-cli --extension ./ctx-extension",
		Args:    between(0, 0),
		RunE:    func(*cobra.Command, []string) error { return o.install(a) },
	}
	f := gemini.Flags()
	f.BoolVar(&o.user, "user", false, "for all projects of the user")
	f.BoolVar(&o.dryRun, "dry-run", false, "print the change, and make none")
	f.StringVar(&o.extension, "extension", "", "write an extension into `DIR`")
	cmd.AddCommand(gemini)
	return cmd
}

func newUninstallCmd(a *app) *cobra.Command {
	o := &installOptions{}
	cmd := &cobra.Command{
		Use:     "uninstall gemini-cli",
		Short:   "Take out of an agent's settings what install put in",
		Long:    long("Takes out of an agent's settings what `ctx install` put in. What was recorded stays."),
		Example: "  ctx uninstall gemini-cli",
		Args:    noSuchCommand,
		RunE:    needsCommand,
	}
	gemini := &cobra.Command{
		Use:   "gemini-cli [--user] [--dry-run]",
		Short: "Take the hooks out of the settings of Gemini CLI",
		Long: long(`Takes ctx's hooks out of .gemini/settings.json of the project, or with --user of the user's own, and prints the change. If nobody has changed the
file since, it is what it was before, byte for byte; else ctx's entries go and everything else stays. An extension goes with ` + "`gemini extensions uninstall ctx`" + `.`),
		Example: "  ctx uninstall gemini-cli\n  ctx uninstall gemini-cli --user",
		Args:    between(0, 0),
		RunE:    func(*cobra.Command, []string) error { return o.uninstall(a) },
	}
	gemini.Flags().BoolVar(&o.user, "user", false, "for all projects of the user")
	gemini.Flags().BoolVar(&o.dryRun, "dry-run", false, "print the change, and make none")
	cmd.AddCommand(gemini)
	return cmd
}

func (o *installOptions) install(a *app) error {
	program, err := a.program()
	if err != nil {
		return err
	}
	command := capture.HookCommand(program, runtime.GOOS == "windows")
	if o.extension != "" {
		if o.user || o.dryRun {
			return usagef("--extension goes with neither --user nor --dry-run")
		}
		return a.writeExtension(o.extension, command)
	}
	path, err := o.settings(a)
	if err != nil {
		return err
	}
	change, err := capture.PlanInstall(path, command)
	if err != nil {
		return explainSettings(err)
	}
	d := installedDoc{V: 1, DryRun: o.dryRun}
	if !o.dryRun && !o.user {
		a.watchInterrupts()
		r, created, err := repo.Init(a.env(), filepath.Dir(filepath.Dir(path)))
		if err != nil {
			return withHint(err, "with --user the hooks are for all projects")
		}
		a.opened = append(a.opened, r)
		d.Store = &r.Dir
		if advice := r.IgnoreAdvice(); created && advice != "" {
			a.say("hint: to keep the store out of the agent's own searches, add the line %s to .geminiignore", advice)
		}
	}
	return a.applySettings(change, d)
}

func (o *installOptions) uninstall(a *app) error {
	path, err := o.settings(a)
	if err != nil {
		return err
	}
	change, err := capture.PlanUninstall(path)
	if err != nil {
		return explainSettings(err)
	}
	return a.applySettings(change, installedDoc{V: 1, DryRun: o.dryRun})
}

func explainSettings(err error) error {
	var bad *capture.SettingsError
	if errors.As(err, &bad) {
		return withHint(err, "mend the file, then run this again")
	}
	return err
}

// settings is the file that is meant: the user's, or that of the project, which is where the store is, or is to be.
func (o *installOptions) settings(a *app) (string, error) {
	if o.user {
		home := a.agentHome()
		if home == "" {
			return "", errors.New("there is no home directory")
		}
		return filepath.Join(home, ".gemini", "settings.json"), nil
	}
	return filepath.Join(a.agentProject(), ".gemini", "settings.json"), nil
}

// agentHome is the directory that Gemini CLI takes for the user's home.
func (a *app) agentHome() string {
	if home := a.getenv("GEMINI_CLI_HOME"); home != "" {
		return home
	}
	return a.home
}

// agentProject is the directory with the store, or where there is none yet the one that ctx runs in.
func (a *app) agentProject() string {
	if dir, err := repo.Find(a.env()); err == nil {
		if gemini := filepath.Dir(dir); filepath.Base(gemini) == ".gemini" {
			return filepath.Dir(gemini)
		}
	}
	return a.project(nil)
}

// program is how the agent's shell is to call ctx: by its name where that is found, else by its path on this machine.
func (a *app) program() (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", err
	}
	found, err := exec.LookPath("ctx")
	if err != nil {
		a.say("ctx: install: ctx is not on the PATH: the hooks name it by its path on this machine, %s", own)
		return own, nil
	}
	if info, err := os.Stat(found); err == nil {
		if me, err := os.Stat(own); err == nil && !os.SameFile(info, me) {
			a.say("ctx: install: the hooks will use the ctx on the PATH, %s, which is another one than this", found)
		}
	}
	return "ctx", nil
}

type installedDoc struct {
	V       int     `json:"v"`
	File    string  `json:"file"`
	Changed bool    `json:"changed"`
	DryRun  bool    `json:"dry_run"`
	Backup  *string `json:"backup"` // what the file was before ctx
	Store   *string `json:"store"`
	Diff    string  `json:"diff"`
}

// applySettings prints a change, and makes it.
func (a *app) applySettings(change *capture.Change, d installedDoc) error {
	d.File, d.Changed = change.Path, change.Changed()
	d.Diff = capture.Diff(change.Before, change.After)
	if !d.Changed {
		d.Diff = ""
	} else if !d.DryRun {
		if err := change.Apply(a.fs); err != nil {
			return explainSettings(err)
		}
	}
	if _, err := os.Stat(change.Backup); err == nil {
		d.Backup = &change.Backup
	}
	if a.json {
		return a.printJSON(d)
	}
	if !d.Changed {
		a.say("ctx: nothing to change in %s", d.File)
		return nil
	}
	a.pathLine(d.File)
	a.printf("%s", cleanLines(d.Diff))
	if d.DryRun {
		a.say("ctx: nothing was changed")
	} else if d.Backup != nil {
		a.say("ctx: what it was before is in %s", *d.Backup)
	}
	return nil
}

func (a *app) writeExtension(dir, command string) error {
	files, err := capture.Extension(command, extensionVersion(machine.Version()))
	if err != nil {
		return err
	}
	dir = a.path(dir)
	if err := capture.WriteExtension(a.fs, dir, files); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(struct {
			V         int    `json:"v"`
			Extension string `json:"extension"`
		}{1, dir})
	}
	a.pathLine(dir)
	a.say("hint: `gemini extensions install %s` takes it", dir)
	return nil
}

// extensionVersion is a version as an agent takes it: numbers with dots.
func extensionVersion(version string) string {
	if len(version) > 1 && version[0] == 'v' {
		return version[1:]
	}
	return "0.0.0"
}
