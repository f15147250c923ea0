package summaries

import (
	"slices"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/refs"
)

// Claim is a run of members of a cluster that needs a summary, and the inputs of that summary.
// Nothing is reserved: the node proves which members the worker read, and the mark proves what else
// it read, so that the store does not have to trust the worker.
type Claim struct {
	Cluster uint64
	Offset  uint64      // of the run in its cluster
	Members []format.ID // the run
	Node    format.ID   // over the run
	// Covers are the summaries that are read in place of the members under them.
	Covers []format.Cover
	// Mark is a digest of what is read besides the first versions of the members: the summaries of
	// covers, later versions, forgotten words. It is "" if there is none of that.
	Mark string
	// Replaces says that the answer replaces all summaries of the run. The mark then includes these
	// summaries, although the worker reads the members.
	Replaces bool
	Tokens   int    // the largest number of tokens of the summary
	Focus    string // what the summary must keep before all else; "" for nothing
	arrival  uint64 // of the cluster
	evict    bool   // the cluster will be evicted if nothing changes
}

// End returns the offset behind the run.
func (c *Claim) End() uint64 { return c.Offset + uint64(len(c.Members)) }

// direct returns the members that are read themselves: those under none of the claim's covers.
func (c *Claim) direct() []format.ID {
	var out []format.ID
	at := c.Offset
	for _, v := range c.Covers {
		out = append(out, c.Members[at-c.Offset:v.Offset-c.Offset]...)
		at = v.Offset + v.Count
	}
	return append(out, c.Members[at-c.Offset:]...)
}

// ID returns the id that a worker returns with its answer; see Run. The node alone is enough
// for the first members of a cluster in their first versions.
func (c *Claim) ID() string {
	r := Run{Node: c.Node, Mark: c.Mark, Replaces: c.Replaces}
	if r.Placed = !c.Replaces && (c.Offset > 0 || c.Mark != ""); r.Placed {
		r.Cluster, r.Offset, r.Count = c.Cluster, c.Offset, uint64(len(c.Members))
	}
	return r.String()
}

// IsWhole reports whether a claim is about a whole cluster.
func IsWhole(st *forest.State, c *Claim) bool {
	now := st.Cluster(c.Cluster)
	return now != nil && c.Offset == 0 && c.End() == now.Count()
}

// markOf returns the mark that a claim has as of view, where c is its cluster.
func (s *Reader) markOf(view *refs.View, c *forest.Cluster, cl *Claim) (string, error) {
	covers := cl.Covers
	if cl.Replaces {
		covers = RealCovers(c.Covers, cl.Offset, cl.End())
	}
	var mark Marker
	for _, v := range covers {
		mark.Add("summary %v", v.Summary)
	}
	versions := cl.direct()
	for i, id := range versions {
		latest, err := s.Newest(view, id)
		if err != nil {
			return "", err
		}
		if latest != id {
			mark.Add("version %v %v", id, latest)
		}
		versions[i] = latest
	}
	gone, err := s.gone(versions)
	if err != nil {
		return "", err
	}
	for _, id := range gone {
		mark.Add("gone %v", id)
	}
	return mark.String(), nil
}

// newClaim makes the claim of a run of members of a cluster. Its inputs are covers and the
// members that covers leaves out.
func (s *Reader) newClaim(
	view *refs.View, c *forest.Cluster, run []format.ID, offset uint64, covers []format.Cover,
) (Claim, error) {
	return s.marked(view, c,
		Claim{Cluster: c.Number, Offset: offset, Members: slices.Clone(run), Covers: covers,
			arrival: c.Arrival})
}

func (s *Reader) marked(view *refs.View, c *forest.Cluster, cl Claim) (Claim, error) {
	var err error
	if cl.Node, err = format.NodeOf(cl.Members); err == nil {
		cl.Mark, err = s.markOf(view, c, &cl)
	}
	return cl, err
}

