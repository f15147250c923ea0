package objects

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/format"
	packs "github.com/gemini-ctx/ctx/format/pack"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/lock"
)

// A load leaves a pack for each batch, and a look-up asks one pack after the other: of a million
// messages 245. Joined as they are, without unpacking a block, they are 16, some 40 ms for each. A
// pack with more than a quarter of what a joined one has is not joined, so an object is seldom
// written again.
const (
	joinFrom    = 4        // fewer packs are not joined
	joinObjects = 1 << 16  // of a joined pack: their numbers take two bytes in its index
	joinBytes   = 16 << 20 // of a joined pack
	joinPart    = 4
)

// JoinPacks makes one pack of several that batches left. It copies their blocks as they are, those
// of packs written one after the other behind each other, so it joins only packs whose blocks name
// no object by its number. It leaves out a pack that is damaged, and one with an object that
// another one has. more says that there may be others to join. The objects last when it returns,
// and are there all the time; a crash leaves some of them in two packs. The caller holds the lock
// of the store, so that no body is forgotten meanwhile.
func (s *Store) JoinPacks(held *lock.Held) (more bool, err error) {
	if err := held.Of(s.root); err != nil {
		return false, err
	}
	list, err := s.relist()
	if err != nil {
		return false, err
	}
	some := s.joinable(list)
	for {
		group := firstGroup(some)
		if len(group) < joinFrom {
			return false, nil
		}
		unfit, err := s.join(held, group)
		if unfit == nil {
			return err == nil && len(some)-len(group) >= joinFrom, err
		}
		some = slices.DeleteFunc(some, func(p part) bool { return p.pack == unfit })
	}
}

// part is a pack to be joined or merged.
type part struct {
	*pack
	index *packs.Index
	time  time.Time
	size  int64
}

// joinable returns the packs that may be joined, oldest first.
func (s *Store) joinable(list *packList) (some []part) {
	key := s.packKey()
	return slices.DeleteFunc(list.small(joinObjects/joinPart, joinBytes/joinPart),
		func(p part) bool {
			r, err := p.open()
			if err != nil || !r.selfContained() || p.check() != nil {
				return true
			}
			of, err := r.keyOf()
			return err != nil || of != key
		})
}

// small returns the packs that have at most so many objects and bytes, oldest first. It leaves out
// what cannot be opened.
func (l *packList) small(objects int, bytes int64) (some []part) {
	for _, p := range l.packs {
		r, err := p.open()
		if err != nil || r.len() > objects {
			continue
		}
		if info, err := os.Stat(p.path); err == nil && info.Size() <= bytes {
			some = append(some, part{p, r.index, info.ModTime(), info.Size()})
		}
	}
	slices.SortFunc(some,
		func(a, b part) int { return cmp.Or(a.time.Compare(b.time), a.id.Compare(b.id)) })
	return some
}

// selfContained reports whether no block of a pack needs another one.
func (r *packReader) selfContained() bool {
	layout, err := r.layout()
	return err == nil &&
		!slices.ContainsFunc(layout.Spans, func(b packs.Span) bool { return b.Kind != packs.Whole })
}

// firstGroup returns as many of the first parts as one pack takes.
func firstGroup(some []part) []part {
	objects, size := 0, int64(0)
	for i, p := range some {
		objects, size = objects+p.index.Len(), size+p.size
		if objects > joinObjects || size > joinBytes {
			return some[:i]
		}
	}
	return some
}

// join writes the pack of a group, looks at it, and removes the group. Where a pack of it cannot be
// joined with those before, it returns that one and has done nothing.
func (s *Store) join(held *lock.Held, group []part) (unfit *pack, err error) {
	temp := s.fs.NewTemp(s.packDir())
	defer temp.Discard()
	w := newPackWriter(nil, s.packKey(), Fast, temp, nil)
	for _, p := range group {
		if err := w.copyPack(p); errors.As(err, new(*CorruptError)) {
			return p.pack, nil
		} else if err != nil {
			return nil, err
		}
	}
	if unfit := s.twice(group, w.table.objects()); unfit != nil {
		return unfit, nil
	}
	id, index, err := w.finish()
	if err == nil {
		err = s.publish(temp, id, index)
	}
	if err == nil {
		err = s.Reread(id)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot join packs: %w", err)
	}
	if _, err := s.announce(id, index, int(w.table.len())); err != nil {
		return nil, err
	}
	return nil, s.removePacks(held, lists.Map(group, func(p part) format.ID { return p.id }))
}

