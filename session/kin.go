package session

import (
	"maps"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// openFork is forkOf by what the cache has of the branch: an append asks it of every branch of its session.
func (s *Store) openFork(session, branch string, v format.Value) (format.ID, error) {
	if branch == MainBranch {
		return format.ID{}, nil
	}
	h, err := s.head(session, branch, v)
	if err != nil || h.Fork == "" {
		return format.ID{}, err
	}
	return format.ParseID(h.Fork)
}

// openChildren returns the branches that forks of a branch, or of what was joined to it, have started and nobody has joined.
func (s *Store) openChildren(view *refs.View, session, branch string) ([]string, error) {
	h, err := s.head(session, branch, view.Get(RefName(session, branch)))
	if err != nil {
		return nil, err
	}
	return s.childrenOf(h, view)
}

// childrenOf is openChildren by the head of the branch, which remembers what was found: it costs no walk again until the history behind the tip is another one. Forks
// whose children are all joined are forgotten. An append keeps that, and is undone before a join that came before it is.
func (s *Store) childrenOf(h *head, view *refs.View) ([]string, error) {
	branches := branchesIn(view, h.session)
	if len(branches) < 2 || h.ForksKnown && len(h.Forks) == 0 {
		return nil, nil
	}
	had := map[string]string{}
	var own *ownPart
	var open, forks []string
	for _, child := range branches {
		if child == h.branch {
			continue
		}
		fork, err := s.openFork(h.session, child, view.Get(RefName(h.session, child)))
		if err != nil {
			return nil, err
		}
		if fork.IsZero() {
			continue
		}
		is := h.ForksKnown && slices.Contains(h.Forks, fork.String())
		if !h.ForksKnown {
			if own == nil {
				if own, err = s.ownPart(h.session, h.branch, view.Get(RefName(h.session, h.branch))); err != nil {
					return nil, err
				}
			}
			if is, err = own.has(fork); err != nil {
				return nil, err
			}
		}
		if is {
			if tip, ok := h.Had[child]; ok {
				had[child] = tip
			}
			open, forks = append(open, child), append(forks, fork.String())
		}
	}
	slices.Sort(forks)
	h.Forks, h.ForksKnown, h.Had = slices.Compact(forks), true, had
	return open, nil
}

// forked has the head know of a fork that came to its branch.
func (h *head) forked(fork format.ID) {
	if h.ForksKnown {
		h.Forks = append(h.Forks, fork.String())
	}
}

// has has the head know that what a child said up to its tip is in the history of its branch.
func (h *head) has(child string, tip format.ID) {
	had := maps.Clone(h.Had) // it may be another head's, too
	if had == nil {
		had = map[string]string{}
	}
	had[child] = tip.String()
	h.Had = had
}

// invocationOf is the invocation of a branch's tip, by its head, which remembers it. from is the newest entry of it that is on the disk, where what came after says nothing of
// an invocation.
func (s *Store) invocationOf(h *head, from format.ID) (string, error) {
	if h.Invocation == "" {
		var err error
		if h.Invocation, err = s.invocation(from); err != nil {
			return "", err
		}
	}
	return h.Invocation, nil
}

// invoked has the head know the invocation of an entry that is its branch's tip now.
func (h *head) invoked(id format.ID, e *format.Entry) {
	switch {
	case e.Invocation != "":
		h.Invocation = e.Invocation
	case e.Kind == format.KindMessage && e.Role == "user":
		h.Invocation = id.String()
	}
}
