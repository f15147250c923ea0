package session

import (
	"github.com/gemini-ctx/ctx/format"
)

// Where the next message of a tree goes: after the line that the steps have made, but not where a person
// of this store has gone back from.

// nearest returns the newest entry of a history that is target or a message of the transcript, and the entries after it, newest first; the zero ID for none.
func (im *treeImporter) nearest(tip, target format.ID, fresh map[format.ID]*format.Entry) (near format.ID, after []entryAt, err error) {
	hit := func(id format.ID) bool { return id == target || im.placed[id] }
	for e := fresh[tip]; e != nil; e = fresh[tip] {
		if hit(tip) {
			return tip, after, nil
		}
		after = append(after, entryAt{tip, e})
		tip = firstParent(e)
	}
	if tip.IsZero() {
		return tip, after, nil
	}
	err = im.back(tip, func(id format.ID, e *format.Entry) bool {
		if hit(id) {
			near = id
			return false
		}
		after = append(after, entryAt{id, e})
		return true
	})
	return near, after, err
}

// target is where the next message goes: after the end of the line and what others said there, or where a person of this store went back from there.
func (im *treeImporter) target() (format.ID, error) {
	end := im.end()
	if im.hand == nil {
		if err := im.byHand(); err != nil {
			return format.ID{}, err
		}
	}
	for range len(im.hand) {
		to, ok := im.hand[end]
		if !ok {
			break
		}
		end = to
	}
	if end == im.last && len(im.path) > 0 {
		end = im.tail
	}
	return end, nil
}

// byHand finds what was rewound in this store, not in the transcript: it stays away. A rewind that a later one took
// away counts as well.
func (im *treeImporter) byHand() error {
	im.hand = map[format.ID]format.ID{}
	tip := im.view.Get(RefName(im.out.Session, MainBranch)).ID
	im.last, im.tail = format.ID{}, tip
	err := im.back(tip, func(id format.ID, e *format.Entry) bool {
		if of, own := im.originOf(e); own && e.Kind != format.KindRewind && e.Kind != format.KindAmend {
			if _, ok := im.tree.Place(of); ok {
				im.last = id
			}
		}
		return im.last.IsZero()
	})
	if err != nil {
		return err
	}
	seen := map[format.ID]bool{}
	for todo := []format.ID{tip}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for !at.IsZero() && !seen[at] {
			e, err := im.entry(at)
			if err != nil {
				return err
			}
			seen[at] = true
			if e.Kind == format.KindRewind {
				todo = append(todo, e.Left)
				if e.Source == nil {
					if err := im.tookAway(at, e); err != nil {
						return err
					}
				}
			}
			at = firstParent(e)
		}
	}
	return nil
}

// tookAway notes which entries a rewind took away, each but what another one did.
func (im *treeImporter) tookAway(id format.ID, r *format.Entry) error {
	seq := uint64(0)
	if to := firstParent(r); !to.IsZero() {
		e, err := im.entry(to)
		if err != nil {
			return err
		}
		seq = e.Seq
	}
	for at := r.Left; !at.IsZero() && at != firstParent(r); {
		e, err := im.entry(at)
		if err != nil {
			return err
		}
		if e.Seq < seq {
			break
		}
		if _, known := im.hand[at]; !known {
			im.hand[at] = id
		}
		at = firstParent(e)
	}
	return nil
}

// handFrom reports whether rewinds by hand lead from an entry to the rewind entry to.
func (im *treeImporter) handFrom(id, to format.ID) (bool, error) {
	if im.hand == nil {
		if err := im.byHand(); err != nil {
			return false, err
		}
	}
	for range len(im.hand) {
		next, ok := im.hand[id]
		if !ok || next == to {
			return ok, nil
		}
		id = next
	}
	return false, nil
}
