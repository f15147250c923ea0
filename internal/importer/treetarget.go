package importer

import (
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
)

// This file finds the place of the next message of a tree: after the current line, but not where a
// person has gone back in this store.

// nearest returns the newest entry of a history that is target or a message of the transcript, and
// the entries after it, newest first. The ID is zero if there is none.
func (im *treeImporter) nearest(
	tip, target format.ID, fresh map[format.ID]*format.Entry,
) (near format.ID, after []history.Entry, err error) {
	hit := func(id format.ID) bool { return id == target || im.placed[id] }
	for e := fresh[tip]; e != nil; e = fresh[tip] {
		if hit(tip) {
			return tip, after, nil
		}
		after = append(after, history.Entry{ID: tip, Entry: e})
		tip = history.FirstParent(e)
	}
	if tip.IsZero() {
		return tip, after, nil
	}
	for e, err := range im.Walk(tip, history.WithJoined) {
		if err != nil || hit(e.ID) {
			return e.ID, after, err
		}
		after = append(after, e)
	}
	return near, after, nil
}

// target returns the entry that the next message follows: the end of the line with the messages of
// others after it, or the entry to which a person of this store went back from there.
func (im *treeImporter) target() (format.ID, error) {
	end := im.end()
	if im.hand == nil {
		if err := im.findHandRewinds(); err != nil {
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

// findHandRewinds finds the entries that were rewound in this store and not in the transcript: they
// stay away. A rewind that a later rewind took away counts as well.
func (im *treeImporter) findHandRewinds() error {
	im.hand = map[format.ID]format.ID{}
	tip := im.view.Get(history.RefName(im.as, im.branch)).ID
	im.last, im.tail = format.ID{}, tip
	for e, err := range im.Walk(tip, history.WithJoined) {
		if err != nil {
			return err
		}
		if of, own := im.originOf(e.Entry); own && e.Kind != format.KindRewind &&
			e.Kind != format.KindAmend {
			if _, ok := im.tree.Number(of); ok {
				im.last = e.ID
				break
			}
		}
	}
	seen := map[format.ID]bool{}
	for todo := []format.ID{tip}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for !at.IsZero() && !seen[at] {
			e, err := im.Header(at)
			if err != nil {
				return err
			}
			seen[at] = true
			if e.Kind == format.KindRewind {
				todo = append(todo, e.Left)
				if e.Source == nil {
					if err := im.noteHandRewind(at, e); err != nil {
						return err
					}
				}
			}
			at = history.FirstParent(e)
		}
	}
	return nil
}

// noteHandRewind records the entries that a rewind took away, except those of another rewind.
func (im *treeImporter) noteHandRewind(id format.ID, r *format.Entry) error {
	seq := uint64(0)
	if to := history.FirstParent(r); !to.IsZero() {
		e, err := im.Header(to)
		if err != nil {
			return err
		}
		seq = e.Seq
	}
	for at := r.Left; !at.IsZero() && at != history.FirstParent(r); {
		e, err := im.Header(at)
		if err != nil {
			return err
		}
		if e.Seq < seq {
			break
		}
		if _, known := im.hand[at]; !known {
			im.hand[at] = id
		}
		at = history.FirstParent(e)
	}
	return nil
}

// handRewoundTo reports whether rewinds by hand lead from an entry to the rewind entry to.
func (im *treeImporter) handRewoundTo(id, to format.ID) (bool, error) {
	if im.hand == nil {
		if err := im.findHandRewinds(); err != nil {
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
