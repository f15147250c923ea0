package repair

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
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
		written, err := r.s.Objects.WritePack(objects.Each(good), objects.Default)
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
	a.Reason, a.Time = format.ReasonLost, r.now()
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

// mendAbsent writes records of absent bodies again that cannot be read: what was forgotten stays
// so.
func (r *repairer) mendAbsent() error {
	known, faults := fsck.ReadForgets(r.s)
	return r.s.Objects.EachAbsent(func(id format.ID, path string) error {
		if _, err := fsck.ReadAbsent(id, path); err == nil {
			return nil
		}
		reason := format.ReasonForgotten
		if len(faults) == 0 && !r.mayBeForgotten(known, id) {
			reason = format.ReasonLost
		}
		text, err := (&format.Absent{Object: id, Reason: reason, Time: r.now()}).Encode()
		if err == nil {
			err = r.write(path, text)
		}
		if err != nil {
			return err
		}
		if reason == format.ReasonForgotten {
			r.lost("when and why the body of %v went; it stays forgotten", id)
		} else {
			r.lost("when the body of %v was lost", id)
		}
		return nil
	})
}

// mayBeForgotten reports whether an operation forgot the body of an object, or can be why it was
// stored without one.
func (r *repairer) mayBeForgotten(known fsck.Forgets, id format.ID) bool {
	if known.Lists(id) {
		return true
	}
	header, err := r.s.Objects.Header(id)
	if err != nil {
		return true
	}
	by, err := known.WithheldBy(r.s, header)
	return by != 0 || err != nil
}

// mendForgets takes away what says by what forgotten words are known again, where it cannot be
// read: nothing could be appended beside it.
func (r *repairer) mendForgets() error {
	numbers, err := r.s.History.Forgets()
	if err != nil {
		return err
	}
	for _, n := range numbers {
		if f, err := r.s.History.Forgotten(n); err == nil && f.Operation == n {
			continue
		}
		if err := r.giveUp(objects.ForgottenName(n)); err != nil {
			return err
		}
		r.forgetsLost(n)
	}
	if _, err := r.s.History.Unfinished(); err == nil {
		return nil
	}
	if err := r.giveUp(objects.UnfinishedName()); err != nil {
		return err
	}
	r.lost("what a forget that was cut short had still to remove: forget it again")
	return nil
}

// listForgotten makes files anew of operations of the log that forgot something and whose files are
// gone. What can still be told is whose bodies were forgotten, by their own records; the words are
// lost.
func (r *repairer) listForgotten() error {
	known, _ := fsck.ReadForgets(r.s)
	var missing []format.Forgotten
	err := r.s.Refs.Forward(func(record refs.Record) bool {
		op := record.Op
		half := known.Half != nil && known.Half.Operation == op.Number
		has := half || slices.Contains(known.Files, op.Number)
		if op.Effects.Forgets && !has {
			missing = append(missing, format.Forgotten{Operation: op.Number, Time: op.Time})
		}
		return true
	})
	if err != nil || len(missing) == 0 {
		return err
	}
	first := &missing[0] // which of them forgot what cannot be told
	err = r.s.Objects.EachAbsent(func(id format.ID, path string) error {
		a, err := fsck.ReadAbsent(id, path)
		if err == nil && a.Reason == format.ReasonForgotten && !known.Lists(id) {
			first.Objects = append(first.Objects, id)
		}
		return r.ctx.Err()
	})
	if err != nil {
		return err
	}
	for _, f := range missing {
		text, err := f.Encode()
		if err == nil {
			err = r.write(r.s.Objects.Path(objects.ForgottenName(f.Operation)), text)
		}
		if err != nil {
			return err
		}
		r.forgetsLost(f.Operation)
	}
	return nil
}

// forgetsLost says, once for each operation, that forgotten words are not known any more.
func (r *repairer) forgetsLost(operation uint64) {
	if !r.wordsLost[operation] {
		r.wordsLost[operation] = true
		r.lost(
			"by what the words are known that operation %d forgot: they are gone, and may be "+
				"said again", operation)
	}
}
