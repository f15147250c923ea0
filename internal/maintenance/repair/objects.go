package repair

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/objects"
)

// mendPacks restores damaged packs from their parity, and rebuilds indexes that do not fit. Of a
// pack that its parity cannot restore it saves the good objects, and removes the pack.
func (r *repairer) mendPacks() error {
	names, err := r.s.Objects.PackNames(objects.PackExt)
	if err != nil {
		return err
	}
	indexes, err := r.s.Objects.PackNames(objects.IndexExt)
	if err != nil {
		return err
	}
	names = graph.SortedIDs(append(names, indexes...))
	anyRestored := false
	for _, id := range slices.Compact(names) {
		err := r.s.Objects.CheckPack(id)
		if err == nil {
			continue
		}
		if err := errors.Join(r.touch(), r.clear(r.s.Objects.IndexPath(id))); err != nil {
			return err
		}
		if r.s.Objects.Reindex(id) == nil {
			r.mended("the index of pack %v is made again", id)
			continue
		}
		restored, err := r.s.Objects.RestorePack(r.held, id)
		if err != nil {
			return err
		}
		if restored {
			anyRestored = true
			r.mended(
				"pack %v was damaged; its parity restored it. If a forget named it as remaining, "+
					"forget again", id)
			continue
		}
		if err := r.mendPack(id); err != nil {
			return err
		}
	}
	if !anyRestored {
		return nil
	}
	return r.stripForgotten()
}

// stripForgotten takes forgotten bodies out of the packs: a forget could not remove them from one
// that was damaged.
func (r *repairer) stripForgotten() error {
	var unknown error
	forgotten := func(id format.ID) bool {
		yes, err := r.s.Objects.Forgotten(id)
		unknown = errors.Join(unknown, err)
		return yes
	}
	_, err := r.s.Objects.StripPacks(r.ctx, r.held, forgotten, func(string) {})
	return errors.Join(err, unknown)
}

func (r *repairer) mendPack(id format.ID) error {
	var good []format.Raw
	err := r.s.Objects.SalvagePack(id, func(raw format.Raw, whole bool) error {
		if !whole {
			whole, err := r.keepHeader(raw.ID(), raw.Header)
			if err != nil || !whole {
				return err
			}
			raw.Body = nil
		}
		good = append(good, raw)
		return r.leaveForgotten(&good[len(good)-1])
	})
	if err != nil {
		return err
	}
	if len(good) > 0 {
		written, err := r.s.Objects.WritePack(func(yield func(format.Raw, error) bool) {
			for _, raw := range good {
				if !yield(raw, nil) {
					return
				}
			}
		}, objects.Default)
		if err != nil {
			return err
		}
		if written.ID == id { // all that counts was whole: the new pack has taken the name
			r.mended("pack %v was damaged; it is written anew with its %d objects", id, len(good))
			return nil
		}
	}
	for _, path := range []string{r.s.Objects.IndexPath(id), r.s.Objects.PackPath(id)} {
		if err := r.clear(path); err != nil {
			return err
		}
	}
	if err := r.s.Objects.RemovePack(r.held, id); err != nil {
		return err
	}
	r.mended("pack %v was damaged; %d of its objects are in a new one", id, len(good))
	return nil
}

// leaveForgotten drops the body of a forgotten object: a forget could not remove it from a
// damaged file.
func (r *repairer) leaveForgotten(raw *format.Raw) error {
	if raw.Body == nil {
		return nil
	}
	forgotten, err := r.s.Objects.Forgotten(raw.ID())
	if forgotten {
		raw.Body = nil
	}
	return err
}

// keepHeader completes an object of which only the header is left: it records that the body is
// absent. An object that is whole elsewhere, or that never had a body, needs no record. ok is
// false where the other copy should be used.
func (r *repairer) keepHeader(id format.ID, header []byte) (ok bool, err error) {
	if _, named, err := format.HeaderBody(header); err != nil || !named {
		return err == nil, nil
	}
	switch _, err := r.s.Objects.Get(id); {
	case err == nil:
		return false, nil
	case objects.IsGone(err):
		return true, nil
	}
	return true, r.loseBody(id, header)
}

// loseBody records that a body is lost.
func (r *repairer) loseBody(id format.ID, header []byte) error {
	if err := r.markLost(format.Absent{Object: id}); err != nil {
		return err
	}
	r.lost("the text of %s %v%s", kindOfHeader(header), id, ofSession(header))
	return nil
}

// markLost writes a record that something is lost. What was forgotten stays so.
func (r *repairer) markLost(a format.Absent) error {
	a.Reason, a.Time = format.ReasonLost, r.s.Now().UTC().Truncate(time.Millisecond)
	if forgotten, err := r.s.Objects.Forgotten(a.Object); err == nil && forgotten {
		a.Reason = format.ReasonForgotten
	}
	b, err := a.Encode()
	if err != nil {
		return err
	}
	return r.write(r.s.Objects.AbsentPath(a.Object), b)
}

func kindOfHeader(header []byte) string {
	kind, _, err := format.HeaderKind(header)
	if err != nil {
		return "object"
	}
	return kind
}

// ofSession says of an entry where and when it was said.
func ofSession(header []byte) string {
	e, err := format.DecodeEntry(header)
	if err != nil {
		return ""
	}
	return ", of session " + e.Session + ", " + e.Time.UTC().Format(time.RFC3339)
}

// mendBodies records the bodies that are nowhere, of objects whose files are sound but hold the
// header alone.
func (r *repairer) mendBodies() error {
	inv, err := graph.TakeInventory(r.s, func(string, error) error { return nil })
	if err != nil {
		return err
	}
	seen := map[uint32]bool{}
	for _, p := range inv.Packs {
		for i := range p.Bodyless() {
			seen[i] = true
		}
	}
	for _, i := range slices.Sorted(maps.Keys(seen)) {
		id := inv.IDs[i]
		header, err := r.s.Objects.Header(id)
		if err != nil {
			continue // told by fsck
		}
		if _, err := r.keepHeader(id, header); err != nil {
			return err
		}
	}
	return nil
}
