package recall

import (
	"errors"
	"slices"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// Provenance returns, for a summary, a node or a tombstone, what it was made from, and for an entry
// the clusters and summaries that contain it.
func (s *Reader) Provenance(view *refs.View, id format.ID) (*clusters.Provenance, error) {
	p := &clusters.Provenance{ID: id, Kind: "node", Node: id}
	header, err := s.Objects.Header(id)
	if err != nil && !errors.Is(err, objects.ErrNotFound) {
		return nil, err
	}
	if err == nil {
		kind, read, err := format.DecodeObject(header)
		if err != nil {
			return nil, err
		}
		p.Kind = kind.String()
		switch o := read.(type) {
		case *format.Summary:
			p.Summary, p.Node, p.Inputs = o, o.Node, o.Inputs
		case *format.Tombstone:
			p.Node = o.Node
		case *format.Entry:
			p.Node = format.ID{}
			if err := s.edits.Replacements(view, header, p); err != nil {
				return nil, err
			}
		}
	}
	members := map[format.ID]bool{}
	if p.Targets != nil {
		return p, nil // each of them has an answer of its own
	}
	if err := s.clusters.Members(view, id,
		func(e format.ID) error { members[e] = true; return nil }); err != nil {
		return nil, err
	}
	st, err := s.Forest(view)
	if err == nil {
		err = s.addClusters(p, st, members)
	}
	for _, label := range history.SharedForests(view) {
		if err == nil {
			st, err = s.SharedForest(view, label)
		}
		if err == nil {
			err = s.addClusters(p, st, members)
		}
	}
	return p, err
}

// addClusters adds the clusters of a forest that have any of the members.
func (s *Reader) addClusters(
	p *clusters.Provenance, st *forest.State, members map[format.ID]bool,
) error {
	found, err := st.Find(members)
	if err != nil || len(found) == 0 {
		return err
	}
	in := map[uint64]bool{}
	for _, place := range found {
		in[place.Cluster] = true
	}
	all, err := s.clusters.InfosOf(st, func(number uint64) bool { return in[number] })
	for _, c := range all {
		p.Clusters = append(p.Clusters, coversOf(c, p.Kind, found[p.ID]))
	}
	return err
}

// coversOf returns c. If kind is "entry", Covers has only the covers of the member at a place.
func coversOf(c clusters.ClusterInfo, kind string, at forest.Place) clusters.ClusterInfo {
	if kind == "entry" {
		c.Covers = slices.DeleteFunc(slices.Clone(c.Covers), func(v format.Cover) bool {
			return at.Offset < v.Offset || at.Offset >= v.Offset+v.Count
		})
	}
	return c
}
