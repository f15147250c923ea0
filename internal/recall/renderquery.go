package recall

import (
	"errors"
	"fmt"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/gemini-ctx/ctx/internal/view"
	"github.com/gemini-ctx/ctx/refs"
)

// maxMatches is the number of messages that answer a question among which a rendering chooses.
const maxMatches = 160

// AddMatches adds to a rendering the messages of the branch, evicted or not, that answer a
// question, best first. A question without words to look for, such as "why?", adds nothing and is
// reported: it is no reason to render nothing. Other errors are those of Search.
func (s *Reader) AddMatches(v *refs.View, in *view.Input, question string) error {
	if _, err := search.Parse(question); errors.Is(err, search.ErrNoTerms) {
		s.Report(fmt.Errorf("the question asks for nothing that can be looked for: %q",
			history.Clip(question)))
		return nil
	}
	hits, err := s.Search(v,
		find.SearchQuery{Text: question, Session: in.Session, Branch: in.Branch, Limit: maxMatches})
	if err != nil {
		return err
	}
	ids := lists.Map(hits, func(h find.Hit) format.ID { return h.ID })
	nodes, err := s.nodesOf(in.Pin, lists.Set(ids))
	if err != nil {
		return err
	}
	in.Query = question
	for _, h := range hits {
		in.Matches = append(in.Matches,
			view.Match{Message: edits.MessageOf(h.Shown), Score: h.Score, Cluster: nodes[h.ID]})
	}
	return nil
}

// nodesOf returns, by entry, the node of the cluster that has the entry in a forest. An entry
// without a cluster is not in the map.
func (s *Reader) nodesOf(
	id format.ID, entries map[format.ID]bool,
) (map[format.ID]format.ID, error) {
	st, err := s.ReadForest(id)
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
			if node, err = s.nodeOfCluster(st, place.Cluster); err != nil {
				return nil, err
			}
			byCluster[place.Cluster] = node
		}
		nodes[entry] = node
	}
	return nodes, nil
}
