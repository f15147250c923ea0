package hooks

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/hooks/settings"
)

// hookPlace is a file in which hooks may be installed.
type hookPlace struct {
	kind    string // project, user or extension
	path    string
	state   settings.State
	err     error
	program string // that a plugin runs
	old     bool   // a plugin is not that of this ctx
}

// places reads every file that may hold our hooks for an agent. It returns those that do, and those
// that the agent cannot read either.
func (d *Doctor) places(agent *Agent) (list []hookPlace) {
	files := []hookPlace{
		{kind: "project", path: agent.ProjectSettings(d.Project)},
		{kind: "user", path: agent.UserSettings(d.Getenv, d.UserHome)},
	}
	if agent.Name == GeminiCLI {
		files = append(files, hookPlace{kind: "extension",
			path: filepath.Join(d.Home, ".gemini", "extensions", ExtensionName, "hooks",
				"hooks.json")})
	}
	for _, one := range files {
		if one.path == "" {
			continue
		}
		b, err := durable.ReadAtMost(one.path, maxFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && agent.Plugin() != "" {
			var ours bool
			if one.program, one.old, ours = agent.ReadPlugin(b); ours {
				list = append(list, one)
			}
			continue
		}
		if err == nil {
			one.state, err = settings.Look(b, agent.Settings())
		}
		if one.err = err; err != nil || len(one.state.Commands) > 0 ||
			one.state.Off && agent.Name == GeminiCLI {
			list = append(list, one)
		}
	}
	return list
}

// Installed reports whether an agent has hooks of ours, of whatever version.
func (d *Doctor) Installed(agent *Agent) bool {
	return slices.ContainsFunc(d.places(agent), func(p hookPlace) bool {
		return p.err == nil && (agent.Plugin() != "" || len(p.state.Commands) > 0)
	})
}

// agent checks one agent. asked says that the user has named it: then it is checked whether the
// project uses it or not.
func (d *Doctor) agent(
	ctx context.Context, agent *Agent, places []hookPlace, asked bool,
) []Check {
	if len(places) == 0 {
		missing := d.missing(agent, asked)
		if asked {
			return append([]Check{d.client(ctx, agent)}, append(missing, d.last(agent)...)...)
		}
		return missing
	}
	list := []Check{d.client(ctx, agent), d.hooks(agent, places)}
	if list[1].State == Fail {
		return append(list, d.last(agent)...)
	}
	list = append(list, d.trust(agent, places)...)
	return append(append(list, d.probe(ctx, agent, places)), d.last(agent)...)
}

// missing tells of an agent without hooks. It returns nothing for one that the project does not
// use, unless the user has named it.
func (d *Doctor) missing(agent *Agent, asked bool) []Check {
	c := Check{Agent: agent.Name, Name: "hooks", State: Warn,
		Hint: "`ctx install " + agent.Name + "` records them as they are said"}
	switch used := d.used(agent); {
	case asked && !used:
		c.State, c.Detail = Fail, "not installed"
		c.Hint = "`ctx install " + agent.Name + "` puts them in"
	case asked:
		c.State = Fail
		fallthrough
	case used:
		c.Detail = fmt.Sprintf(
			"not installed: the sessions of %s come with `ctx import --all` alone", agent.Title)
	default:
		return nil
	}
	return []Check{c}
}

// hooks checks that all hooks are installed and switched on.
func (d *Doctor) hooks(agent *Agent, places []hookPlace) Check {
	c := Check{Agent: agent.Name, Name: "hooks", State: OK}
	fail := func(detail, hint string) Check {
		c.State, c.Detail, c.Hint = Fail, detail, hint
		return c
	}
	var said []string
	for _, one := range places {
		missing := slices.DeleteFunc(agent.EventNames(),
			func(event string) bool { return one.state.Commands[event] != "" })
		switch {
		case one.err != nil:
			return fail(fmt.Sprintf("%s cannot be read: %v", one.path, one.err),
				"mend the file: the agent cannot read it either")
		case agent.Plugin() != "":
			if one.old {
				c.State, c.Hint = Warn, "`ctx install "+agent.Name+"` brings it up to date"
			}
		case one.state.Off:
			member := "disableAllHooks"
			if agent.Name == GeminiCLI {
				member = "hooksConfig.enabled"
			}
			return fail("switched off by "+member+" in "+one.path, "take that line out")
		case one.state.Disabled:
			return fail("switched off by hooksConfig.disabled in "+one.path,
				"take ctx out of that list")
		case len(missing) > 0:
			return fail(fmt.Sprintf("%s has none for %s", one.path, strings.Join(missing, ", ")),
				"`ctx install "+agent.Name+"` adds them")
		}
		of := ""
		if one.old {
			of = ", of another version of ctx"
		}
		said = append(said, fmt.Sprintf("in the settings of the %s (%s)%s", one.kind, one.path, of))
	}
	c.Detail = strings.Join(said, " and ")
	if agent.Untested() {
		c.Detail += "; untested with the real client"
	}
	if len(places) > 1 {
		c.State = Warn
		c.Hint =
			"one place is enough: with two each turn is copied twice, which changes " +
				"nothing and takes time"
	}
	return c
}

// last tells when a hook of an agent ran last, and when one last recorded something.
func (d *Doctor) last(agent *Agent) []Check {
	c := Check{Agent: agent.Name, Name: "last hook", State: Warn}
	if d.Store == nil {
		c.Detail = "not known without a store"
		return []Check{c}
	}
	l, ok := LastHook(d.Store, agent.Name)
	if !ok {
		c.Detail, c.Hint = "no hook has run yet, as far as is known",
			"say something to the agent, then look again"
		if agent.Trust != "" {
			c.Hint += "; " + agent.Trust
		}
		return []Check{c}
	}
	c.State, c.Detail = OK,
		fmt.Sprintf("%s at %s, session %s", l.Event, l.Time.UTC().Format(time.RFC3339), l.Session)
	if l.Recorded.IsZero() {
		c.Detail += "; none has recorded anything yet"
	} else {
		c.Detail += "; last recorded something at " + l.Recorded.UTC().Format(time.RFC3339)
	}
	return []Check{c}
}
