package summaries

import (
	"cmp"
	"context"
	"slices"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
)

// Owners tells to which session each cluster belongs: that of its newest member. It reads the
// header of that member once, as long as number, arrival and count of the cluster stay. The zero
// value is ready.
type Owners struct {
	// Focus is what the summaries of clusters must keep before all else: of those of the sessions
	// in FocusOf, or of all where that is nil.
	Focus   string
	FocusOf map[string]bool

	known map[ownedCluster]string

	// What above returned last, of all sessions, as of a state. While no cluster gets a member, the
	// lists only become shorter.
	st       *forest.State
	arrivals uint64
	sessions []surplus
}

type ownedCluster struct{ number, arrival, count uint64 }

// of returns the session of a cluster's newest member; "" where damage keeps that from being read,
// so that these clusters count together.
func (o *Owners) of(s *history.Reader, st *forest.State, c *forest.Cluster) (string, error) {
	name, ok := o.known[keyOf(c)]
	if ok {
		return name, nil
	}
	name, err := ownerOf(s, st, c)
	if err == nil {
		o.note(c, name)
	}
	return name, err
}

// FocusOn returns what a summary of a cluster must keep before all else; "" for nothing.
func (o *Owners) FocusOn(
	s *history.Reader, st *forest.State, c *forest.Cluster,
) (string, error) {
	if o.Focus == "" || o.FocusOf == nil {
		return o.Focus, nil
	}
	name, err := o.of(s, st, c)
	if !o.FocusOf[name] {
		return "", err
	}
	return o.Focus, err
}

func keyOf(c *forest.Cluster) ownedCluster { return ownedCluster{c.Number, c.Arrival, c.Count()} }

func (o *Owners) note(c *forest.Cluster, name string) {
	if o.known == nil {
		o.known = map[ownedCluster]string{}
	}
	o.known[keyOf(c)] = name
}

// learn reads the owners of those clusters in a list that are not known, on all processors.
func (o *Owners) learn(s *history.Reader, st *forest.State, list []*forest.Cluster) error {
	var unknown []*forest.Cluster
	for _, c := range list {
		if _, ok := o.known[keyOf(c)]; !ok {
			unknown = append(unknown, c)
		}
	}
	if len(unknown) < 2 {
		return nil
	}
	unknown = st.Placed(unknown)
	names := make([]string, len(unknown))
	err := InParallel(context.Background(), len(unknown), func(i int) (err error) {
		names[i], err = ownerOf(s, st, unknown[i])
		return err
	})
	if err != nil {
		return err
	}
	for i, c := range unknown {
		o.note(c, names[i])
	}
	return nil
}

func ownerOf(s *history.Reader, st *forest.State, c *forest.Cluster) (string, error) {
	last, err := st.Slice(c, c.Count()-1, c.Count())
	if err != nil {
		return "", history.ButDamage(err)
	}
	e, err := s.Header(last[0])
	if err != nil {
		return "", history.ButDamage(err)
	}
	return e.Session, nil
}

// surplus is a session with too many live clusters.
type surplus struct {
	Clusters []*forest.Cluster // all of them, by the arrival of their newest members
	Over     int               // how many are above the limit
}

// above returns the sessions with more live clusters than forest.max_cold_clusters, by the arrival
// of their oldest clusters. It reads no entry where all clusters together are no more than that.
func (o *Owners) above(s *history.Reader, st *forest.State) ([]surplus, error) {
	most := s.Config.Forest.MaxColdClusters
	if st.LiveCount() <= most {
		return nil, nil
	}
	if !o.evicted(st) {
		if err := o.group(s, st); err != nil {
			return nil, err
		}
	}
	var list []surplus
	for _, of := range o.sessions {
		if of.Over = len(of.Clusters) - most; of.Over > 0 {
			list = append(list, of)
		}
	}
	return list, nil
}

// evicted takes the clusters that have left the state since from the beginnings of the lists. It
// reports whether the lists are those of the state then.
func (o *Owners) evicted(st *forest.State) bool {
	if o.st != st || o.arrivals != st.Arrivals {
		return false
	}
	live := 0
	for i := range o.sessions {
		of := &o.sessions[i]
		for len(of.Clusters) > 0 && st.Cluster(of.Clusters[0].Number) != of.Clusters[0] {
			of.Clusters = of.Clusters[1:]
		}
		live += len(of.Clusters)
	}
	if live != st.LiveCount() {
		return false // one left from between others, or came back
	}
	o.sessions = slices.DeleteFunc(o.sessions,
		func(of surplus) bool { return len(of.Clusters) == 0 })
	slices.SortStableFunc(o.sessions, func(a, b surplus) int {
		x, y := a.Clusters[0], b.Clusters[0]
		return cmp.Or(cmp.Compare(x.Arrival, y.Arrival), cmp.Compare(x.Number, y.Number))
	})
	return true
}

// group makes the lists of a state.
func (o *Owners) group(s *history.Reader, st *forest.State) error {
	live := clusters.ByArrival(st)
	if err := o.learn(s, st, live); err != nil {
		return err
	}
	at := map[string]int{}
	o.sessions = nil
	known := make(map[ownedCluster]string, len(live)) // without those that have left
	for _, c := range live {
		name, err := o.of(s, st, c)
		if err != nil {
			return err
		}
		known[keyOf(c)] = name
		i, ok := at[name]
		if !ok {
			i = len(o.sessions)
			at[name] = i
			o.sessions = append(o.sessions, surplus{})
		}
		o.sessions[i].Clusters = append(o.sessions[i].Clusters, c)
	}
	o.st, o.arrivals, o.known = st, st.Arrivals, known
	return nil
}
