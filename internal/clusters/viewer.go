package clusters

import (
	"errors"
	"fmt"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/history/dag"
	"github.com/gemini-ctx/ctx/refs"
)

// Viewer is somebody who reads a session from one of its branches, or from an entry of it. Hidden
// from a viewer is what other branches that were not joined said in the same invocation.
type Viewer struct {
	session string
	order   []format.ID // the entries that the viewer may see, as they arrived
	seen    map[format.ID]bool
}

// NewViewer returns the viewer of a branch, of a joined branch as it was when it was joined, or
// of a revision. It returns ErrNotFound if the session has none of that name.
func (s *Reader) NewViewer(view *refs.View, session, name string) (*Viewer, error) {
	d, err := s.Dag(view, session)
	if err != nil {
		return nil, err
	}
	var from dag.Viewpoint
	if v := view.Get(history.RefName(session, name)); v.Exists() {
		from = dag.Viewpoint{Tip: v.ID, Point: view.Number}
	} else if from, err = s.pastViewpoint(view, session, name, d); err != nil {
		return nil, err
	}
	r := &Viewer{session: session}
	if r.order, err = d.All(from); err != nil {
		if errors.Is(err, dag.ErrNotFound) {
			err = fmt.Errorf("%w: reader %q: %w", history.ErrNotFound, history.Clip(name), err)
		}
		return nil, err
	}
	r.seen = make(map[format.ID]bool, len(r.order))
	for _, id := range r.order {
		r.seen[id] = true
	}
	return r, nil
}

// Sees reports whether the viewer may see an entry. Entries of other sessions are visible; entries
// of this session that are in none of its branches are not.
func (r *Viewer) Sees(id format.ID, e *format.Entry) bool {
	return e.Session != r.session || r.seen[id]
}

// Each calls each for the entries that a viewer may see, in the order of their arrival: messages
// and notes, or all kinds. A message has the latest version that the viewer may see.
func (s *Reader) Each(r *Viewer, all bool, each func(*history.Shown) error) error {
	version := map[format.ID]format.ID{}
	var list []format.ID
	for _, id := range r.order {
		e, err := s.Header(id)
		if err != nil {
			return err
		}
		if e.Kind == format.KindAmend {
			version[e.Amends] = id
		}
		if all || e.Kind == format.KindMessage || e.Kind == format.KindNote {
			list = append(list, id)
		}
	}
	for _, id := range list {
		shown, err := s.Version(id, version[id])
		if err != nil {
			return err
		}
		if err := each(shown); err != nil {
			return err
		}
	}
	return nil
}

// pastViewpoint returns the viewpoint of an entry, which sees nothing that came after it.
func (s *Reader) pastViewpoint(
	view *refs.View, session, name string, d *history.SessionDAG,
) (dag.Viewpoint, error) {
	v, by, err := s.Joined(view, session, name)
	if err != nil {
		return dag.Viewpoint{}, err
	}
	if v.Exists() {
		return dag.Viewpoint{Tip: v.ID, Point: by - 1}, nil
	}
	id, err := s.Resolve(view, name)
	if err != nil {
		return dag.Viewpoint{},
			fmt.Errorf("%w: no branch, and no revision, of session %q: %w", history.ErrNotFound,
				history.Clip(session), err)
	}
	point, _ := d.Arrival(id)
	return dag.Viewpoint{Tip: id, Point: point}, nil
}
