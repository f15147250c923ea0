package conversation

import (
	"cmp"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// OpenBranch is a branch with its place in the tree of branches.
type OpenBranch struct {
	history.Branch
	// The fork it is an open child of; zero for main and for lines from the past
	Fork       format.ID
	Parent     string // a branch that has the fork itself; "" where there is none any more
	Invocation string // of its tip
}

// Branches returns the branches of a session by name.
func (s *Reader) Branches(view *refs.View, session string) ([]OpenBranch, error) {
	var list []OpenBranch
	for _, name := range history.BranchesIn(view, session) {
		b := OpenBranch{Branch: history.Branch{Name: name,
			Value: view.Get(history.RefName(session, name))}}
		e, err := s.Header(b.Value.ID)
		if err != nil {
			return nil, err
		}
		b.Seq = e.Seq
		if b.Fork, err = s.OpenFork(session, b.Name, b.Value); err != nil {
			return nil, err
		}
		if b.Invocation, err = s.Invocation(b.Value.ID); err != nil {
			return nil, err
		}
		list = append(list, b)
	}
	if len(list) == 0 {
		return nil, history.UnknownSession(session, history.MainBranch)
	}
	for i := range list {
		if err := s.setParent(session, list, &list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// setParent finds the branch that a child may be joined to. Another open child that has the fork
// itself comes first, then main, then an independent branch.
func (s *Reader) setParent(session string, list []OpenBranch, child *OpenBranch) error {
	if child.Fork.IsZero() {
		return nil
	}
	rank := func(b OpenBranch) int {
		switch {
		case !b.Fork.IsZero():
			return 0
		case b.Name == history.MainBranch:
			return 1
		}
		return 2
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b OpenBranch) int { return cmp.Compare(rank(a), rank(b)) })
	for _, b := range list {
		own, err := s.Own(session, b.Name, b.Value, map[format.ID]bool{child.Fork: true})
		if err != nil {
			return err
		}
		if own[child.Fork] {
			child.Parent = b.Name
			return nil
		}
	}
	return nil
}
