package doctor

import (
	"slices"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/hooks"
)

// used reports whether an agent works in this project, as far as is known: it has transcripts of
// the project, a hook has run, or a session came from it.
func (d *Doctor) used(agent *hooks.Agent) bool {
	row, ok := catalog.Named(agent.Name)
	if ok && row.Discover != nil {
		if root := row.Root(catalog.Env{Get: d.Getenv, Home: d.UserHome}); root != "" {
			if files, _ := row.Discover(root, catalog.NewProject(d.Project)); len(files) > 0 {
				return true
			}
		}
	}
	if d.Store == nil {
		return false
	}
	if _, ran := hooks.LastHook(d.Store, agent.Name); ran {
		return true
	}
	return slices.Contains(d.sources(), row.Source)
}

// sources returns the agents that the sessions of the store came from, as sources name them.
func (d *Doctor) sources() (list []string) {
	view, err := d.Store.Refs.Read()
	if err != nil {
		return nil
	}
	sessions, err := d.Store.Recall.Overviews(view)
	if err != nil {
		return nil
	}
	for i := range sessions {
		list = append(list, sessions[i].Agent)
	}
	return list
}

// empty reports whether no store has a session yet: somebody is setting it up.
func (d *Doctor) empty() bool {
	if d.Store == nil {
		return true
	}
	view, err := d.Store.Refs.Read()
	return err != nil || len(view.Names("sessions/")) == 0
}
