package session

import (
	"maps"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/search"
)

// onlyBranch returns sources in which what other branches of a session have and the branch asked for has not is hidden.
func (s *Store) onlyBranch(view *refs.View, q SearchQuery, sources []search.Source) ([]search.Source, error) {
	out, err := s.notOn(view, q.Session, q.Branch)
	if err != nil || len(out) == 0 {
		return sources, err
	}
	sources = slices.Clone(sources)
	for i := range sources {
		src := &sources[i]
		src.Hidden = maps.Clone(src.Hidden)
		for _, f := range out {
			docs, err := src.Find(q.Session, f.seq, f.id)
			if err != nil {
				return nil, err
			}
			for _, doc := range docs {
				if _, hidden := src.Hidden[doc]; !hidden {
					src.Hidden[doc] = false
				}
			}
		}
	}
	return sources, nil
}

// notOn returns what other branches of a session stand on and this one does not. It reads the entries in which they differ, and all of them only where
// branches have come together.
func (s *Store) notOn(view *refs.View, session, branch string) ([]sayable, error) {
	tip, err := Tip(view, session, branch)
	if err != nil {
		return nil, err
	}
	var out []sayable
	for _, name := range view.Names("sessions/" + session + "/") {
		if name == RefName(session, branch) {
			continue
		}
		other := view.Get(name).ID
		base, err := s.Base(tip.ID, other)
		if err != nil {
			return nil, err
		}
		theirs, err := s.branchWalk(chain{other, base})
		if err != nil {
			return nil, err
		}
		ours, err := s.branchWalk(chain{tip.ID, base})
		if err != nil {
			return nil, err
		}
		if theirs.joins || ours.joins {
			return s.notReached(view, session, tip.ID)
		}
		out = append(out, theirs.list[:theirs.standing]...)
	}
	return out, nil
}

// notReached is notOn for any shape of history.
func (s *Store) notReached(view *refs.View, session string, tip format.ID) ([]sayable, error) {
	on := map[format.ID]bool{}
	if err := s.reach(on, tip); err != nil {
		return nil, err
	}
	all, err := s.sessionDocs(view, session)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(f sayable) bool { return on[f.id] || f.rewound }), nil
}

// branchNames says on which branches entries are, without looking at any twice.
type branchNames struct {
	s    *Store
	view *refs.View
	out  map[string]map[format.ID]bool // by branch: what others have and it has not
}

// of returns the branch of a session that stands on an entry of its history: main if it does, else the first by name.
func (n *branchNames) of(session string, id format.ID) (string, error) {
	branches := branchesIn(n.view, session)
	if i := slices.Index(branches, MainBranch); i > 0 {
		branches = slices.Insert(slices.Delete(branches, i, i+1), 0, MainBranch)
	}
	for _, branch := range branches {
		if len(branches) == 1 {
			return branch, nil
		}
		name := RefName(session, branch)
		if n.out[name] == nil {
			list, err := n.s.notOn(n.view, session, branch)
			if err != nil {
				return "", err
			}
			n.out[name] = map[format.ID]bool{}
			for _, f := range list {
				n.out[name][f.id] = true
			}
		}
		if !n.out[name][id] {
			return branch, nil
		}
	}
	return "", nil
}
