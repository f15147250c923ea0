package clusters

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// Members calls each, in order, for the entries that an object stands for: an entry stands for
// itself, a replacement for what it replaces, a node for its run, a summary or tombstone for its
// node, a forest for its live clusters. It stops at the first error of each and returns it.
func (s *Reader) Members(view *refs.View, id format.ID, each func(format.ID) error) error {
	header, err := s.Objects.Header(id)
	if errors.Is(err, objects.ErrNotFound) {
		return s.unwritten(view, id, each)
	}
	if err != nil {
		return err
	}
	kind, read, err := format.DecodeObject(header)
	if err != nil {
		return fmt.Errorf("object %v: %w", id, err)
	}
	switch o := read.(type) {
	case *format.Entry:
		if o.Kind == format.KindReplace {
			return s.ReplacedBy(id, each)
		}
		return each(id)
	case *format.Node:
		return s.EachMember(id, each)
	case interface{ Over() format.ID }: // a summary, a tombstone
		return s.EachMember(o.Over(), each)
	case *format.Forest:
		for _, c := range o.Clusters {
			if err := s.EachMember(c.Node, each); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("%w: a %s stands for no entries: %v", history.NoID, kind, id)
}

// EachMember calls each, in order, for the members below a node. It stops at the first error of
// each and returns it.
func (s *Reader) EachMember(node format.ID, each func(format.ID) error) error {
	var failed error
	err := forest.Walk(s.Loader(), node, func(_ format.ID, entries []format.ID) {
		for _, e := range entries {
			if failed == nil {
				failed = each(e)
			}
		}
	})
	return cmp.Or(failed, err)
}

// unwritten finds the members of a cluster by an id that no object has yet: the node of a cluster
// that has changed since the forest was written, at its present or a smaller size. Ids that ctx
// has printed stay valid in this way. It reads all live clusters.
func (s *Reader) unwritten(view *refs.View, id format.ID, each func(format.ID) error) error {
	run, err := s.runOf(view, func(node format.ID) bool { return node == id })
	if err != nil {
		return err
	}
	if run == nil {
		return fmt.Errorf("%w: %v", history.NoID, id)
	}
	for _, e := range run {
		if err := each(e); err != nil {
			return err
		}
	}
	return nil
}

// OldSizes is the number of earlier sizes of a cluster at which its id is still found.
const OldSizes = 1024

// runOf returns the members of the first live cluster, or of the beginning of one, whose node is
// wanted, or nil. It looks at the newest OldSizes sizes of each cluster.
func (s *Reader) runOf(view *refs.View, wanted func(format.ID) bool) ([]format.ID, error) {
	st, err := s.Forest(view)
	if err != nil {
		return nil, err
	}
	for _, c := range st.Live() {
		members, err := st.Members(c)
		if err != nil {
			return nil, err
		}
		n, err := forest.SizeOf(members, max(0, len(members)-OldSizes), wanted)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			return members[:n], nil
		}
	}
	return nil, nil
}

// resolveUnwritten finds the id of a cluster between two writings of the forest that starts with
// prefix.
func (s *Reader) resolveUnwritten(view *refs.View, prefix string) (format.ID, bool, error) {
	var found format.ID
	run, err := s.runOf(view, func(node format.ID) bool {
		if strings.HasPrefix(node.String(), prefix) {
			found = node
			return true
		}
		return false
	})
	return found, run != nil, err
}

// AddNodes adds the nodes over a run of entries to the transaction and returns the id of the top
// node.
func (t *Tx) AddNodes(run []format.ID) (format.ID, error) {
	raws, id, err := NodeObjects(run)
	t.store.Add(raws...)
	return id, err
}

// NodeObjects returns the nodes over a run of entries, and the id of the top node.
func NodeObjects(run []format.ID) (raws []format.Raw, id format.ID, err error) {
	nodes, err := format.Nodes(run)
	if err != nil {
		return nil, format.ID{}, err
	}
	for _, n := range nodes {
		header, err := n.Encode()
		if err != nil {
			return nil, format.ID{}, err
		}
		raw := format.Raw{Header: header}
		raws, id = append(raws, raw), raw.ID()
	}
	return raws, id, nil
}
