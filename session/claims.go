package session

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// claim is a run of a cluster's members that wants a summary, as it was seen, and what the summary is to be made of. Nothing is reserved: the
// node proves which members, and the mark what else was read, so that whoever brings the summary need not be trusted to say it.
type claim struct {
	cluster uint64
	offset  uint64      // of the run in its cluster
	members []format.ID // the run
	node    format.ID   // over it
	covers  []format.Cover
	// mark is a digest of what is read besides the members as they were said first: the summaries of covers, newer versions, words that are
	// gone. It is "" where there is nothing of that.
	mark    string
	tokens  int    // the most that the summary may have
	arrival uint64 // of the cluster
	evict   bool   // it will be evicted, as things are
}

func (c *claim) end() uint64 { return c.offset + uint64(len(c.members)) }

// raw returns the members that are read themselves: those under none of the claim's covers.
func (c *claim) raw() []format.ID {
	var out []format.ID
	at := c.offset
	for _, v := range c.covers {
		out = append(out, c.members[at-c.offset:v.Offset-c.offset]...)
		at = v.Offset + v.Count
	}
	return append(out, c.members[at-c.offset:]...)
}

// id is the claim's name outside of this process: its node's id where that says everything, which is that the first members of a cluster are
// read as they were said; else NODE.CLUSTER.OFFSET.COUNT, and .MARK behind it where there is one.
func (c *claim) id() string {
	if c.offset == 0 && c.mark == "" {
		return c.node.String()
	}
	s := fmt.Sprintf("%v.%d.%d.%d", c.node, c.cluster, c.offset, len(c.members))
	if c.mark != "" {
		s += "." + c.mark
	}
	return s
}

// claimName is a claim's id, taken apart.
type claimName struct {
	node                   format.ID
	placed                 bool // what follows is known
	cluster, offset, count uint64
	mark                   string
}

// parseClaim reads what claim.id writes.
func parseClaim(s string) (claimName, error) {
	bad := fmt.Errorf("%w: not the id of a claim: %q", ErrInput, clip(s))
	parts := strings.Split(s, ".")
	node, err := format.ParseID(parts[0])
	if err != nil {
		return claimName{}, bad
	}
	n := claimName{node: node}
	switch len(parts) {
	case 1:
		return n, nil
	case 5:
		n.mark = parts[4]
		if len(n.mark) != markLen || !isHex(n.mark) {
			return n, bad
		}
	case 4:
	default:
		return n, bad
	}
	n.placed = true
	for i, field := range []*uint64{&n.cluster, &n.offset, &n.count} {
		v, err := strconv.ParseUint(parts[i+1], 10, 63)
		if err != nil || strconv.FormatUint(v, 10) != parts[i+1] {
			return n, bad
		}
		*field = v
	}
	if n.count == 0 {
		return n, bad
	}
	return n, nil
}

// markLen is how many digits a mark has. It guards against what happened meanwhile, not against who made it up: 64 bits do.
const markLen = 16

// markOf is the mark of a claim as of view.
func (s *Store) markOf(view *refs.View, covers []format.Cover, raw []format.ID) (string, error) {
	h := sha256.New()
	plain := true
	note := func(text string, args ...any) {
		plain = false
		fmt.Fprintf(h, text+"\n", args...)
	}
	for _, v := range covers {
		note("summary %v", v.Summary)
	}
	said := make([]format.ID, len(raw))
	for i, id := range raw {
		newest, err := s.newest(view, id)
		if err != nil {
			return "", err
		}
		if newest != id {
			note("version %v %v", id, newest)
		}
		said[i] = newest
	}
	gone, err := s.Objects.Gone(said)
	if err != nil {
		return "", err
	}
	for _, id := range gone {
		note("gone %v", id)
	}
	if plain {
		return "", nil
	}
	return hex.EncodeToString(h.Sum(nil))[:markLen], nil
}

// claimOn makes the claim of a run of a cluster's members, to be made of covers and of what they do not cover.
func (s *Store) claimOn(view *refs.View, c *forest.Cluster, members []format.ID, offset uint64, covers []format.Cover) (claim, error) {
	cl := claim{cluster: c.Number, offset: offset, members: slices.Clone(members), covers: covers, arrival: c.Arrival}
	var err error
	if cl.node, err = format.NodeOf(members); err != nil {
		return cl, err
	}
	cl.mark, err = s.markOf(view, covers, cl.raw())
	return cl, err
}

