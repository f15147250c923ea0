package summaries

import (
	"context"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
)

// Owners tells to which session each cluster belongs: that of its newest member. It reads the
// header of that member once, as long as number, arrival and count of the cluster stay. The zero
// value is ready.
type Owners struct {
	known map[ownedCluster]string
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
	names := make([]string, len(unknown))
	err := inParallel(context.Background(), len(unknown), func(i int) (err error) {
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
	live, most := clusters.ByArrival(st), s.Config.Forest.MaxColdClusters
	if len(live) <= most {
		return nil, nil
	}
	if err := o.learn(s, st, live); err != nil {
		return nil, err
	}
	at := map[string]int{}
	var sessions []surplus
	for _, c := range live {
		name, err := o.of(s, st, c)
		if err != nil {
			return nil, err
		}
		i, ok := at[name]
		if !ok {
			i = len(sessions)
			at[name] = i
			sessions = append(sessions, surplus{})
		}
		sessions[i].Clusters = append(sessions[i].Clusters, c)
	}
	var list []surplus
	for _, of := range sessions {
		if of.Over = len(of.Clusters) - most; of.Over > 0 {
			list = append(list, of)
		}
	}
	return list, nil
}
