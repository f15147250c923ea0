package session

import (
	"context"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session/view"
)

// Verbatim reads the clusters that are to stand word for word in a rendering, by the ids under which the rendering knows them.
func (s *Store) Verbatim(c context.Context, v *refs.View, revs []string) (map[format.ID][]view.Message, error) {
	all := map[format.ID][]view.Message{}
	for _, rev := range revs {
		id, err := s.Resolve(v, rev)
		if err != nil {
			return nil, err
		}
		node, err := s.NodeOf(id)
		if err != nil {
			return nil, err
		}
		all[node] = []view.Message{}
		err = s.Expand(v, id, ExpandOptions{}, func(shown *Shown) error {
			all[node] = append(all[node], MessageOf(shown))
			return c.Err()
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}
