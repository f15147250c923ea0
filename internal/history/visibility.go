package history

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history/dag"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// Tokens returns the token set of each branch of a session, by name. A joined branch has none: its
// set is part of its parent's.
func (s *Reader) Tokens(view *refs.View, session string) ([]BranchTokens, error) {
	d, err := s.Dag(view, session)
	if err != nil {
		return nil, err
	}
	var list []BranchTokens
	for _, branch := range BranchesIn(view, session) {
		set, err := d.BranchTokens(branch)
		if err != nil {
			return nil, err
		}
		list = append(list, BranchTokens{Branch: branch, Tokens: set})
	}
	return list, nil
}

// EntryTokens returns the token set of an entry of a session.
func (s *Reader) EntryTokens(view *refs.View, session string, id format.ID) (dag.Tokens, error) {
	d, err := s.Dag(view, session)
	if err != nil {
		return nil, err
	}
	set, err := d.Tokens(id)
	if errors.Is(err, dag.ErrNotFound) {
		err = fmt.Errorf("%w: entry %v: %w", NoID, id, err)
	}
	return set, err
}

// BranchTokens is the token set of a branch.
type BranchTokens struct {
	Branch string
	Tokens dag.Tokens
}

// SessionDAG is the entries that the branches of a session stand on, with the operations that
// brought them.
type SessionDAG struct {
	*dag.DAG
	s        *Reader
	arrivals map[format.ID]uint64
}

// Dag reads the entries that the branches of a session stand on.
func (s *Reader) Dag(view *refs.View, session string) (*SessionDAG, error) {
	branches := BranchesIn(view, session)
	if len(branches) == 0 {
		return nil, UnknownSession(session, MainBranch)
	}
	g := &SessionDAG{s: s, arrivals: map[format.ID]uint64{}}
	tips := lists.Map(branches, func(branch string) dag.Tip {
		return dag.Tip{Branch: branch, ID: view.Get(RefName(session, branch)).ID}
	})
	if err := g.arrive(view, session, tips); err != nil {
		return nil, err
	}
	var err error
	g.DAG, err = dag.Read(g, tips...)
	return g, err
}

// Entry implements dag.Graph.
func (g *SessionDAG) Entry(id format.ID) (*format.Entry, error) { return g.s.Header(id) }

// Arrival implements dag.Graph.
func (g *SessionDAG) Arrival(id format.ID) (uint64, bool) {
	n, ok := g.arrivals[id]
	return n, ok
}

// arrive reads from the log of operations when entries came. What came before the log begins has
// come with its first operation.
func (g *SessionDAG) arrive(view *refs.View, session string, tips []dag.Tip) error {
	type moved struct {
		number uint64
		tip    format.ID
	}
	var list []moved
	oldest := view.Number
	err := g.s.Refs.Backward(view, func(r refs.Record) bool {
		oldest = r.Op.Number
		for _, u := range r.Op.Refs {
			if strings.HasPrefix(u.Name, "sessions/"+session+"/") && u.New.ID != u.Old.ID &&
				u.New.Exists() {
				list = append(list, moved{r.Op.Number, u.New.ID})
			}
		}
		return true
	})
	if err != nil {
		return err
	}
	for _, t := range tips {
		list = append(list, moved{view.Number, t.ID})
	}
	slices.SortStableFunc(list, func(a, b moved) int { return cmp.Compare(a.number, b.number) })
	seen := map[format.ID]bool{}
	for _, m := range list {
		if err := g.mark(seen, m.tip, max(m.number, oldest)); err != nil {
			return err
		}
	}
	return nil
}

// mark notes when a tip came, and what it stands on that is not in seen.
func (g *SessionDAG) mark(seen map[format.ID]bool, tip format.ID, number uint64) error {
	for e, err := range (&Lineage{s: g.s, seen: seen, todo: []format.ID{tip}}).each {
		if errors.Is(err, objects.ErrNotFound) {
			continue // rewound or undone, and swept away since
		}
		if err != nil {
			return err
		}
		g.arrivals[e.ID] = number
	}
	return nil
}
