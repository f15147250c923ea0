package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/cli/environ"
	"github.com/gemini-ctx/ctx/internal/hooks"
	"github.com/gemini-ctx/ctx/internal/identity"
	"github.com/gemini-ctx/ctx/internal/repo"
)

type installOptions struct {
	agents    []hooks.Agent // the one that was named; nil for each that is on this machine
	user      bool
	dryRun    bool
	force     bool // of one agent: nothing is asked in any case
	extension string
	created   bool   // the store was made now
	command   string // how hooks call ctx; "" to uninstall
	shown     bool   // what changes was shown before the question
}

func newInstallCmd(a *app) *cobra.Command {
	return installCmd(a, "install", (*installOptions).install)
}

func newUninstallCmd(a *app) *cobra.Command {
	return installCmd(a, "uninstall", (*installOptions).uninstall)
}

// installCmd returns a command that does run for all agents, with one for each below it.
func installCmd(a *app, name string, run func(*installOptions, *app) error) *cobra.Command {
	of := func(use string, agents ...hooks.Agent) *cobra.Command {
		o := &installOptions{agents: agents}
		cmd := a.newCmd(use, func([]string) error { return run(o, a) })
		f := cmd.Flags()
		f.BoolVar(&o.user, "user", false, "change the user's settings")
		f.BoolVar(&o.dryRun, "dry-run", false, "print the changes, and do not make them")
		f.BoolVar(&o.force, "force", false, "do not ask")
		if strings.Contains(use, "--extension") {
			f.StringVar(&o.extension, "extension", "", "write an extension into `DIR` instead")
		}
		return cmd
	}
	cmd := group(of(name + " [AGENT]"))
	for _, agent := range hooks.Agents() {
		use := " [--user] [--dry-run] [--force]"
		if name == "install" && agent.Name == hooks.GeminiCLI {
			use = " [--user | --extension DIR] [--dry-run] [--force]"
		}
		cmd.AddCommand(of(agent.Name+use, agent))
	}
	return cmd
}

// keepFromGit keeps what an installation leaves for this machine alone out of the next commit.
func (a *app) keepFromGit(agent *hooks.Agent) {
	if err := repo.Exclude(a.fs, a.agentProject(), agent.Name,
		agent.LocalFiles()...); err != nil {
		a.say("ctx: install: git may commit %s: %s", strings.Join(agent.LocalFiles(), " and "),
			oneLine(err.Error()))
	}
}

// giveBackToGit takes away what keepFromGit has written, unless a file is left to keep from git.
func (a *app) giveBackToGit(agent *hooks.Agent, change *hooks.Change) error {
	if _, err := os.Lstat(change.Backup); err == nil {
		return nil
	}
	return repo.Include(a.fs, a.agentProject(), agent.Name, agent.LocalFiles()...)
}

// makeStore makes the store of the project if there is none, and names it in d.
func (o *installOptions) makeStore(a *app, d *installedDoc) error {
	a.watchInterrupts()
	r, created, err := repo.Init(a.env(), a.agentProject())
	if err != nil {
		return withHint(err, "use --user to install the hooks for all projects")
	}
	a.opened = append(a.opened, r)
	d.Store, o.created = &r.Dir, created
	a.placed(r, a.agentProject(), created)
	return nil
}

func explainSettings(err error) error {
	var bad *hooks.SettingsError
	if errors.As(err, &bad) {
		return withHint(err, "repair the file, then run the command again")
	}
	return err
}

// settings returns the path of an agent's settings: those of the user, or those of the project that
// has or will have the store.
func (o *installOptions) settings(a *app, agent *hooks.Agent) (string, error) {
	if !o.user {
		return agent.ProjectSettings(a.agentProject()), nil
	}
	path := agent.UserSettings(a.getenv, a.home)
	if path == "" {
		return "", errors.New("there is no home directory")
	}
	return path, nil
}

// agentHome returns the home directory that Gemini CLI uses.
func (a *app) agentHome() string {
	if home := a.getenv("GEMINI_CLI_HOME"); home != "" {
		return home
	}
	return a.home
}

// agentProject returns the project with the store, or the project in which ctx runs. In another
// work tree of the repository it is that directory there: agents read no settings of the first one.
func (a *app) agentProject() string {
	dir, err := repo.Find(a.env())
	gemini := filepath.Dir(dir)
	if err != nil || filepath.Base(gemini) != ".gemini" {
		return a.project(nil)
	}
	project := filepath.Dir(gemini)
	here, common, linked := identity.Enclosing(a.dir)
	of, same, _ := identity.Enclosing(project)
	if linked && common == project { // a bare repository
		return here
	}
	if rel, err := filepath.Rel(of, project); err == nil && linked && common == same {
		return filepath.Join(here, rel)
	}
	return project
}

// program returns the command for the agent's shell: "ctx" if that is ctx on the PATH, and else the
// path of this program.
func (a *app) program() (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", err
	}
	found, err := exec.LookPath("ctx")
	if err != nil {
		a.say("ctx: install: ctx is not on the PATH: the hooks use the path %s", own)
		return own, nil
	}
	if info, err := os.Stat(found); err == nil {
		if me, err := os.Stat(own); err == nil && !os.SameFile(info, me) {
			if _, ours := hooks.ProgramVersion(a.c, found); !ours {
				a.say("ctx: install: %s is another program called ctx: the hooks use the path %s",
					found, own)
				return own, nil
			}
			a.say("ctx: install: the hooks use the ctx on the PATH, %s, which is not this program",
				found)
		}
	}
	return "ctx", nil
}

type installedDoc struct {
	Agent   string  `json:"agent"`
	File    string  `json:"file"`
	Changed bool    `json:"changed"`
	DryRun  bool    `json:"dry_run"`
	Backup  *string `json:"backup"` // what the file was before ctx
	Store   *string `json:"store"`
	Diff    string  `json:"diff"`

	shown bool // the diff was printed before
}

// applySettings makes a change and prints it.
func (a *app) applySettings(change *hooks.Change, d installedDoc) error {
	d.File, d.Changed = change.Path, change.Changed()
	d.Diff = hooks.Diff(change.Before, change.After)
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
		return a.answer(d)
	}
	if !d.Changed {
		a.say("ctx: nothing to change in %s", d.File)
		return nil
	}
	a.pathLine(d.File)
	if !d.shown {
		a.printf("%s", cleanLines(d.Diff))
	}
	if !d.DryRun && d.Backup != nil && change.Before != nil {
		a.say("ctx: the old file is in %s", *d.Backup)
	}
	return nil
}

func (a *app) writeExtension(dir, program string, windows bool) error {
	files, err := hooks.Extension(program, windows, extensionVersion(environ.Version()))
	if err != nil {
		return err
	}
	dir = a.path(dir)
	if err := hooks.WriteExtension(a.fs, dir, files); err != nil {
		return err
	}
	if a.json {
		return a.answer("extension", dir)
	}
	a.pathLine(dir)
	a.say("hint: install it with `gemini extensions install %s`", dir)
	return nil
}

// extensionVersion returns a version in the form of Gemini CLI: numbers with dots.
func extensionVersion(version string) string {
	if len(version) > 1 && version[0] == 'v' {
		return version[1:]
	}
	return "0.0.0"
}
