package main

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/cli/environ"
	"github.com/gemini-ctx/ctx/internal/hooks"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
)

func newDoctorCmd(a *app) *cobra.Command {
	cmd := a.newCmd("doctor [AGENT]",
		func(args []string) error { return runDoctor(a, strings.Join(args, "")) })
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string,
		_ string) (names []string, _ cobra.ShellCompDirective) {
		for _, agent := range hooks.Agents() {
			if len(args) == 0 {
				names = append(names, agent.Name)
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

type linkDoc struct {
	Agent  *string `json:"agent"`
	Name   string  `json:"name"`
	State  string  `json:"state"` // ok, warn or fail
	Detail string  `json:"detail"`
	Hint   *string `json:"hint"`
}

// runDoctor checks the agent with a name, or all of them.
func runDoctor(a *app, name string) error {
	if _, ok := hooks.AgentNamed(name); !ok && name != "" {
		return withHint(usagef("no hooks of an agent %q are known", name), "one of %s",
			agentNames(hooks.Agents()))
	}
	own, err := os.Executable()
	if err != nil {
		own = ""
	}
	a.watchInterrupts()
	d := hooks.Doctor{
		Project: a.agentProject(), Home: a.agentHome(), Program: own, Version: environ.Version(),
		Now: a.now(), Scratch: a.scratch, Getenv: a.getenv, UserHome: a.home,
	}
	d.Store, d.Err = a.openStore()
	list := hooks.Diagnose(a.c, d, name)
	sound := hooks.Sound(list)
	if a.json {
		docs := lists.Map(list, func(one hooks.Check) linkDoc {
			return linkDoc{document.OrNull(one.Agent), one.Name, one.State, one.Detail,
				document.OrNull(one.Hint)}
		})
		a.document("ok", sound, "checks", docs)
	} else {
		for _, one := range list {
			hint := ""
			if one.Hint != "" && one.State != hooks.OK {
				hint = "\n      hint: " + a.hanging(oneLine(one.Hint), 12)
			}
			text := strings.TrimSpace(one.Agent+" "+one.Name) + ": " + oneLine(one.Detail)
			a.line("%-4s  %s%s", one.State, a.hanging(text, len("fail  ")), hint)
		}
	}
	return exitIf(!sound, exitFailed)
}

// scratch makes a store in a new directory, and removes both after use.
func (a *app) scratch(use func(s *session.Store, dir string) error) (err error) {
	dir, err := os.MkdirTemp("", "ctx-doctor-")
	if err != nil {
		return err
	}
	defer func() {
		if gone := os.RemoveAll(dir); err == nil {
			err = gone
		}
	}()
	env := a.env()
	env.WorkDir, env.StoreDir, env.Random = dir, "", rand.Reader
	env.UserData = hooks.ScratchData(dir)
	r, _, err := repo.Init(env, dir)
	if err != nil {
		return err
	}
	defer r.Close()
	return use(session.New(r), filepath.Dir(filepath.Dir(r.Dir)))
}
