package session

import "github.com/gemini-ctx/ctx/forest"

// owners says to which sessions clusters belong. It reads the header of a cluster's newest member once:
// while Number, Arrival and Count stay, so does that member. The zero value knows nothing yet.
type owners struct {
	known map[ownedCluster]string
}

type ownedCluster struct{ number, arrival, count uint64 }

// of returns the session of a cluster's newest member; "" where damage keeps that from being read, so
// that these clusters count together.
func (o *owners) of(s *Store, st *forest.State, c *forest.Cluster) (string, error) {
	key := ownedCluster{c.Number, c.Arrival, c.Count()}
	if name, ok := o.known[key]; ok {
		return name, nil
	}
	name, err := s.ownerOf(st, c)
	if err != nil && !isDamage(err) {
		return "", err
	}
	if o.known == nil {
		o.known = map[ownedCluster]string{}
	}
	o.known[key] = name
	return name, nil
}

func (s *Store) ownerOf(st *forest.State, c *forest.Cluster) (string, error) {
	last, err := st.Slice(c, c.Count()-1, c.Count())
	if err != nil {
		return "", err
	}
	e, err := s.entry(last[0])
	if err != nil {
		return "", err
	}
	return e.Session, nil
}

// surplus is the live clusters of a session, the one first that arrived longest ago, and how many of them
// are above the limit.
type surplus struct {
	clusters []*forest.Cluster
	over     int
}

// above returns the sessions with more live clusters than forest.max_cold_clusters allows each, in the
// order in which their oldest clusters arrived. With no more clusters than one session may have, it reads
// nothing.
func (o *owners) above(s *Store, st *forest.State) ([]surplus, error) {
	live, most := byArrival(st), s.Config.Forest.MaxColdClusters
	if len(live) <= most {
		return nil, nil
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
		sessions[i].clusters = append(sessions[i].clusters, c)
	}
	var list []surplus
	for _, of := range sessions {
		if of.over = len(of.clusters) - most; of.over > 0 {
			list = append(list, of)
		}
	}
	return list, nil
}
