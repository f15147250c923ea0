package main

import (
	"errors"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/hooks"
	"github.com/gemini-ctx/ctx/internal/lists"
)

// plannedChange is a change of one agent's settings.
type plannedChange struct {
	*hooks.Change
	agent hooks.Agent
}

func (o *installOptions) install(a *app) error {
	agents := o.agents
	if agents == nil {
		if agents = agentsHere(a); len(agents) == 0 {
			return withHint(notFound("an agent on this machine"),
				"name it: `ctx install AGENT`, one of %s", agentNames(hooks.Agents()))
		}
	}
	program, err := a.program()
	if err != nil {
		return err
	}
	o.command = program
	windows := runtime.GOOS == "windows"
	if o.extension != "" {
		if o.user || o.dryRun {
			return usagef("--extension goes with neither --user nor --dry-run")
		}
		return a.writeExtension(o.extension, program, windows)
	}
	list, failed := o.plan(a, agents, func(agent *hooks.Agent, path string) (*hooks.Change, error) {
		return agent.PlanInstall(path, program, windows)
	})
	if err := o.agree(a, "change", list); err != nil {
		return err
	}
	here := !o.user && !o.dryRun
	d := installedDoc{DryRun: o.dryRun, shown: o.shown}
	if len(list) > 0 && here {
		if err := o.makeStore(a, &d); err != nil {
			return err
		}
	}
	for _, c := range list {
		if here {
			a.keepFromGit(&c.agent)
		}
		d.Agent = c.agent.Name
		if err := a.applySettings(c.Change, d); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if c.agent.Untested() && c.Changed() {
			a.say("ctx: install: the hooks of %s are untested with the real client: look with "+
				"`ctx doctor` whether they run", c.agent.Title)
		}
		if c.agent.Trust != "" && c.Changed() && !o.dryRun {
			a.say("hint: %s", c.agent.Trust)
		}
	}
	o.sayDryRun(a, list)
	if o.created && o.agents == nil {
		a.say("hint: `ctx import --all` records what was said before")
	}
	return failed
}

func (o *installOptions) uninstall(a *app) error {
	agents := o.agents
	if agents == nil {
		agents = hooks.Agents()
	}
	list, failed := o.plan(a, agents, (*hooks.Agent).PlanUninstall)
	if o.agents == nil {
		list = slices.DeleteFunc(list, func(c plannedChange) bool { return !c.Changed() })
		if len(list) == 0 && failed == nil {
			a.say("ctx: no agent has hooks of ctx in these settings")
		}
	}
	if err := o.agree(a, "remove ctx from", list); err != nil {
		return err
	}
	for _, c := range list {
		if !o.user { // a directory of the user stays empty: an agent may want it to exist
			c.Below = a.agentProject()
		}
		err := a.applySettings(c.Change,
			installedDoc{Agent: c.agent.Name, DryRun: o.dryRun, shown: o.shown})
		if err == nil && !o.user && !o.dryRun {
			err = a.giveBackToGit(&c.agent, c.Change)
		}
		failed = errors.Join(failed, err)
	}
	o.sayDryRun(a, list)
	return failed
}

// sayDryRun says, where changes were only shown, that none was made.
func (o *installOptions) sayDryRun(a *app, list []plannedChange) {
	if o.dryRun && !a.json && slices.ContainsFunc(list, plannedChange.Changed) {
		a.say("ctx: nothing was changed")
	}
}

// plan plans the change of each agent. Settings that cannot be changed do not keep the others from
// it.
func (o *installOptions) plan(
	a *app, agents []hooks.Agent, plan func(*hooks.Agent, string) (*hooks.Change, error),
) (list []plannedChange, failed error) {
	for _, agent := range agents {
		path, err := o.settings(a, &agent)
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

// agree shows what is going to change, and asks for all of it at once. One agent that was named
// needs no question.
func (o *installOptions) agree(a *app, what string, list []plannedChange) error {
	var changed []string
	for _, c := range list {
		if c.Changed() {
			changed = append(changed, c.agent.Title)
		}
	}
	if o.agents != nil || o.force || o.dryRun || len(changed) == 0 {
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
func (o *installOptions) inShort(c *plannedChange) string {
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
	return strings.Join(lists.Map(list, func(agent hooks.Agent) string { return agent.Name }), ", ")
}
