package repair

import (
	"maps"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
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
	if err := r.keepSound(view.Since, named); err != nil {
		return err
	}
	r.s.Objects.SetLogged(view.Carried())
	if err := r.s.Objects.PackLogged(r.held); err != nil {
		return err
	}
	if _, err := r.s.Refs.Unload(r.held, view, true); err != nil {
		return err
	}
	missing, err := r.s.Objects.HasAll(slices.SortedFunc(maps.Keys(named), format.ID.Compare))
	r.missing = append(r.missing, missing...)
	r.mended("%d records of the log carried damaged objects; the sound ones are in a pack", damaged)
	return err
}

// keepSound takes what is damaged out of the objects of records. named are those that something
// names. Of an object whose body is damaged, the header stays.
func (r *repairer) keepSound(records []refs.Record, named map[format.ID]bool) error {
	for _, rec := range records {
		if !rec.Damaged {
			continue
		}
		var keep []format.Raw
		for _, raw := range rec.Op.Objects {
			id := raw.ID()
			if !named[id] && !history.Vouched(raw, r.s.Nonce) {
				r.dropped[id] = true
				continue // its header is damaged, which gives it another id
			}
			if err := r.s.Objects.Admits(raw); err != nil && !objects.IsGone(err) {
				if err := r.keepCarried(id, raw.Header); err != nil {
					return err
				}
				raw.Body = nil
			}
			keep = append(keep, raw)
		}
		rec.Op.Objects = keep
	}
	return nil
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
			if objects.IsGone(err) {
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
