package session

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session/dag"
)

// Reader is somebody who reads a session from one of its branches, or from an entry of it, and may not see everything: what was said in the same
// invocation on branches that were not joined to it is hidden.
type Reader struct {
	Session string
	dag     *dag.DAG
	reader  dag.Reader
	sees    map[format.ID]bool
	order   []format.ID
}

// NewReader returns the reader that a name stands for: a branch, one that was joined as it was then, or a revision. ErrNotFound where it stands for nothing in the session.
func (s *Store) NewReader(view *refs.View, session, name string) (*Reader, error) {
	d, err := s.dag(view, session)
	if err != nil {
		return nil, err
	}
	r := &Reader{Session: session, dag: d.DAG}
	if v := view.Get(RefName(session, name)); v.Exists() {
		r.reader = dag.Reader{Tip: v.ID, Point: view.Number}
	} else if r.reader, err = s.pastReader(view, session, name, d); err != nil {
		return nil, err
	}
	if r.order, err = d.All(r.reader); err != nil {
		if errors.Is(err, dag.ErrNotFound) {
			err = fmt.Errorf("%w: reader %q: %w", ErrNotFound, clip(name), err)
		}
		return nil, err
	}
	r.sees = make(map[format.ID]bool, len(r.order))
	for _, id := range r.order {
		r.sees[id] = true
	}
	return r, nil
}

// pastReader is the reader at an entry, who knows of nothing that came after it.
func (s *Store) pastReader(view *refs.View, session, name string, d *sessionDAG) (dag.Reader, error) {
	v, by, err := s.joined(view, session, name)
	if err != nil {
		return dag.Reader{}, err
	}
	if v.Exists() {
		return dag.Reader{Tip: v.ID, Point: by - 1}, nil
	}
	id, err := s.Resolve(view, name)
	if err != nil {
		return dag.Reader{}, fmt.Errorf("%w: no branch, and no revision, of session %q: %w", ErrNotFound, clip(session), err)
	}
	point, _ := d.Arrival(id)
	return dag.Reader{Tip: id, Point: point}, nil
}

// Sees reports whether the reader may see an entry. Of other sessions everything is seen; what is in no branch of this one is not.
func (r *Reader) Sees(id format.ID, e *format.Entry) bool {
	return e.Session != r.Session || r.sees[id]
}

// Each calls each for what the reader may see of the session, in the order in which it came, messages and notes, or all kinds; a message that was amended as far as
// the reader knows has its newest text.
func (s *Store) Each(r *Reader, all bool, each func(*Shown) error) error {
	version := map[format.ID]format.ID{}
	var list []format.ID
	for _, id := range r.order {
		e, err := s.entry(id)
		if err != nil {
			return err
		}
		if e.Kind == format.KindAmend {
			version[e.Amends] = id
		}
		if all || e.Kind == format.KindMessage || e.Kind == format.KindNote {
			list = append(list, id)
		}
	}
	for _, id := range list {
		shown, err := s.Version(id, version[id])
		if err != nil {
			return err
		}
		if err := each(shown); err != nil {
			return err
		}
	}
	return nil
}

// Tokens returns the token sets of a session's branches, derived from their forks: name and set, by name. One that was joined has none any more: its set is
// part of the parent's.
func (s *Store) Tokens(view *refs.View, session string) ([]BranchTokens, error) {
	d, err := s.dag(view, session)
	if err != nil {
		return nil, err
	}
	var list []BranchTokens
	for _, branch := range branchesIn(view, session) {
		set, err := d.BranchTokens(branch)
		if err != nil {
			return nil, err
		}
		list = append(list, BranchTokens{Branch: branch, Tokens: set})
	}
	return list, nil
}

// EntryTokens returns the token set of an entry of a session.
func (s *Store) EntryTokens(view *refs.View, session string, id format.ID) (dag.Tokens, error) {
	d, err := s.dag(view, session)
	if err != nil {
		return nil, err
	}
	set, err := d.Tokens(id)
	if errors.Is(err, dag.ErrNotFound) {
		err = fmt.Errorf("%w: entry %v: %w", ErrNotFound, id, err)
	}
	return set, err
}

// BranchTokens is the token set of a branch.
type BranchTokens struct {
	Branch string
	Tokens dag.Tokens
}

// sessionDAG is what the branches of a session stand on, and when it came.
type sessionDAG struct {
	*dag.DAG
	s        *Store
	arrivals map[format.ID]uint64
}

func (s *Store) dag(view *refs.View, session string) (*sessionDAG, error) {
	branches := branchesIn(view, session)
	if len(branches) == 0 {
		return nil, unknownSession(session, MainBranch)
	}
	g := &sessionDAG{s: s, arrivals: map[format.ID]uint64{}}
	var tips []dag.Tip
	for _, branch := range branches {
		tips = append(tips, dag.Tip{Branch: branch, ID: view.Get(RefName(session, branch)).ID})
	}
	if err := g.arrive(view, session, tips); err != nil {
		return nil, err
	}
	var err error
	g.DAG, err = dag.Read(g, tips...)
	return g, err
}

// Entry implements dag.Graph.
func (g *sessionDAG) Entry(id format.ID) (*format.Entry, error) { return g.s.entry(id) }

// Arrival implements dag.Graph.
func (g *sessionDAG) Arrival(id format.ID) (uint64, bool) {
	n, ok := g.arrivals[id]
	return n, ok
}

// arrive reads from the log of operations when entries came. What came before the log begins has come with its first operation.
func (g *sessionDAG) arrive(view *refs.View, session string, tips []dag.Tip) error {
	type moved struct {
		number uint64
		tip    format.ID
	}
	var list []moved
	oldest := view.Number
	err := g.s.Refs.Backward(view, func(r refs.Record) bool {
		oldest = r.Op.Number
		for _, u := range r.Op.Refs {
			if strings.HasPrefix(u.Name, "sessions/"+session+"/") && u.New.ID != u.Old.ID && u.New.Exists() {
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
	for _, m := range list {
		if err := g.mark(m.tip, max(m.number, oldest)); err != nil {
			return err
		}
	}
	return nil
}

// mark notes when a tip came, and what it stands on that is not known to have come before.
func (g *sessionDAG) mark(tip format.ID, number uint64) error {
	for todo := []format.ID{tip}; len(todo) > 0; {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if _, known := g.arrivals[id]; known {
			continue
		}
		e, err := g.s.entry(id)
		if errors.Is(err, objects.ErrNotFound) {
			continue // rewound or undone, and swept away since
		}
		if err != nil {
			return err
		}
		g.arrivals[id] = number
		todo = append(todo, e.Parents...)
	}
	return nil
}
