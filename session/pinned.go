package session

import (
	"slices"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session/view"
)

// pinned says which members of a pin a branch renders by its clusters. A message of the tail is rendered word for word. What was said on another line of
// its session, and is not of its own history, the branch must not see. The zero value shows all members.
type pinned struct {
	*Store
	view    *refs.View
	session string
	single  bool               // the store has no other session
	tail    map[format.ID]bool // rendered word for word
	line    map[format.ID]bool // what the branch stands on; nil where its session has no other line
}

// pinnedBy returns what a branch at value, whose tail was read into in, renders of its pin.
func (s *Store) pinnedBy(v *refs.View, value format.Value, in *view.Input) (*pinned, error) {
	p := &pinned{Store: s, view: v, session: in.Session, tail: map[format.ID]bool{}}
	for _, m := range in.Tail {
		p.tail[m.ID] = true
	}
	own := v.Names(RefName(in.Session, ""))
	p.single = len(own) == len(v.Names("sessions/"))
	if len(own) == 1 {
		return p, nil
	}
	lines := 0
	for _, branch := range branchesIn(v, in.Session) {
		fork, err := s.openFork(in.Session, branch, v.Get(RefName(in.Session, branch)))
		if err != nil {
			return nil, err
		}
		if fork.IsZero() {
			lines++ // nothing of an open child is in a cluster
		}
	}
	if lines < 2 {
		return p, nil
	}
	p.line = map[format.ID]bool{}
	err := s.back(value.ID, func(id format.ID, e *format.Entry) bool {
		p.line[id] = true
		return true
	})
	return p, err
}

// cut is what a branch renders of the members of a cluster where that is not all of them.
type cut struct {
	members []format.ID
	hidden  []bool // of another line
	tail    []bool // rendered word for word
}

// cutOf returns what is rendered of a cluster's members; nil where all of them are. Whether some are of the tail it tells by the newest members.
func (p *pinned) cutOf(newest []format.ID, read func() ([]format.ID, error)) (*cut, error) {
	if p.line == nil && !slices.ContainsFunc(newest, func(id format.ID) bool { return p.tail[id] }) {
		return nil, nil
	}
	members, err := read()
	if err != nil {
		return nil, err
	}
	c := &cut{members: members, hidden: make([]bool, len(members)), tail: make([]bool, len(members))}
	whole := true
	for i, id := range members {
		c.tail[i] = p.tail[id]
		if p.line != nil && !p.line[id] {
			e, err := p.entry(id)
			if err != nil {
				return nil, err
			}
			c.hidden[i] = e.Session == p.session
		}
		whole = whole && !c.tail[i] && !c.hidden[i]
	}
	if whole {
		return nil, nil
	}
	return c, nil
}

// cutLive is cutOf for a live cluster.
func (p *pinned) cutLive(st *forest.State, c *forest.Cluster) (*cut, error) {
	if p == nil {
		return nil, nil
	}
	newest, err := st.Slice(c, c.Count()-min(c.Count(), format.FanOut), c.Count())
	if err != nil {
		return nil, err
	}
	return p.cutOf(newest, func() ([]format.ID, error) { return st.Members(c) })
}

// cutStone is cutOf for an evicted cluster. That its line repeats words of the tail is no harm.
func (p *pinned) cutStone(node format.ID) (*cut, error) {
	if p == nil || p.line == nil {
		return nil, nil
	}
	return p.cutOf(nil, func() (members []format.ID, err error) {
		err = p.walk(node, func(id format.ID) error { members = append(members, id); return nil })
		return members, err
	})
}

// shown returns the members from..to that the cluster shows.
func (c *cut) shown(from, to uint64) (list []format.ID) {
	for i := from; i < to; i++ {
		if !c.hidden[i] && !c.tail[i] {
			list = append(list, c.members[i])
		}
	}
	return list
}

func (c *cut) hides(from, to uint64) bool { return slices.Contains(c.hidden[from:to], true) }

// cutParts reads the summaries of a cluster of which not all members are rendered. A summary that was made of what the branch must not see gives way to an
// extract of what it sees. Of a ranked list the sentences of the tail are left out; what a model said of some messages of the tail and of others stays.
func (r *listReader) cutParts(covers []format.Cover, c *cut) ([]view.Part, error) {
	parts := make([]view.Part, 0, len(covers)) // lists are decoded into it later: it must not move
	for _, v := range covers {
		from, to := v.Offset, v.Offset+v.Count
		shown := c.shown(from, to)
		switch {
		case len(shown) == 0:
			continue
		case c.hides(from, to):
			part, err := r.extractOf(shown)
			if err != nil {
				return nil, err
			}
			parts = append(parts, part)
			continue
		}
		read, err := r.partsOf([]format.Cover{v}, true)
		if err != nil {
			return nil, err
		}
		parts = append(parts, read[0])
		if n := len(r.lists); n > 0 && r.lists[n-1].part == &read[0] {
			r.lists[n-1].part, r.lists[n-1].without = &parts[len(parts)-1], r.pin.tail
		}
	}
	return parts, nil
}

// extractOf is a part that says what some messages say, made for this rendering.
func (r *listReader) extractOf(ids []format.ID) (view.Part, error) {
	sources, err := r.sources(r.pin.view, ids)
	if err != nil {
		return view.Part{}, err
	}
	return view.Part{Interim: true, Sentences: summarize.Extract(sources, half(sources))}, nil
}
