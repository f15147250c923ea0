package recall

import (
	"context"
	"errors"
	"fmt"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/view"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// ExpandOptions limit what Expand returns.
type ExpandOptions struct {
	Session, Branch string           // only the history of this branch; "" for the whole store
	Reader          *clusters.Viewer // only what this reader may see; nil for everything
	// From is the first member to return; zero for all. Expand returns ErrNotFound if From is no
	// member.
	From format.ID
}

// Expand calls each for the entries that an object stands for, in order, with their latest texts.
func (s *Reader) Expand(
	view *refs.View, id format.ID, o ExpandOptions, each func(*history.Shown) error,
) error {
	in, err := s.historyOf(view, o)
	if err != nil {
		return err
	}
	begun := o.From.IsZero()
	err = s.clusters.Members(view, id, func(e format.ID) error {
		if begun = begun || e == o.From; !begun {
			return nil
		}
		if in != nil {
			if has, err := in.Has(e); err != nil || !has {
				return err
			}
		}
		shown, err := s.Current(view, e)
		if err != nil || o.Reader != nil && !o.Reader.Sees(e, shown.Entry) {
			return err
		}
		return each(shown)
	})
	if err == nil && !begun {
		err = fmt.Errorf("%w: %v is no member of %v", history.NoID, o.From, id)
	}
	return err
}

// Current reads an entry with its latest text, in its own place.
func (s *Reader) Current(view *refs.View, id format.ID) (*history.Shown, error) {
	newest, err := s.Newest(view, id)
	if err != nil {
		return nil, err
	}
	return s.Version(id, newest)
}

// historyOf returns the history of the branch that o names, which is read only as far back as it is
// asked; nil for the whole store.
func (s *Reader) historyOf(view *refs.View, o ExpandOptions) (*history.Lineage, error) {
	if o.Session == "" {
		return nil, nil
	}
	tip, err := history.Tip(view, o.Session, o.Branch)
	if err != nil {
		return nil, err
	}
	return s.History(tip.ID), nil
}

// Verbatim reads the messages of clusters that a rendering prints word for word. The keys are the
// nodes of the clusters, as in view.Options.Expand.
func (s *Reader) Verbatim(
	c context.Context, v *refs.View, revs []string,
) (map[format.ID][]view.Message, error) {
	all := map[format.ID][]view.Message{}
	for _, rev := range revs {
		id, err := s.clusters.Resolve(v, rev)
		if err != nil {
			return nil, err
		}
		node, err := s.NodeOf(id)
		if err != nil {
			return nil, err
		}
		all[node] = []view.Message{}
		err = s.Expand(v, id, ExpandOptions{}, func(shown *history.Shown) error {
			all[node] = append(all[node], edits.MessageOf(shown))
			return c.Err()
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// NodeOf returns the node of a summary or of a tombstone, and any other id as it is. One place
// names a cluster by its summary and another by its node; NodeOf makes the two comparable.
func (s *Reader) NodeOf(id format.ID) (format.ID, error) {
	header, err := s.Objects.Header(id)
	if errors.Is(err, objects.ErrNotFound) {
		return id, nil // a cluster that only an unwritten forest has
	}
	if err != nil {
		return id, err
	}
	_, read, err := format.DecodeObject(header)
	if err != nil {
		return id, fmt.Errorf("object %v: %w", id, err)
	}
	if o, ok := read.(interface{ Over() format.ID }); ok {
		return o.Over(), nil
	}
	return id, nil
}