// byArrival returns the live clusters, the one first whose newest member arrived longest ago.
func byArrival(st *forest.State) []*forest.Cluster {
	live := st.Live()
	// A cluster that lost all its members and got one back may have another's arrival: the stable order is by number then.
	slices.SortStableFunc(live, func(a, b *forest.Cluster) int {
		switch {
		case a.Arrival < b.Arrival:
			return -1
		case a.Arrival > b.Arrival:
			return 1
		}
		return 0
	})
	return live
}

// realCovers are the covers of a cluster that are not interim, inside from..to.
func realCovers(covers []format.Cover, from, to uint64) []format.Cover {
	var out []format.Cover
	for _, v := range covers {
		if !v.Interim && v.Offset >= from && v.Offset+v.Count <= to {
			out = append(out, v)
		}
	}
	return out
}

// found is what became of a claim that was named from outside.
type found struct {
	claim
	lost string // why there is no such claim any more; "" where there is
}

// findClaims looks for named claims in a forest as it is now.
func (s *Store) findClaims(view *refs.View, st *forest.State, names []claimName) ([]found, error) {
	places, err := placesOf(st, names)
	if err != nil {
		return nil, err
	}
	list := make([]found, len(names))
	for i, n := range names {
		if !n.placed {
			at, ok := places[n.node]
			if !ok {
				list[i].lost = lostCluster
				continue
			}
			n.cluster, n.count = at.cluster, at.count
		}
		if list[i], err = s.findClaim(view, st, n); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Why the answer to a claim is not used.
const (
	lostCluster   = "no cluster has these members any more, or ever had"
	lostInputs    = "what it was made of has changed since"
	lostOther     = "it was answered meanwhile"
	lostForgotten = "it holds what was forgotten"
	lostPieces    = "an older summary of more than its piece is still there"
)

func (s *Store) findClaim(view *refs.View, st *forest.State, n claimName) (found, error) {
	c := st.Cluster(n.cluster)
	if c == nil || n.offset+n.count > c.Count() {
		return found{lost: lostCluster}, nil
	}
	members, err := st.Slice(c, n.offset, n.offset+n.count)
	if err != nil {
		return found{}, err
	}
	// What it was made of is not in its id, and has to be what the mark says.
	all := realCovers(c.Covers, n.offset, n.offset+n.count)
	some, err := s.readable(all)
	if err != nil {
		return found{}, err
	}
	for _, covers := range [][]format.Cover{nil, some} {
		cl, err := s.claimOn(view, c, members, n.offset, covers)
		if err != nil {
			return found{}, err
		}
		if cl.node != n.node {
			return found{lost: lostCluster}, nil
		}
		if cl.mark == n.mark {
			return found{claim: cl}, nil
		}
	}
	if slices.ContainsFunc(all, func(v format.Cover) bool { return v.Offset == n.offset && v.Count == n.count }) {
		return found{lost: lostOther}, nil
	}
	return found{lost: lostInputs}, nil
}

// place is a beginning of a cluster.
type place struct{ cluster, count uint64 }

// placesOf finds the beginnings of clusters whose nodes are named alone: whole clusters, and those that have grown since.
func placesOf(st *forest.State, names []claimName) (map[format.ID]place, error) {
	wanted := map[format.ID]bool{}
	for _, n := range names {
		if !n.placed {
			wanted[n.node] = true
		}
	}
	places := map[format.ID]place{}
	for _, c := range st.Live() {
		if len(wanted) == 0 {
			return places, nil
		}
		node, err := st.Node(c)
		if err != nil {
			return nil, err
		}
		if wanted[node] {
			places[node] = place{c.Number, c.Count()}
			delete(wanted, node)
		}
	}
	for _, c := range st.Live() {
		members, err := st.Members(c)
		if err != nil {
			return nil, err
		}
		for at := max(0, len(members)-oldSizes); len(wanted) > 0; {
			var node format.ID
			n, err := forest.SizeOf(members, at, func(id format.ID) bool { node = id; return wanted[id] })
			if err != nil {
				return nil, err
			}
			if n == 0 {
				break
			}
			places[node] = place{c.Number, uint64(n)}
			delete(wanted, node)
			at = n
		}
	}
	return places, nil
}
