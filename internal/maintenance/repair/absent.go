package repair

import (
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

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
		now := r.s.Now().UTC().Truncate(time.Millisecond)
		again := format.Absent{Object: id, Reason: reason, Time: now}
		text, err := again.Encode()
		if err != nil {
			return err
		}
		if err := r.write(path, text); err != nil {
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
		if err != nil {
			return err
		}
		path := r.s.Objects.Path(objects.ForgottenName(f.Operation))
		if err := r.write(path, text); err != nil {
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
