package clusters

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
)

// mayBeMembers removes from ids, messages after the frontier of a branch, those that cannot be
// members of the main forest. Every member is up to the frontier of some branch, which fsck checks:
// so a message is none unless another line has it up to there, or the transaction has decided about
// it. To know that takes no look at the forest, which may have a million members.
//
// A line that is far ahead of the messages is not walked to its end: then all of ids stay.
func (t *Tx) mayBeMembers(h *history.Head, ids map[format.ID]bool) error {
	may := map[format.ID]bool{}
	for _, d := range t.store.Decided(history.MainForest) {
		if ids[d.ID] {
			may[d.ID] = true
		}
	}
	if lines := t.otherLines(h); len(lines) > 0 {
		low, err := t.lowest(ids)
		if err != nil {
			return err
		}
		left := mostWalked
		for _, v := range lines {
			whole, err := t.graduatedOn(v, ids, low, &left, may)
			if err != nil || !whole {
				return err
			}
		}
	}
	for id := range ids {
		if !may[id] {
			delete(ids, id)
		}
	}
	return nil
}

// mostWalked is how many entries of other lines are worth reading before the forest is searched: it
// takes a second.
const mostWalked = 1 << 16

// otherLines returns the values of the other branches that may share messages with a branch, as far
// as they have graduated any.
func (t *Tx) otherLines(h *history.Head) (lines []format.Value) {
	view := t.store.View
	var names []string
	if strings.HasPrefix(h.Session, history.RecoveredPrefix) {
		names = view.Names("sessions/")
	} else {
		names = view.Names("sessions/" + history.RecoveredPrefix)
		for _, session := range append(history.Relatives(view, h.Session), h.Session) {
			names = append(names, view.Names("sessions/"+session+"/")...)
		}
		slices.Sort(names)
		names = slices.Compact(names)
	}
	own := history.RefName(h.Session, h.Branch)
	for _, name := range names {
		if v := view.Get(name); name != own && v.Frontier > 0 {
			lines = append(lines, v)
		}
	}
	return lines
}

// lowest returns the least seq that an entry of ids has on the line on which it was said.
func (t *Tx) lowest(ids map[format.ID]bool) (uint64, error) {
	low := ^uint64(0)
	for id := range ids {
		e, err := t.Header(id)
		if err != nil {
			return 0, err
		}
		low = min(low, e.Seq)
	}
	return low, nil
}

// graduatedOn adds to may those of ids that a line at v has up to its frontier. low is the least
// seq of ids. It takes from left what it reads, and returns false if that was not enough.
func (t *Tx) graduatedOn(
	v format.Value, ids map[format.ID]bool, low uint64, left *int, may map[format.ID]bool,
) (whole bool, err error) {
	for e, err := range t.Walk(v.ID, history.WithJoined) {
		if err != nil {
			return false, err
		}
		if *left--; *left < 0 {
			return false, nil
		}
		if e.Seq <= v.Frontier && ids[e.ID] {
			may[e.ID] = true
		}
		// No entry has a higher seq than what stands on it, so nothing of ids is further back. On the
		// own line of a branch, places are seqs.
		if !e.Joined && e.Seq < low {
			break
		}
	}
	return true, nil
}
