package objects

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/lock"
)

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
	if err := s.holds(held); err != nil {
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
		var gone *GoneError
		if err := s.admitSound(id, r, complete); errors.As(err, &gone) {
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
	type aged struct {
		*pack
		time time.Time
	}
	var small []aged
	for _, p := range list.packs {
		reader, err := p.open()
		if err != nil || reader.len() > smallPack {
			continue
		}
		info, err := os.Stat(p.path)
		if err == nil && info.Size() <= smallBytes {
			small = append(small, aged{p, info.ModTime()})
		}
	}
	if len(small) < mergePacks {
		return nil, nil, nil
	}
	slices.SortFunc(small,
		func(a, b aged) int { return cmp.Or(a.time.Compare(b.time), a.id.Compare(b.id)) })
	for _, p := range small {
		more, err := s.remainingIn(p.pack)
		var corrupt *CorruptError
		if errors.As(err, &corrupt) {
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
	seen := make(map[format.ID]bool, len(raws))
	info, err := s.writePack(func(w *packWriter) error {
		for _, r := range raws {
			id := r.ID()
			if seen[id] {
				continue
			}
			seen[id] = true
			if err := w.add(id, r); err != nil {
				return err
			}
		}
		return nil
	}, Fast)
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
