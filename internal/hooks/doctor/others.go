package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/hooks"
	"github.com/gemini-ctx/ctx/internal/hooks/settings"
)

// others checks the hooks of all agents but Gemini CLI. An agent without hooks that has no session
// of the project has no check.
func (d *Doctor) others(ctx context.Context) (list []Check) {
	for _, agent := range hooks.Agents() {
		if agent.Name == hooks.GeminiCLI {
			continue
		}
		place, found := d.place(&agent)
		if !found {
			list = append(list, d.missing(&agent)...)
			continue
		}
		c := d.installedIn(&agent, place)
		list = append(list, c)
		if c.State == Fail {
			continue
		}
		if agent.Name == "codex" {
			list = append(list, d.codexTrust(place))
		}
		list = append(list, d.tryOther(ctx, &agent), d.lastOf(&agent))
	}
	return list
}

// place returns the first file that has hooks of an agent, or cannot be read.
func (d *Doctor) place(agent *hooks.Agent) (p hookPlace, found bool) {
	for _, one := range []hookPlace{
		{kind: "project", path: agent.ProjectSettings(d.Project)},
		{kind: "user", path: agent.UserSettings(d.Getenv, d.UserHome)},
	} {
		if one.path == "" {
			continue
		}
		b, err := durable.ReadAtMost(one.path, maxFile)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err == nil && agent.Plugin() != "":
			if agent.IsPlugin(b) {
				return one, true
			}
			continue
		case err == nil:
			one.state, err = settings.Look(b, agent.Settings())
		}
		if one.err = err; err != nil || len(one.state.Commands) > 0 {
			return one, true
		}
	}
	return hookPlace{}, false
}

// missing warns of an agent whose sessions of the project no hook records.
func (d *Doctor) missing(agent *hooks.Agent) []Check {
	row, ok := catalog.Named(agent.Name)
	if !ok || row.Discover == nil {
		return nil
	}
	root := row.Root(catalog.Env{Get: d.Getenv, Home: d.UserHome})
	if root == "" {
		return nil
	}
	files, _ := row.Discover(root, catalog.NewProject(d.Project))
	if len(files) == 0 {
		return nil
	}
	return []Check{{
		agent.Name + " hooks", Warn,
		fmt.Sprintf("not installed: the sessions of %s come with `ctx import --all` alone", agent.Title),
		"`ctx install " + agent.Name + "` records them as they are said",
	}}
}

// installedIn checks that a file has the hooks for all events, and that they are switched on.
func (d *Doctor) installedIn(agent *hooks.Agent, p hookPlace) Check {
	c := Check{Name: agent.Name + " hooks", State: OK, Detail: fmt.Sprintf("in the settings of the %s (%s)", p.kind, p.path)}
	lacking := slices.DeleteFunc(agent.EventNames(), func(event string) bool { return p.state.Commands[event] != "" })
	switch {
	case p.err != nil:
		c.State, c.Detail, c.Hint = Fail, fmt.Sprintf("%s cannot be read: %v", p.path, p.err), "mend the file: the agent cannot read it either"
	case agent.Plugin() != "":
	case p.state.Off:
		c.State, c.Detail, c.Hint = Fail, "switched off by disableAllHooks in "+p.path, "take that line out"
	case len(lacking) == 0 && agent.Untested():
		c.Detail += "; untested with the real client"
	case len(lacking) > 0:
		c.State, c.Detail = Fail, fmt.Sprintf("%s has none for %s", p.path, strings.Join(lacking, ", "))
		c.Hint = "`ctx install " + agent.Name + "` adds them"
	}
	return c
}

// codexTrust looks for the review of the hooks in the settings of Codex, which skips hooks that
// nobody has reviewed, and says nothing. It notes the file of the hooks with each review.
func (d *Doctor) codexTrust(p hookPlace) Check {
	c := Check{"codex trust", Warn, "Codex has not noted a review of the hooks: it skips them until then", "type /hooks in Codex once"}
	agent, _ := hooks.AgentNamed("codex")
	config := filepath.Join(filepath.Dir(agent.UserSettings(d.Getenv, d.UserHome)), "config.toml")
	b, err := durable.ReadAtMost(config, maxFile)
	if err != nil {
		return c
	}
	var said struct {
		Hooks struct {
			State map[string]any `toml:"state"`
		} `toml:"hooks"`
	}
	if err := toml.Unmarshal(b, &said); err != nil {
		c.Detail, c.Hint = fmt.Sprintf("%s cannot be read: %v", config, err), "mend the file: Codex cannot read it either"
		return c
	}
	for of := range said.Hooks.State {
		if strings.HasPrefix(of, p.path+":") {
			return Check{Name: c.Name, State: OK, Detail: "Codex has noted a review of the hooks"}
		}
	}
	return c
}

// tryOther lets a shell run the command of an agent's hook on an invented turn.
func (d *Doctor) tryOther(ctx context.Context, agent *hooks.Agent) Check {
	program := "ctx"
	if d.program().State != OK {
		program = d.Program
	}
	command := agent.At(agent.Turn, agent.Command(program, runtime.GOOS == "windows"))
	if agent.Plugin() != "" {
		command = program + " hook " + agent.Name
	}
	if err := d.Probe(ctx, agent.Name, command); err != nil {
		return Check{
			agent.Name + " probe", Fail, fmt.Sprintf("`%s` did not record a turn: %v", command, err),
			"run it by hand in this directory: it says what is missing",
		}
	}
	return Check{Name: agent.Name + " probe", State: OK, Detail: "a turn was recorded by `" + command + "` and read back, byte for byte"}
}

// drift warns of each agent whose transcripts have records of kinds that ctx does not know.
func (d *Doctor) drift() (list []Check) {
	if d.Store == nil {
		return nil
	}
	for _, one := range d.Store.Exchange.Drifts() {
		text := one.String()
		if n := len(list); n > 0 && list[n-1].Name == one.Agent+" drift" {
			list[n-1].Detail += "; " + text
			continue
		}
		list = append(list, Check{one.Agent + " drift", Warn, text, "a newer version of ctx may understand them: import the transcripts again then"})
	}
	return list
}

// lastOf tells when a hook of an agent ran last.
func (d *Doctor) lastOf(agent *hooks.Agent) Check {
	if d.Store == nil {
		return Check{Name: agent.Name + " last hook", State: Warn, Detail: "not known without a store"}
	}
	l, ok := hooks.LastHook(d.Store, agent.Name)
	if !ok {
		return Check{agent.Name + " last hook", Warn, "no hook has run yet, as far as is known", "say something to the agent, then look again"}
	}
	return Check{Name: agent.Name + " last hook", State: OK, Detail: fmt.Sprintf("%s at %s, session %s", l.Event, l.Time.UTC().Format(time.RFC3339), l.Session)}
}
