package main

import (
	"errors"
	"os/exec"
	"runtime"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/hooks"
)

// everyAgent changes the settings of each agent that is on this machine.
type everyAgent struct {
	installOptions
	command string // how hooks call ctx; "" to uninstall
	shown   bool   // what changes was shown before the question
}

// plannedChange is a change of one agent's settings.
type plannedChange struct {
	*hooks.Change
	agent hooks.Agent
}

func (o *everyAgent) install(a *app) error {
	here := agentsHere(a)
	if len(here) == 0 {
		return withHint(notFound("an agent on this machine"),
			"name it: `ctx install AGENT`, one of %s", agentNames(hooks.Agents()))
	}
	program, err := a.program()
	if err != nil {
		return err
	}
	o.command = program
	list, failed := o.plan(a, here, func(agent *hooks.Agent, path string) (*hooks.Change, error) {
		return agent.PlanInstall(path, program, runtime.GOOS == "windows")
	})
	if err := o.agree(a, "change", list); err != nil {
		return err
	}
	var d installedDoc
	if len(list) > 0 && !o.user && !o.dryRun {
		if err := o.makeStore(a, &d); err != nil {
			return err
		}
	}
	for _, c := range list {
		if !o.dryRun && !o.user {
			a.keepFromGit(&c.agent)
		}
		if err := a.applySettings(c.Change,
			installedDoc{Agent: c.agent.Name, DryRun: o.dryRun, Store: d.Store,
				shown: o.shown}); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if c.agent.Trust != "" && c.Changed() && !o.dryRun {
			a.say("hint: %s", c.agent.Trust)
		}
	}
	if o.created {
		a.say("hint: `ctx import --all` records what was said before")
	}
	return failed
}

func (o *everyAgent) uninstall(a *app) error {
	list, failed := o.plan(a, hooks.Agents(), (*hooks.Agent).PlanUninstall)
	var has []plannedChange
	for _, c := range list {
		if c.Changed() {
			has = append(has, c)
		}
	}
	if len(has) == 0 && failed == nil {
		a.say("ctx: no agent has hooks of ctx in these settings")
	}
	if err := o.agree(a, "remove ctx from", has); err != nil {
		return err
	}
	for _, c := range has {
		failed = errors.Join(failed, o.remove(a, &c.agent, c.Change, o.shown))
	}
	return failed
}

// plan plans the change of each agent. Settings that cannot be changed do not keep the others from
// it.
func (o *everyAgent) plan(
	a *app, agents []hooks.Agent, plan func(*hooks.Agent, string) (*hooks.Change, error),
) (list []plannedChange, failed error) {
	for _, agent := range agents {
		one := installOptions{agent: agent, user: o.user}
		path, err := one.settings(a)
		if err != nil {
			return nil, err
		}
		change, err := plan(&agent, path)
		if err != nil {
			failed = errors.Join(failed, explainSettings(err))
			continue
		}
		list = append(list, plannedChange{change, agent})
	}
	return list, failed
}

// agree shows what is going to change, and asks for all of it at once.
func (o *everyAgent) agree(a *app, what string, list []plannedChange) error {
	var changed []string
	for _, c := range list {
		if c.Changed() {
			changed = append(changed, c.agent.Title)
		}
	}
	if o.force || o.dryRun || len(changed) == 0 {
		return nil
	}
	if asked(a.inTerm) {
		o.shown = true
		for _, c := range list {
			if c.Changed() {
				a.say("%s: %s", c.agent.Title, c.Path)
				a.say("  %s", o.inShort(&c))
			}
		}
		a.say("with --dry-run the command prints every line that changes")
	}
	return a.confirm("%s the settings of %s", what, strings.Join(changed, ", "))
}

// inShort says what a change does, in a line.
func (o *everyAgent) inShort(c *plannedChange) string {
	switch {
	case c.After == nil:
		return "the file goes: it has nothing but what ctx put there"
	case o.command == "":
		return "the hooks of ctx go, and nothing else"
	case c.agent.Plugin() != "":
		return "a new plugin runs " + o.command + " hook " + c.agent.Name
	}
	return "at " + strings.Join(c.agent.EventNames(), ", ") + " it runs " + o.command +
		" hook " + c.agent.Name
}

// agentsHere returns the agents with hooks that are on this machine.
func agentsHere(a *app) (list []hooks.Agent) {
	for _, agent := range hooks.Agents() {
		if row, ok := catalog.Named(agent.Name); ok && row.IsHere(a.agentEnv(), exec.LookPath) {
			list = append(list, agent)
		}
	}
	return list
}

func agentNames(list []hooks.Agent) string {
	var names []string
	for _, agent := range list {
		names = append(names, agent.Name)
	}
	return strings.Join(names, ", ")
}
