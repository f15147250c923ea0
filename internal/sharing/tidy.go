package sharing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/format/share"
	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/objects"
)

// manyFiles is how many segments, or packs, of a single push a store has on a remote before it puts
// them into one. A reader that knows nothing asks for each file.
const manyFiles = 64

// lengthBytes is how many bytes the length of a push has in a segment at most.
const lengthBytes = 16

// renewal is what a push changes in the files of earlier pushes.
type renewal struct {
	files []named
	trash []share.Trash
}

// renew returns the files that take the place of earlier ones: packs without the bodies that were
// forgotten, and one file for many small ones. Another push may be about to remove a pack because
// of what it has told: so all goes that is forgotten, and not only what this push tells. ErrStale
// says that something was forgotten since forgot was read: without being told of it, nobody could
// pull a pack from which it is gone.
func (x *Sharer) renew(
	ctx context.Context, head *share.Head, base *published, forgot []format.ID,
) (renewal, error) {
	var r renewal
	joins := head != nil && head.Number%manyFiles == 0
	if len(forgot) == 0 && !joins {
		return r, nil
	}
	c, err := x.list(ctx, folder(x.s.Shared))
	if err != nil {
		return r, err
	}
	gone, err := x.forgottenHere()
	if err != nil {
		return r, err
	}
	told := setOf(forgot)
	for id := range gone {
		if !told[id] && !base.forgot[id] {
			return r, fmt.Errorf("%w: something was forgotten meanwhile", remote.ErrStale)
		}
	}
	packs := c.packs
	for _, f := range c.packs { // those that another one covers as well, until they are removed
		if len(gone) == 0 {
			break
		}
		if packs, err = x.without(ctx, &r, packs, f, gone); err != nil {
			return r, err
		}
	}
	if !joins {
		return r, nil
	}
	// A push that was stopped may have left packs of the number that this one has.
	packs = slices.DeleteFunc(needed(packs, 0),
		func(f share.File) bool { return f.Last > head.Number })
	if err := x.joinPacks(ctx, &r, packs); err != nil {
		return r, err
	}
	return r, x.joinLog(ctx, &r, c, head)
}

// get reads a file of this store, from the files that are about to be written as well.
func (x *Sharer) get(ctx context.Context, r *renewal, name string) ([]byte, error) {
	for _, f := range r.files {
		if f.name == name {
			return f.data, nil
		}
	}
	b, err := x.r.Get(ctx, share.Stores+folder(x.s.Shared)+"/"+name)
	if errors.Is(err, remote.ErrNotFound) {
		err = fmt.Errorf("%w: another push has replaced %s", remote.ErrStale, name)
	}
	return b, err
}

// without replaces a pack that holds bodies which are gone. It returns the packs as they are then.
func (x *Sharer) without(
	ctx context.Context, r *renewal, packs []share.File, f share.File, gone map[format.ID]bool,
) ([]share.File, error) {
	name := share.PackFolder + f.Name()
	b, err := x.get(ctx, r, name)
	if err != nil {
		return nil, err
	}
	var list []format.Raw
	changed := false
	err = x.s.Objects.ReadPack(b, f.Digest, func(raw format.Raw) error {
		raw = format.Raw{Header: slices.Clone(raw.Header), Body: slices.Clone(raw.Body)}
		if raw.Body != nil && gone[raw.ID()] {
			raw.Body, changed = nil, true
		}
		list = append(list, raw)
		return nil
	})
	if err != nil || !changed {
		return packs, err
	}
	bare, id, err := x.s.Objects.EncodePack(eachOf(list), objects.Default)
	if err != nil {
		return nil, err
	}
	next := share.File{First: f.First, Last: f.Last, Digest: id}
	r.files = append(r.files, named{share.PackFolder + next.Name(), bare})
	r.trash = append(r.trash, share.Trash{Time: x.now(), Name: name})
	packs = slices.Clone(packs)
	packs[slices.Index(packs, f)] = next
	return packs, nil
}

// takeBack replaces packs that no head names, where a body in them was forgotten since. They are of
// a push that another push of this store has overtaken, new ones and those in the place of earlier
// ones: that one may have told of the forget, and looked for files with the words, before these
// were there. Or they are of a first push that was stopped.
func (x *Sharer) takeBack(ctx context.Context, packs []share.File) error {
	if _, err := x.forgetRemade(ctx, packs); err != nil {
		return err
	}
	gone, err := x.forgottenHere()
	if err != nil || len(gone) == 0 {
		return err
	}
	for _, f := range packs {
		var r renewal
		_, err := x.without(ctx, &r, []share.File{f}, f, gone)
		if err != nil && !errors.Is(err, remote.ErrStale) { // or it is replaced already
			return err
		}
		for _, bare := range r.files {
			root := share.Stores + folder(x.s.Shared) + "/"
			if err := x.r.PutNew(ctx, root+bare.name, bare.data); err != nil {
				return err
			}
			if err := x.r.Delete(ctx, []string{root + share.PackFolder + f.Name()}); err != nil {
				return err
			}
		}
	}
	return nil
}