// ClaimToReplace makes the claim of the first count members of a cluster. Its answer replaces the
// summaries of these members.
func (s *Reader) ClaimToReplace(
	view *refs.View, st *forest.State, c *forest.Cluster, count uint64,
) (Claim, error) {
	members, err := st.Slice(c, 0, count)
	if err != nil {
		return Claim{}, err
	}
	return s.marked(view, c,
		Claim{Cluster: c.Number, Members: slices.Clone(members), Replaces: true,
			arrival: c.Arrival})
}

// RealCovers returns the covers between two offsets of a cluster that are not interim.
func RealCovers(covers []format.Cover, from, to uint64) []format.Cover {
	var out []format.Cover
	for _, v := range covers {
		if !v.Interim && v.Offset >= from && v.Offset+v.Count <= to {
			out = append(out, v)
		}
	}
	return out
}

// Reasons for which the answer to a claim is not used.
const (
	lostCluster   = "no cluster has these members any more, or ever had"
	LostInputs    = "what it was made of has changed since"
	lostOther     = "it was answered meanwhile"
	LostForgotten = "it holds what was forgotten"
	lostPieces    = "an older summary of more than its piece is still there"
)

// found is the claim of an id. lost says why there is no such claim any more, or is "".
type found struct {
	Claim
	lost string
}

// findClaims looks for the claims of ids in a forest as of view.
func (s *Reader) findClaims(view *refs.View, st *forest.State, runs []Run) ([]found, error) {
	places, err := placesOf(st, runs)
	if err != nil {
		return nil, err
	}
	list := make([]found, len(runs))
	for i, r := range runs {
		if !r.Placed {
			at, ok := places[r.Node]
			if !ok {
				list[i].lost = lostCluster
				continue
			}
			r.Cluster, r.Count = at.Cluster, at.Count
		}
		if list[i], err = s.findClaim(view, st, r); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (s *Reader) findClaim(view *refs.View, st *forest.State, r Run) (found, error) {
	c := st.Cluster(r.Cluster)
	if c == nil || r.Offset+r.Count > c.Count() {
		return found{lost: lostCluster}, nil
	}
	if r.Replaces {
		// The lock decides whether the mark still fits: the answer may be there already.
		cl, err := s.ClaimToReplace(view, st, c, r.Count)
		cl.Mark = r.Mark
		return found{Claim: cl}, err
	}
	members, err := st.Slice(c, r.Offset, r.Offset+r.Count)
	if err != nil {
		return found{}, err
	}
	// The id does not name the inputs. They are those whose mark is the one in the id.
	all := RealCovers(c.Covers, r.Offset, r.Offset+r.Count)
	some, err := s.readable(all)
	if err != nil {
		return found{}, err
	}
	for _, covers := range [][]format.Cover{nil, some} {
		cl, err := s.newClaim(view, c, members, r.Offset, covers)
		if err != nil {
			return found{}, err
		}
		if cl.Node != r.Node {
			return found{lost: lostCluster}, nil
		}
		if cl.Mark == r.Mark {
			return found{Claim: cl}, nil
		}
	}
	if slices.ContainsFunc(all,
		func(v format.Cover) bool { return v.Offset == r.Offset && v.Count == r.Count }) {
		return found{lost: lostOther}, nil
	}
	return found{lost: LostInputs}, nil
}

// place is the beginning of a cluster.
type place struct{ Cluster, Count uint64 }

// placesOf finds the beginnings of clusters that ids name by their nodes alone: whole clusters, and
// clusters that have grown since.
func placesOf(st *forest.State, runs []Run) (map[format.ID]place, error) {
	wanted := map[format.ID]bool{}
	for _, r := range runs {
		if !r.Placed {
			wanted[r.Node] = true
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
		for at := max(0, len(members)-clusters.OldSizes); len(wanted) > 0; {
			var node format.ID
			n, err := forest.SizeOf(members, at,
				func(id format.ID) bool { node = id; return wanted[id] })
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
