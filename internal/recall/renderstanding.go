package recall

import (
	"slices"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/view"
	"github.com/gemini-ctx/ctx/refs"
)

// standing are the texts that stand for messages which have left the tail.
type standing struct {
	list   []edits.Standing
	hidden map[format.ID]bool // messages whose own words the prefix does not have
}

func (s *Reader) readStanding(
	v *refs.View, value format.Value, in *view.Input,
) (t standing, err error) {
	border := in.Through + uint64(s.Config.Window.GraduateAt)
	t.list, t.hidden, err = s.edits.Standings(v, in.Session, value.ID, in.Through, border)
	return t, err
}

// hideFacts takes the facts of what the texts stand for out of an agent's work.
func (t *standing) hideFacts(in *view.Input) {
	if len(t.list)+len(t.hidden) == 0 || in.Work == nil {
		return
	}
	isHidden := func(f digest.Fact) bool { return t.hidden[f.Entry] }
	in.Work.Facts = slices.DeleteFunc(slices.Clone(in.Work.Facts), isHidden)
	in.Work.Whole = slices.DeleteFunc(slices.Clone(in.Work.Whole), isHidden)
	in.Work.Earlier = slices.DeleteFunc(in.Work.Earlier, func(m view.Message) bool {
		return slices.ContainsFunc(t.list, func(o edits.Standing) bool { return o.ID == m.ID })
	})
}

// toTail puts the texts before the messages of the tail.
func (t *standing) toTail(in *view.Input) {
	t.hideFacts(in)
	in.Tail = append(
		lists.Map(t.list, func(one edits.Standing) view.Message { return one.Message }), in.Tail...)
}

// placeStanding puts the texts of the prefix into the clusters of the oldest messages that they
// stand for, as far as these are rendered: a text fades with its cluster. The other texts go before
// the tail.
func (r *clusterReader) placeStanding(st *forest.State, in *view.Input, t standing) error {
	places, err := st.Find(
		lists.Set(lists.Map(t.list, func(one edits.Standing) format.ID { return one.First })))
	if err != nil {
		return err
	}
	var rest []edits.Standing
	for _, one := range slices.Backward(t.list) { // each goes to the front of its cluster
		p, ok := places[one.First]
		if !one.Prefix || !ok {
			rest = append(rest, one)
			continue
		}
		node, err := r.nodeOfCluster(st, p.Cluster)
		if err != nil {
			return err
		}
		for _, list := range [][]view.Cluster{in.Clusters, in.Evicted} {
			for i := range list {
				if list[i].ID == node {
					list[i].Parts = slices.Insert(list[i].Parts, 0, view.Part{Summary: one.ID,
						Text: view.ReplacementLead(one.Replaces, "message", one.ID) + one.Text})
				}
			}
		}
	}
	slices.Reverse(rest)
	t.list = rest
	t.toTail(in)
	return nil
}

// nodeOfCluster returns the node of a cluster, live or evicted; zero for none.
func (s *Reader) nodeOfCluster(st *forest.State, number uint64) (format.ID, error) {
	if live := st.Cluster(number); live != nil {
		return st.Node(live)
	}
	id, ok, err := st.Tombstone(number)
	if err != nil || !ok {
		return format.ID{}, err
	}
	stone, _, err := s.clusters.Tombstone(id)
	if err != nil {
		return format.ID{}, err
	}
	return stone.Node, nil
}
