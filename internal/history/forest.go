package history

import (
	"fmt"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// loader gives a forest's state its objects.
type loader struct{ s *Reader }

func (l loader) Node(id format.ID) (*format.Node, error) {
	b, err := l.s.Objects.Header(id)
	if err != nil {
		return nil, err
	}
	return format.DecodeNode(b)
}

func (l loader) Page(id format.ID) (*format.Page, error) {
	b, err := l.s.Objects.Header(id)
	if err != nil {
		return nil, err
	}
	return format.DecodePage(b)
}

func (l loader) Tombstone(id format.ID) (*format.Tombstone, error) {
	b, err := l.s.Objects.Header(id)
	if err != nil {
		return nil, err
	}
	return format.DecodeTombstone(b)
}

// Loader returns what reads a forest's objects from this store.
func (s *Reader) Loader() forest.Loader { return loader{s} }

// Forest returns the main forest as of view: the object that its ref names, with the decisions
// since.
func (s *Reader) Forest(view *refs.View) (*forest.State, error) { return s.ForestOf(view, MainForest) }

// ForestOf is Forest for the forest of a name.
func (s *Reader) ForestOf(view *refs.View, name string) (*forest.State, error) {
	st := forest.New(name, s.Loader())
	if id := view.Get(ForestRefOf(name)).ID; !id.IsZero() {
		var err error
		if st, err = s.ReadForest(id); err != nil {
			return nil, err
		}
	}
	if err := st.ApplyAll(view.Pending(name)); err != nil {
		return nil, err
	}
	return st, nil
}

// ReadForest returns the state that a forest object holds; the zero ID is the empty forest.
func (s *Reader) ReadForest(id format.ID) (*forest.State, error) {
	if id.IsZero() {
		return forest.New(MainForest, s.Loader()), nil
	}
	b, err := s.Objects.Header(id)
	if err != nil {
		return nil, fmt.Errorf("cannot read forest: %w", err)
	}
	f, err := format.DecodeForest(b)
	if err != nil {
		return nil, err
	}
	return forest.From(f, s.Loader()), nil
}

// ByArrival returns the live clusters, by the arrival of their newest members.
func ByArrival(st *forest.State) []*forest.Cluster {
	live := st.Live()
	// A cluster that lost all its members and got one back may have another's arrival: the stable
	// order is by number then.
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

// Owners tells to which session each cluster belongs: that of its newest member. It reads the
// header of that member once, as long as number, arrival and count of the cluster stay. The zero
// value is ready.
type Owners struct {
	known map[ownedCluster]string
}

type ownedCluster struct{ number, arrival, count uint64 }

// of returns the session of a cluster's newest member; "" where damage keeps that from being read,
// so that these clusters count together.
func (o *Owners) of(s *Reader, st *forest.State, c *forest.Cluster) (string, error) {
	key := ownedCluster{c.Number, c.Arrival, c.Count()}
	if name, ok := o.known[key]; ok {
		return name, nil
	}
	name, err := s.ownerOf(st, c)
	if err != nil && !IsDamage(err) {
		return "", err
	}
	if o.known == nil {
		o.known = map[ownedCluster]string{}
	}
	o.known[key] = name
	return name, nil
}

func (s *Reader) ownerOf(st *forest.State, c *forest.Cluster) (string, error) {
	last, err := st.Slice(c, c.Count()-1, c.Count())
	if err != nil {
		return "", err
	}
	e, err := s.Header(last[0])
	if err != nil {
		return "", err
	}
	return e.Session, nil
}

// surplus is the live clusters of a session, the one first that arrived longest ago, and how many
// of them are above the limit.
type surplus struct {
	Clusters []*forest.Cluster
	Over     int
}

// Above returns the sessions with more live clusters than forest.max_cold_clusters, by the arrival
// of their oldest clusters. It reads no entry where all clusters together are no more than that.
func (o *Owners) Above(s *Reader, st *forest.State) ([]surplus, error) {
	live, most := ByArrival(st), s.Config.Forest.MaxColdClusters
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

// SummaryOrigin is how and when a summary came into the store.
type SummaryOrigin struct {
	Summary *format.Summary
	// Operation is the newest operation that made it the summary of its cluster, and Time when that
	// was; zero where the log does not reach back as far.
	Operation uint64
	Time      time.Time
}

// SummaryOrigins returns the origins of summaries, by their ids.
func (s *Reader) SummaryOrigins(view *refs.View, ids []format.ID) (map[format.ID]SummaryOrigin, error) {
	origins := map[format.ID]SummaryOrigin{}
	for _, id := range ids {
		header, err := s.Objects.Header(id)
		if err != nil {
			return nil, err
		}
		sum, err := format.DecodeSummary(header)
		if err != nil {
			return nil, fmt.Errorf("object %v: %w", id, err)
		}
		origins[id] = SummaryOrigin{Summary: sum}
	}
	left := len(origins)
	if left == 0 {
		return origins, nil
	}
	err := s.Refs.Backward(view, func(r refs.Record) bool {
		for _, f := range r.Op.Forests {
			for _, d := range f.Decisions {
				o, asked := origins[d.ID]
				if d.Kind == format.DecideSettle && asked && o.Operation == 0 {
					o.Operation, o.Time = r.Op.Number, r.Op.Time
					origins[d.ID] = o
					left--
				}
			}
		}
		return left > 0
	})
	return origins, err
}
