package recall

import (
	"slices"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/internal/view"
	"github.com/gemini-ctx/ctx/refs"
)

// memberFilter decides which members of a pin a branch renders by its clusters. It leaves out
// messages of the tail, which are rendered word for word, and messages of other branches of the
// session, which the branch must not see. A nil filter shows all members.
type memberFilter struct {
	*Reader
	view    *refs.View
	session string             // as the entries name it
	suffix  string             // of the names of its store's sessions here; "" for this store
	single  bool               // the store has no other session
	tail    map[format.ID]bool // the messages that are rendered word for word
	line    map[format.ID]bool // the history of the branch; nil if the session has no other branch
}

// newMemberFilter returns the filter for a branch at value. in.Tail must be set.
func (s *Reader) newMemberFilter(
	v *refs.View, value format.Value, in *view.Input,
) (*memberFilter, error) {
	p := &memberFilter{Reader: s, view: v, tail: map[format.ID]bool{}}
	p.session, p.suffix = ownerOf(v, in.Session)
	for _, m := range in.Tail {
		p.tail[m.ID] = true
	}
	own := v.Names(history.RefName(in.Session, ""))
	p.single = len(own) == len(v.Names("sessions/"))
	if len(own) == 1 {
		return p, nil
	}
	lines := 0
	for _, branch := range history.BranchesIn(v, in.Session) {
		fork, err := s.OpenFork(in.Session, branch, v.Get(history.RefName(in.Session, branch)))
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
	return p, s.Reach(p.line, value.ID)
}

// partialCluster says which members of a cluster a branch renders, if it does not render all.
type partialCluster struct {
	members []format.ID
	hidden  []bool // by index: a message of another branch
	tail    []bool // by index: rendered word for word
}

// partialOf returns nil if all members of a cluster are rendered. It looks for messages of the tail
// only among the newest members.
func (p *memberFilter) partialOf(
	newest []format.ID, read func() ([]format.ID, error),
) (*partialCluster, error) {
	if p.line == nil &&
		!slices.ContainsFunc(newest, func(id format.ID) bool { return p.tail[id] }) {
		return nil, nil
	}
	members, err := read()
	if err != nil {
		return nil, err
	}
	c := &partialCluster{members: members, hidden: make([]bool, len(members)),
		tail: make([]bool, len(members))}
	whole := true
	for i, id := range members {
		c.tail[i] = p.tail[id]
		if p.line != nil && !p.line[id] {
			e, err := p.Header(id)
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

// partialLive is partialOf for a live cluster.
func (p *memberFilter) partialLive(st *forest.State, c *forest.Cluster) (*partialCluster, error) {
	if p == nil {
		return nil, nil
	}
	newest, err := st.Slice(c, c.Count()-min(c.Count(), format.FanOut), c.Count())
	if err != nil {
		return nil, err
	}
	return p.partialOf(newest, func() ([]format.ID, error) { return st.Members(c) })
}

// partialTombstone is partialOf for an evicted cluster. It ignores the tail: the line of a
// tombstone may repeat words of it.
func (p *memberFilter) partialTombstone(node format.ID) (*partialCluster, error) {
	if p == nil || p.line == nil {
		return nil, nil
	}
	return p.partialOf(nil, func() (members []format.ID, err error) {
		err = p.clusters.EachMember(node,
			func(id format.ID) error { members = append(members, id); return nil })
		return members, err
	})
}

// shown returns the rendered members with index from to to-1.
func (c *partialCluster) shown(from, to uint64) (list []format.ID) {
	for i := from; i < to; i++ {
		if !c.hidden[i] && !c.tail[i] {
			list = append(list, c.members[i])
		}
	}
	return list
}

// hides reports whether a member with index from to to-1 belongs to another branch.
func (c *partialCluster) hides(from, to uint64) bool {
	return slices.Contains(c.hidden[from:to], true)
}

// partialParts reads the summaries of a cluster of which not all members are rendered. A summary of
// messages that the branch must not see is replaced by an extract of the others. A ranked list
// loses the sentences of the tail. The text of a model stays, even if it is partly about the tail.
func (r *clusterReader) partialParts(
	covers []format.Cover, c *partialCluster,
) ([]view.Part, error) {
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
		read, err := r.lists.PartsOf([]format.Cover{v}, true)
		if err != nil {
			return nil, err
		}
		parts = append(parts, read[0])
		if n := len(r.lists.Lists); n > 0 && r.lists.Lists[n-1].Part == &read[0] {
			r.lists.Lists[n-1].Part, r.lists.Lists[n-1].Without = &parts[len(parts)-1],
				r.filter.tail
		}
	}
	return parts, nil
}

// extractOf makes an extract of messages for this rendering only.
func (r *clusterReader) extractOf(ids []format.ID) (view.Part, error) {
	ids = slices.DeleteFunc(ids, func(id format.ID) bool { return r.lists.Hidden[id] })
	sources, err := r.summaries.Sources(r.filter.view, ids)
	if err != nil {
		return view.Part{}, err
	}
	return view.Part{Interim: true,
		Sentences: summarize.Extract(sources, summaries.ExtractTokens(sources))}, nil
}