func setOf(ids []format.ID) map[format.ID]bool {
	set := make(map[format.ID]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

func eachOf(list []format.Raw) func(func(format.Raw, error) bool) {
	return func(yield func(format.Raw, error) bool) {
		for _, raw := range list {
			if !yield(raw, nil) {
				return
			}
		}
	}
}

// joinPacks puts the small packs of pushes that follow one another into one, as far as they fit.
func (x *Sharer) joinPacks(ctx context.Context, r *renewal, packs []share.File) error {
	var run []share.File
	var list []format.Raw
	have := map[format.ID]bool{}
	size := 0
	end := func() error {
		if len(run) > 1 {
			bare, id, err := x.s.Objects.EncodePack(eachOf(list), objects.Default)
			if err != nil {
				return err
			}
			next := share.File{First: run[0].First, Last: run[len(run)-1].Last, Digest: id}
			x.replace(r, share.PackFolder, run, next, bare)
		}
		run, list, size = nil, nil, 0
		clear(have)
		return nil
	}
	for _, f := range packs {
		if f.Last-f.First+1 >= manyFiles { // it was joined before
			if err := end(); err != nil {
				return err
			}
			continue
		}
		b, err := x.get(ctx, r, share.PackFolder+f.Name())
		if err != nil {
			return err
		}
		var more []format.Raw
		bytes := 0
		if err := x.s.Objects.ReadPack(b, f.Digest, func(raw format.Raw) error {
			more = append(more,
				format.Raw{Header: slices.Clone(raw.Header), Body: slices.Clone(raw.Body)})
			bytes += len(raw.Header) + len(raw.Body)
			return nil
		}); err != nil {
			return err
		}
		if size+bytes > packBytes {
			if err := end(); err != nil {
				return err
			}
		}
		run, size = append(run, f), size+bytes
		for _, raw := range more {
			if id := raw.ID(); !have[id] {
				have[id], list = true, append(list, raw)
			}
		}
	}
	return end()
}

// joinLog puts the pushes behind the last segment that was joined into one segment, and with them
// those of joined segments that have no more pushes than have followed. So the number of segments
// grows with the logarithm of that of the pushes, and each push is written again as often. It takes
// the pushes from the chain, so what a push that was stopped has left goes with the small segments.
func (x *Sharer) joinLog(ctx context.Context, r *renewal, c content, head *share.Head) error {
	steps, err := x.pushes(ctx, head, c, 0, format.ID{})
	if err != nil {
		return err
	}
	joined := uint64(0)           // the last push that stays in the segment where it is
	before := map[uint64]uint64{} // by the last push of a joined segment: the one before its first
	for _, f := range needed(c.log, 0) {
		if f.Last-f.First+1 >= manyFiles && f.Last <= head.Number {
			joined = max(joined, f.Last)
			before[f.Last] = f.First - 1
		}
	}
	for joined > 0 && joined-before[joined] <= head.Number-joined && fits(steps[before[joined]:]) {
		joined = before[joined]
	}
	news := steps[joined:]
	if len(news) < 2 || !fits(news) {
		return nil
	}
	var pushes [][]byte
	for _, s := range news {
		pushes = append(pushes, s.bytes)
	}
	var old []share.File
	for _, f := range c.log {
		gone := slices.ContainsFunc(head.Trash,
			func(t share.Trash) bool { return t.Name == share.LogFolder+f.Name() })
		if f.First > joined && f.Last <= head.Number && !gone {
			old = append(old, f)
		}
	}
	b, err := x.packSegment(pushes)
	if err != nil {
		return err
	}
	x.replace(r, share.LogFolder, old,
		share.File{First: joined + 1, Last: head.Number, Digest: format.Sum(b)}, b)
	return nil
}

// fits reports whether pushes are few enough bytes for one segment.
func fits(steps []step) bool {
	size := 0
	for _, s := range steps {
		size += len(s.bytes) + lengthBytes
	}
	return size <= share.MaxSegment
}

// replace notes that a file takes the place of others.
func (x *Sharer) replace(
	r *renewal, folder string, old []share.File, next share.File, data []byte,
) {
	r.files = append(r.files, named{folder + next.Name(), data})
	for _, f := range old {
		name := folder + f.Name()
		// A pack that was to be written by this push only is not written.
		if at := slices.IndexFunc(r.files, func(f named) bool { return f.name == name }); at >= 0 {
			r.files = slices.Delete(r.files, at, at+1)
			continue
		}
		r.trash = append(r.trash, share.Trash{Time: x.now().Add(trashAge), Name: name})
	}
}

// split divides trash into what is due at a time and the rest.
func split(trash []share.Trash, at time.Time) (due []string, rest []share.Trash) {
	for _, t := range trash {
		if t.Time.After(at) {
			rest = append(rest, t)
		} else {
			due = append(due, t.Name)
		}
	}
	return due, rest
}

// empty removes what is due in the trash of the head on the remote, and then writes the head
// without it. It returns the bytes of the head that is there.
func (x *Sharer) empty(ctx context.Context, head *share.Head, headBytes []byte) ([]byte, error) {
	due, rest := split(head.Trash, x.now())
	if len(due) == 0 {
		return headBytes, nil
	}
	names := make([]string, len(due))
	for i, name := range due {
		names[i] = share.Stores + folder(x.s.Shared) + "/" + name
	}
	if err := x.r.Delete(ctx, names); err != nil {
		return headBytes, err
	}
	next := *head
	next.Trash = rest
	b, err := next.Encode(x.key)
	if err != nil {
		return headBytes, err
	}
	if err := x.r.Swap(ctx, share.HeadName(folder(x.s.Shared)), headBytes, b); err != nil {
		return headBytes, err
	}
	*head = next
	return b, nil
}