// copyPack adds the blocks of a pack as they are. Errors: *CorruptError, what the file system says,
// that of writing.
func (w *packWriter) copyPack(p part) (err error) {
	file, size, err := openPack(p.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	var unwritten error
	id, err := packs.Walk(bufio.NewReaderSize(file, packBuffer),
		size, func(_ packs.Key, b packs.Block, frame []byte) error {
			unwritten = w.writeBlock(packedBlock{Block: b, frame: frame})
			return unwritten
		})
	if unwritten != nil {
		return unwritten
	}
	if err == nil && id != p.id {
		err = errors.New("pack does not match its name")
	}
	if err != nil {
		return p.blamePack(err)
	}
	return p.blame(w.table.addAll(p.index))
}

// twice returns a pack of a group with an object that one before it has; nil for none. The
// objects are sorted. An index has the first bytes of ids, and where these are the same it
// reads the objects.
func (s *Store) twice(group []part, objects []packs.Entry) (unfit *pack) {
	ids := map[format.ID]bool{}
	for i := range objects {
		before := i > 0 && objects[i-1].Prefix == objects[i].Prefix
		if !before {
			clear(ids)
		}
		if !before && (i+1 == len(objects) || objects[i+1].Prefix != objects[i].Prefix) {
			continue
		}
		p, number := partOf(group, objects[i].Number)
		r, err := p.open()
		if err != nil {
			return p
		}
		o, err := r.object(s, number, true)
		if err != nil || ids[o.ID] {
			return p
		}
		ids[o.ID] = true
	}
	return nil
}

// partOf returns the pack of a group that has an object of the joined pack, and its number there.
func partOf(group []part, number uint32) (*pack, uint32) {
	for _, p := range group {
		n := uint32(p.index.Len())
		if number < n {
			return p.pack, number
		}
		number -= n
	}
	return nil, 0
}

// Reread reads a pack that was just written, and compares its digest and its parity, and its index
// with the digest of that: both are on the disk as they were written.
func (s *Store) Reread(pack format.ID) (err error) {
	p := s.newPack(pack)
	file, size, err := openPack(p.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close(), p.close()) }()
	id, err := packs.Walk(bufio.NewReaderSize(file, packBuffer),
		size, func(packs.Key, packs.Block, []byte) error { return nil })
	if err == nil && id != pack {
		err = errors.New("pack is not what was written")
	}
	if err != nil {
		return p.blamePack(err)
	}
	return p.check()
}

// A look-up asks one pack after the other, and each checkpoint makes a pack of some hundred
// objects. So when there are mergePacks packs with at most smallPack objects in smallBytes each,
// they become one. This takes about 50 ms, once in 16 checkpoints. JoinPacks and gc take larger
// packs.
const (
	mergePacks = 16
	smallPack  = 2048
	smallBytes = 256 << 10
)

// PackLogged writes the objects that the log carries into a pack: without those that are in a pack
// already, without copies that are not sound, and without the bodies that were forgotten. If there
// are many small packs, it merges them into the new one and removes them. The objects last when it
// returns; a crash leaves some of them in two places. The caller holds the lock of the store and
// has read the log under it; it may then write the log without the objects.
func (s *Store) PackLogged(held *lock.Held) error {
	if err := held.Of(s.root); err != nil {
		return err
	}
	list, err := s.relist()
	if err != nil {
		return err
	}
	var raws []format.Raw
	for _, id := range s.Logged() {
		there, err := s.packedWhole(id, list)
		if err != nil {
			return err
		}
		r, ok := s.inLog(id)
		if there || !ok {
			continue
		}
		complete, err := sound(id, r)
		if err != nil {
			continue // fsck tells of it
		}
		if err := s.admitSound(id, r, complete); IsGone(err) {
			r.Body = nil
		} else if err != nil {
			return err
		}
		raws = append(raws, r)
	}
	if len(raws) == 0 {
		return nil
	}
	old, before, err := s.mergeable(list)
	if err != nil {
		return err
	}
	return s.replacePacks(held, old, append(before, raws...))
}

// mergeable returns the small packs, oldest first, with the objects in them. It returns none while
// they are few. A pack that is damaged is left out.
func (s *Store) mergeable(list *packList) (packs []*pack, raws []format.Raw, err error) {
	small := list.small(smallPack, smallBytes)
	if len(small) < mergePacks {
		return nil, nil, nil
	}
	for _, p := range small {
		more, err := s.remainingIn(p.pack)
		if errors.As(err, new(*CorruptError)) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		packs, raws = append(packs, p.pack), append(raws, more...)
	}
	return packs, raws, nil
}

// remainingIn returns the objects of a pack in the order that they were written in.
func (s *Store) remainingIn(p *pack) (raws []format.Raw, err error) {
	none := func(format.ID) bool { return false }
	order, err := p.contents(s)
	if err != nil {
		return nil, err
	}
	for _, o := range order {
		r, keep, err := s.remaining(p, o, none)
		if err != nil {
			return nil, err
		}
		if keep {
			raws = append(raws,
				format.Raw{Header: slices.Clone(r.Header), Body: slices.Clone(r.Body)})
		}
	}
	return raws, nil
}

// replacePacks writes a pack of raws, and then removes the packs old, whose objects are among them.
func (s *Store) replacePacks(held *lock.Held, old []*pack, raws []format.Raw) error {
	raws, ids := Distinct(raws)
	info, err := s.writePackOf(ids, raws)
	if err == nil && len(old) > 0 {
		err = s.CheckPack(info.ID)
	}
	if err != nil {
		return err
	}
	for _, p := range old {
		if p.id == info.ID {
			continue
		}
		if err := s.RemovePack(held, p.id); err != nil && !durable.InUse(err) {
			return err
		}
	}
	return nil
}
