package clusters

import (
	"errors"
	"fmt"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/history/dag"
	"github.com/gemini-ctx/ctx/refs"
)

// NewViewer returns the viewer of a branch, of a joined branch as it was when it was joined, or
// of a revision. It returns ErrNotFound if the session has none of that name.
func (s *Reader) NewViewer(view *refs.View, session, name string) (*history.Viewer, error) {
	d, err := s.Dag(view, session)
	if err != nil {
		return nil, err
	}
	r := &history.Viewer{Session: session, Dag: d.DAG}
	if v := view.Get(history.RefName(session, name)); v.Exists() {
		r.Reader = dag.Reader{Tip: v.ID, Point: view.Number}
	} else if r.Reader, err = s.pastReader(view, session, name, d); err != nil {
		return nil, err
	}
	if r.Order, err = d.All(r.Reader); err != nil {
		if errors.Is(err, dag.ErrNotFound) {
			err = fmt.Errorf("%w: reader %q: %w", history.ErrNotFound, history.Clip(name), err)
		}
		return nil, err
	}
	r.Seen = make(map[format.ID]bool, len(r.Order))
	for _, id := range r.Order {
		r.Seen[id] = true
	}
	return r, nil
}

// pastReader returns the reader at an entry, who sees nothing that came after it.
func (s *Reader) pastReader(view *refs.View, session, name string, d *history.SessionDAG) (dag.Reader, error) {
	v, by, err := s.Joined(view, session, name)
	if err != nil {
		return dag.Reader{}, err
	}
	if v.Exists() {
		return dag.Reader{Tip: v.ID, Point: by - 1}, nil
	}
	id, err := s.Resolve(view, name)
	if err != nil {
		return dag.Reader{}, fmt.Errorf("%w: no branch, and no revision, of session %q: %w", history.ErrNotFound, history.Clip(session), err)
	}
	point, _ := d.Arrival(id)
	return dag.Reader{Tip: id, Point: point}, nil
}
