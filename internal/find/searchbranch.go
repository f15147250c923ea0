package find

import (
	"maps"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/gemini-ctx/ctx/refs"
)

// onlyBranch returns sources that hide what other branches of the session have and the branch of
// the query has not.
func (s *Reader) onlyBranch(
	view *refs.View, q SearchQuery, sources []search.Source,
) ([]search.Source, error) {
	out, err := s.notOnBranch(view, q.Session, q.Branch)
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

// notOnBranch returns what other branches of a session have and this one has not. It reads the
// entries in which the branches differ; it reads all entries only if branches were merged.
func (s *Reader) notOnBranch(view *refs.View, session, branch string) ([]searchDoc, error) {
	tip, err := history.Tip(view, session, branch)
	if err != nil {
		return nil, err
	}
	var out []searchDoc
	for _, name := range view.Names("sessions/" + session + "/") {
		if name == history.RefName(session, branch) {
			continue
		}
		other := view.Get(name).ID
		base, err := s.MergeBase(tip.ID, other)
		if err != nil {
			return nil, err
		}
		theirs, err := s.collectRange(historyRange{other, base})
		if err != nil {
			return nil, err
		}
		ours, err := s.collectRange(historyRange{tip.ID, base})
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

// notReached is notOnBranch for any shape of history.
func (s *Reader) notReached(view *refs.View, session string, tip format.ID) ([]searchDoc, error) {
	on := map[format.ID]bool{}
	if err := s.Reach(on, tip); err != nil {
		return nil, err
	}
	all, err := s.sessionDocs(view, session)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(f searchDoc) bool { return on[f.id] || f.rewound }), nil
}

// branchNames finds the branches of entries. It compares two branches only once.
type branchNames struct {
	s    *Reader
	view *refs.View
	only string                        // the branch of all entries; "" if it is to be found
	out  map[string]map[format.ID]bool // by branch: the entries that only other branches have
}

func (s *Reader) newBranchNames(view *refs.View, only string) *branchNames {
	return &branchNames{s: s, view: view, only: only, out: map[string]map[format.ID]bool{}}
}

// of returns the branch of a session that has an entry: main if it has it, else the first by name;
// "" for a rewound entry.
func (n *branchNames) of(session string, id format.ID, rewound bool) (string, error) {
	if n.only != "" || rewound {
		return n.only, nil
	}
	branches := history.BranchesIn(n.view, session)
	if i := slices.Index(branches, history.MainBranch); i > 0 {
		branches = slices.Insert(slices.Delete(branches, i, i+1), 0, history.MainBranch)
	}
	for _, branch := range branches {
		if len(branches) == 1 {
			return branch, nil
		}
		name := history.RefName(session, branch)
		if n.out[name] == nil {
			list, err := n.s.notOnBranch(n.view, session, branch)
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
