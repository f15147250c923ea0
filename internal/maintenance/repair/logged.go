package repair

import (
	"errors"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// mendLogged saves what is sound of the objects that damaged records carry, and writes the log
// without these objects. The operations themselves are whole.
func (r *repairer) mendLogged() error {
	view, err := r.s.Refs.Begin(r.held)
	if err != nil {
		return err
	}
	if err := r.s.Refs.CheckCarried(view); err != nil {
		return err
	}
	damaged := 0
	for _, rec := range view.Since {
		if rec.Damaged {
			damaged++
		}
	}
	if damaged == 0 {
		return nil
	}
	if err := r.touch(); err != nil {
		return err
	}
	named := namedBy(view.Since)
	var keep []format.Raw
	for _, rec := range view.Since {
		for _, raw := range rec.Op.Objects {
			id := raw.ID()
			if rec.Damaged && !named[id] {
				r.dropped[id] = true
				continue // its header is damaged, which gives it another id
			}
			keep = append(keep, raw)
			if r.s.Objects.CheckLogged(id) == nil {
				continue
			}
			if err := r.keepCarried(id, raw.Header); err != nil {
				return err
			}
		}
	}
	r.s.Objects.SetLogged(keep)
	if err := r.s.Objects.PackLogged(r.held); err != nil {
		return err
	}
	if _, err := r.s.Refs.Unload(r.held, view, true); err != nil {
		return err
	}
	ids := make([]format.ID, 0, len(named))
	for id := range named {
		ids = append(ids, id)
	}
	missing, err := r.s.Objects.HasAll(graph.SortedIDs(ids))
	r.missing = append(r.missing, missing...)
	r.mended("%d records of the log carried damaged objects; the sound ones are in a pack", damaged)
	return err
}

// keepCarried stores the header of an object whose carried body is damaged, unless another copy of
// the object is whole.
func (r *repairer) keepCarried(id format.ID, header []byte) error {
	if there, err := r.s.Objects.Elsewhere(id); err != nil || there {
		return err
	}
	if err := r.loseBody(id, header); err != nil {
		return err
	}
	return r.s.Objects.Put(format.Raw{Header: header})
}

// namedBy returns the objects that operations name, and those that the carried objects name.
func namedBy(records []refs.Record) map[format.ID]bool {
	named := map[format.ID]bool{}
	for _, rec := range records {
		for _, root := range graph.RootsOfRecord(rec.Op) {
			named[root.ID] = true
		}
		for _, raw := range rec.Op.Objects {
			if _, object, err := format.DecodeObject(raw.Header); err == nil {
				for _, l := range object.Links() {
					named[l.ID] = true
				}
			}
		}
	}
	return named
}

// putCarried stores the objects that records behind a damage carry, and passes over those that are
// damaged themselves. A body that was forgotten stays forgotten.
func (r *repairer) putCarried(later []refs.Record) error {
	for _, rec := range later {
		for _, raw := range rec.Op.Objects {
			err := r.s.Objects.Admits(raw)
			var gone *objects.GoneError
			if errors.As(err, &gone) {
				raw.Body, err = nil, nil
			}
			if err != nil && rec.Damaged {
				continue
			}
			if err := r.s.Objects.Put(raw); err != nil {
				return err
			}
		}
	}
	return nil
}
