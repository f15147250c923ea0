package history

import (
	"maps"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// ForkOf returns the fork that started an open branch; the zero ID for main, for a branch from the
// past, and after a join.
func (s *Reader) ForkOf(session, branch string, v format.Value) (fork format.ID, err error) {
	if branch == MainBranch {
		return format.ID{}, nil
	}
	for e, err := range s.Walk(v.ID, OwnLine) {
		switch {
		case err != nil:
			return format.ID{}, err
		case e.Kind == format.KindFork && e.Session == session &&
			slices.Contains(e.Children, branch):
			return e.ID, nil
		case e.Kind == format.KindJoin && slices.Contains(e.Children, branch):
			return format.ID{}, nil
		case e.Kind == format.KindMessage && e.Seq <= v.Frontier:
			return format.ID{}, nil // no message of an open child graduates
		}
	}
	return format.ID{}, nil
}

// Own returns those of some entries that are in the history of a branch since its own fork, joined
// entries included. The forks among them are the branch's: their children may be joined to it.
func (s *Reader) Own(
	session, branch string, v format.Value, ids map[format.ID]bool,
) (map[format.ID]bool, error) {
	own := map[format.ID]bool{}
	if len(ids) == 0 {
		return own, nil
	}
	fork, err := s.ForkOf(session, branch, v)
	if err != nil {
		return nil, err
	}
	for e, err := range s.Walk(v.ID, WithJoined) {
		if err != nil {
			return nil, err
		}
		if e.ID == fork && !e.Joined {
			break
		}
		if ids[e.ID] {
			own[e.ID] = true
		}
		if len(own) == len(ids) {
			break
		}
	}
	return own, nil
}

// OpenFork is ForkOf by the cached state of the branch.
func (s *Reader) OpenFork(session, branch string, v format.Value) (format.ID, error) {
	if branch == MainBranch {
		return format.ID{}, nil
	}
	h, err := s.Head(session, branch, v)
	if err != nil || h.Fork == "" {
		return format.ID{}, err
	}
	return format.ParseID(h.Fork)
}

// OpenChildren returns the open branches that forks of a branch, or of what was joined to it, have
// started.
func (s *Reader) OpenChildren(view *refs.View, session, branch string) ([]string, error) {
	h, err := s.Head(session, branch, view.Get(RefName(session, branch)))
	if err != nil {
		return nil, err
	}
	return s.ChildrenOf(h, view)
}

// ChildrenOf is OpenChildren by the state of the branch. It notes in h what it finds, so that the
// next call need not walk; forks without open children are dropped.
func (s *Reader) ChildrenOf(h *Head, view *refs.View) ([]string, error) {
	branches := BranchesIn(view, h.Session)
	if len(branches) < 2 || h.ForksKnown && len(h.Forks) == 0 {
		return nil, nil
	}
	open := map[string]format.ID{} // the forks of the open branches
	wanted := map[format.ID]bool{}
	for _, child := range branches {
		if child == h.Branch {
			continue
		}
		fork, err := s.OpenFork(h.Session, child, view.Get(RefName(h.Session, child)))
		if err != nil {
			return nil, err
		}
		if !fork.IsZero() {
			open[child], wanted[fork] = fork, true
		}
	}
	if !h.ForksKnown {
		own, err := s.Own(h.Session, h.Branch, view.Get(RefName(h.Session, h.Branch)), wanted)
		if err != nil {
			return nil, err
		}
		for fork := range own {
			h.Forks = append(h.Forks, fork.String())
		}
	}
	had := map[string]string{}
	var children, forks []string
	for _, child := range branches {
		fork, ok := open[child]
		if !ok || !slices.Contains(h.Forks, fork.String()) {
			continue
		}
		if tip, ok := h.Had[child]; ok {
			had[child] = tip
		}
		children, forks = append(children, child), append(forks, fork.String())
	}
	slices.Sort(forks)
	h.Forks, h.ForksKnown, h.Had = slices.Compact(forks), true, had
	return children, nil
}

// Forked notes a new fork on the branch.
func (h *Head) Forked(fork format.ID) {
	if h.ForksKnown {
		h.Forks = append(h.Forks, fork.String())
	}
}

// Has notes that the history of the branch has a child up to its tip.
func (h *Head) Has(child string, tip format.ID) {
	had := maps.Clone(h.Had) // it may be another head's, too
	if had == nil {
		had = map[string]string{}
	}
	had[child] = tip.String()
	h.Had = had
}
