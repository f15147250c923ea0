package sharing

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/format/share"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/store"
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
	c, err := x.list(ctx, x.s.Shared)
	if err != nil {
		return r, err
	}
	gone, err := x.forgottenHere()
	if err != nil {
		return r, err
	}
	told := lists.Set(forgot)
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
	b, err := x.r.Get(ctx, share.Stores+x.s.Shared+"/"+name)
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
	bare, id, err := x.s.Objects.EncodePack(objects.Each(list), objects.Default)
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
			root := share.Stores + x.s.Shared + "/"
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

// joinPacks puts the small packs of pushes that follow one another into one, as far as they fit.
func (x *Sharer) joinPacks(ctx context.Context, r *renewal, packs []share.File) error {
	var run []share.File
	var list []format.Raw
	have := map[format.ID]bool{}
	size := 0
	end := func() error {
		if len(run) > 1 {
			bare, id, err := x.s.Objects.EncodePack(objects.Each(list), objects.Default)
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
	pushes := lists.Map(news, func(s step) []byte { return s.bytes })
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
	names := lists.Map(due, func(name string) string {
		return share.Stores + x.s.Shared + "/" + name
	})
	if err := x.r.Delete(ctx, names); err != nil {
		return headBytes, err
	}
	next := *head
	next.Trash = rest
	b, err := next.Encode(x.key)
	if err != nil {
		return headBytes, err
	}
	if err := x.r.Swap(ctx, share.HeadName(x.s.Shared), headBytes, b); err != nil {
		return headBytes, err
	}
	*head = next
	return b, nil
}

// keepOut records as forgotten what a pack brings that is what was forgotten here, by its words or
// its source, or that its store has made of such words. So their bodies are not taken in. The store
// may not have been told yet, and what was forgotten does not come back. It returns how many it
// recorded.
func (p *pulling) keepOut(ctx context.Context, b []byte, id format.ID) (int, error) {
	gone, err := p.x.forgottenHere()
	if err != nil || len(gone) == 0 {
		return 0, err
	}
	words, err := p.x.s.History.ForgottenWords()
	if err != nil {
		return 0, err
	}
	m := p.x.remadeOf(gone)
	m.holds = words.InObject
	if err := m.read(b, id); err != nil {
		return 0, err
	}
	return m.note(ctx)
}

// forgetRemade is keepOut for this store's own packs on the remote. They may have what gc has
// removed here before a forget, which did not know of it: summaries, other versions of a message,
// and texts that were forgotten wherever they stand. It returns how many it recorded.
func (x *Sharer) forgetRemade(ctx context.Context, packs []share.File) (int, error) {
	gone, err := x.forgottenHere()
	if err != nil {
		return 0, err
	}
	words, err := x.s.History.ForgottenWords()
	if err != nil || len(gone) == 0 && words == nil {
		return 0, err
	}
	x.decoded = decoded{}
	defer func() { x.decoded = nil }()
	m := x.remadeOf(gone)
	m.holds = func(e *format.Entry, raw format.Raw) (bool, error) {
		return e != nil && m.gone[e.Amends] ||
			words != nil && words.InAny(words.Phrases, raw.Text()), nil
	}
	for _, f := range packs {
		b, err := x.get(ctx, &renewal{}, share.PackFolder+f.Name())
		if errors.Is(err, remote.ErrStale) {
			continue // another push has replaced it
		}
		if err == nil {
			err = m.read(b, f.Digest)
		}
		if err != nil {
			return 0, err
		}
	}
	return m.note(ctx)
}

// remade is what packs have that is not here, and was made of words that are gone: summaries,
// tombstones, masks and replacements.
type remade struct {
	x    *Sharer
	gone map[format.ID]bool           // with what was found
	of   map[format.ID][]format.Input // of what summaries and tombstones are made
	list []format.ID                  // what was found
	// holds reports whether an object, which may be an entry, has words that are gone
	holds func(e *format.Entry, raw format.Raw) (bool, error)
}

func (x *Sharer) remadeOf(gone map[format.ID]bool) *remade {
	m := &remade{x: x, gone: map[format.ID]bool{}, of: map[format.ID][]format.Input{},
		holds: func(*format.Entry, format.Raw) (bool, error) { return false, nil }}
	maps.Copy(m.gone, gone)
	return m
}

// read looks at what a pack has.
func (m *remade) read(b []byte, id format.ID) error {
	return m.x.s.Objects.ReadPack(b, id, func(raw format.Raw) error {
		id := raw.ID()
		kind, o, err := fit(id, raw)
		m.x.decoded.keep(id, kind, o)
		there, here := m.x.s.Objects.Has(id)
		if err = errors.Join(err, here); there || err != nil {
			return err
		}
		switch o := o.(type) {
		case *format.Summary:
			m.of[id] = append(o.Inputs, format.Input{ID: o.Node})
		case *format.Tombstone:
			m.of[id] = []format.Input{{ID: o.Node}, {ID: o.Summary, Summary: true}}
		}
		e, _ := o.(*format.Entry)
		if m.gone[id] || raw.Body == nil {
			return nil
		}
		holds, err := m.holds(e, raw)
		if holds || e != nil && shows(e, raw.Body, m.gone) {
			m.gone[id], m.list = true, append(m.list, id)
		}
		return err
	})
}

// note records as forgotten what was found, and returns how many these are.
func (m *remade) note(ctx context.Context) (int, error) {
	known := map[format.ID]bool{} // nodes and messages, and whether there is one that is gone
	for again := true; again; {
		again = false
		for id, of := range m.of {
			var err error
			made := m.gone[id] || slices.ContainsFunc(of, func(in format.Input) bool {
				is, bad := m.gone[in.ID], error(nil)
				if !in.Summary {
					is, bad = m.x.holds(in.ID, m.gone, known)
				}
				if !errors.Is(bad, objects.ErrNotFound) { // of a cluster that is left out
					err = errors.Join(err, bad)
				}
				return is
			})
			if err != nil {
				return 0, err
			}
			if !made {
				continue
			}
			if !m.gone[id] {
				m.list = append(m.list, id)
			}
			m.gone[id], again = true, true
			delete(m.of, id)
		}
	}
	slices.SortFunc(m.list, format.ID.Compare)
	m.list = slices.Compact(m.list)
	if len(m.list) == 0 {
		return 0, nil
	}
	return len(m.list), m.x.s.Store.Locked(ctx,
		func(t *store.Tx) error { return t.NoteForgotten(m.list) })
}

// forgottenIDs are the objects that are forgotten here, as of some operations that forgot.
type forgottenIDs struct {
	as  []uint64 // the operations; nil for not known
	ids map[format.ID]bool
}

// forgottenHere returns the objects that are forgotten here. It reads their records once, and again
// after another forget: there is one of each.
func (x *Sharer) forgottenHere() (map[format.ID]bool, error) {
	as, unfinished, err := x.s.Objects.ForgetFiles()
	if err != nil || len(as) > 0 && !unfinished && slices.Equal(as, x.gone.as) {
		return x.gone.ids, err
	}
	ids := map[format.ID]bool{}
	err = x.s.Objects.EachAbsent(func(id format.ID, _ string) error {
		forgot, err := x.s.Objects.Forgotten(id)
		if forgot {
			ids[id] = true
		}
		return err
	})
	if err == nil && !unfinished {
		x.gone = forgottenIDs{as, ids}
	}
	return ids, err
}

// holds reports whether a member of a node, or a message, is gone. known has the answers for nodes.
func (x *Sharer) holds(id format.ID, gone, known map[format.ID]bool) (bool, error) {
	if gone[id] {
		return true, nil
	}
	if answer, ok := known[id]; ok {
		return answer, nil
	}
	kind, o, err := x.decode(id)
	if err != nil || kind != format.NodeKind {
		return false, err
	}
	n := o.(*format.Node)
	for _, child := range n.Children {
		if known[id] = gone[child]; n.Level > 0 {
			known[id], err = x.holds(child, gone, known)
		}
		if err != nil || known[id] {
			return known[id], err
		}
	}
	known[id] = false
	return false, nil
}

// shows reports whether an entry is a mask of words that are gone, or stands for them.
func shows(e *format.Entry, body []byte, gone map[format.ID]bool) bool {
	if len(body) < format.NonceLen || e.Kind != format.KindMask && e.Kind != format.KindReplace {
		return false
	}
	return format.EditsAny(body[format.NonceLen:], gone)
}
