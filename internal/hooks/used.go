package hooks

import (
	"slices"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/identity"
	"github.com/gemini-ctx/ctx/internal/repo"
)

// used reports whether an agent works in this project, as far as is known: it has transcripts of
// the project, a hook has run, or a session came from it.
func (d *Doctor) used(agent *Agent) bool {
	row, ok := catalog.Named(agent.Name)
	if ok && row.Root != nil {
		if root := row.Root(catalog.Env{Get: d.Getenv, Home: d.UserHome}); root != "" {
			look := identity.NewLook(&identity.Project{Dir: repo.Physical(d.Project)}, nil)
			if slices.ContainsFunc(
				catalog.Judge(row.Sessions(root, nil), look, []string{d.Project}),
				func(j catalog.Judged) bool { return j.Ours }) {
				return true
			}
		}
	}
	if d.Store == nil {
		return false
	}
	if _, ran := LastHook(d.Store, agent.Name); ran {
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
