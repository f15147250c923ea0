package session

import (
	"errors"
	"fmt"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/search"
	"github.com/gemini-ctx/ctx/session/view"
)

// mostMatches is how many messages that answer a question a rendering chooses among.
const mostMatches = 160

// Ask adds to what a branch renders the messages of its history that answer a question, evicted ones included, best first. A question with nothing to
// look for, as a thumb up or "why?", has no answers: what is asked in passing is no reason to render nothing. Else it fails as Search does.
func (s *Store) Ask(v *refs.View, in *view.Input, question string) error {
	if _, err := search.Parse(question); errors.Is(err, search.ErrNoTerms) {
		s.warn(fmt.Errorf("the question asks for nothing that can be looked for: %q", clip(question)))
		return nil
	}
	hits, err := s.Search(v, SearchQuery{Text: question, Session: in.Session, Branch: in.Branch, Most: mostMatches})
	if err != nil {
		return err
	}
	ids := make(map[format.ID]bool, len(hits))
	for _, h := range hits {
		ids[h.ID] = true
	}
	nodes, err := s.nodesOf(in.Pin, ids)
	if err != nil {
		return err
	}
	in.Query = question
	for _, h := range hits {
		in.Matches = append(in.Matches, view.Match{Message: MessageOf(h.Shown), Score: h.Score, Cluster: nodes[h.ID]})
	}
	return nil
}

// nodesOf returns the nodes of the clusters that entries are members of in a forest. Those that are in none are left out.
func (s *Store) nodesOf(id format.ID, entries map[format.ID]bool) (map[format.ID]format.ID, error) {
	st, err := s.forestAt(id)
	if err != nil {
		return nil, err
	}
	places, err := st.Find(entries)
	if err != nil {
		return nil, err
	}
	byCluster := map[uint64]format.ID{}
	nodes := make(map[format.ID]format.ID, len(places))
	for entry, place := range places {
		node, ok := byCluster[place.Cluster]
		if !ok {
			if node, err = s.clusterNode(st, place.Cluster); err != nil {
				return nil, err
			}
			byCluster[place.Cluster] = node
		}
		nodes[entry] = node
	}
	return nodes, nil
}

// clusterNode returns the node of a cluster, live or evicted.
func (s *Store) clusterNode(st *forest.State, number uint64) (format.ID, error) {
	if c := st.Cluster(number); c != nil {
		return st.Node(c)
	}
	id, ok, err := st.Tombstone(number)
	if err != nil || !ok {
		return format.ID{}, err
	}
	stone, err := s.Loader().Tombstone(id)
	if err != nil {
		return format.ID{}, err
	}
	return stone.Node, nil
}
