package view

import (
	"slices"
	"sort"
	"strings"

	"github.com/gemini-ctx/ctx/format"
)

// wordsShare is the part of the tail's room that whole messages may take beside those that come first in any case, where not all fit: the rest
// goes to sentences of the messages that are left out.
const wordsShare = 2

// fitTail chooses what of the tail is printed after the prefix: the newest message, the updates, what the user asked for last, and those of first; then as many
// of the newest as half the room holds, and in the rest the best sentences of the others. No call is printed without its result and no result
// without its call. Where not even the newest fits, long texts in it (and in what it cannot be without) lose their old ends;
// where that does not fit either, nothing of the tail is printed. What the prefix quotes of the tail is not printed again: it was
// chosen among what planTail leaves out.
func fitTail(p printer, r rest, all []said, total room, first map[format.ID]bool, quotes []quote, w *Work) ([]said, []Drop) {
	if total == endless {
		return all, nil
	}
	f := fitter{p: p, r: r, room: total - room(cost(r.prefix)), first: first, quotes: quotes, work: w}
	f.lead = w.others(p, min(total/othersPart, f.room/othersLeft))
	kept, drops := f.fit(all)
	return slices.Concat(f.lead, kept), drops
}

// fit is fitTail without what is printed before the tail.
func (f fitter) fit(all []said) ([]said, []Drop) {
	if len(f.quotes) == 0 && f.holdsAll(all) {
		return all, nil
	}
	if !f.demand(all) {
		return f.shortenNewest(all)
	}
	return f.withDigest(all, f.whole(all))
}

// planTail returns the messages that fitTail prints whole in any case, with a prefix that costs no more than most.
func planTail(p printer, all []said, total, most room, w *Work) map[format.ID]bool {
	f := fitter{p: p, r: rest{prefix: p.base()}, room: total - most, work: w}
	stay := map[format.ID]bool{}
	if total == endless || f.holdsAll(all) {
		for _, m := range all {
			stay[m.ID] = true
		}
		return stay
	}
	if f.demand(all) {
		for _, m := range f.whole(all) {
			stay[m.ID] = true
		}
	}
	return stay
}

type fitter struct {
	p      printer
	r      rest
	room   room
	must   []bool // by index: it is printed whatever else is cut
	first  map[format.ID]bool
	quotes []quote // of the prefix
	work   *Work
	lead   []said // printed before the tail in any case
}

// holdsAll reports whether all messages fit. Of a long tail it looks at no more than the room could hold: a byte of text costs one at least.
func (f fitter) holdsAll(all []said) bool {
	size := 0
	for _, m := range all {
		for _, it := range m.items {
			if size += len(strings.TrimSpace(it.text)); !f.room.holds(size) {
				return false
			}
		}
	}
	return f.fits(all, 0, 0)
}

// demand lists what is to be printed in any case, and reports whether the newest message fits.
func (f *fitter) demand(all []said) bool {
	f.must = make([]bool, len(all))
	newest := newestSaid(all)
	if len(all) == 0 || newest >= 0 && !f.require(all, newest) {
		return false
	}
	for _, i := range urgent(all, f.first) {
		if !f.quotesOf(all[i].ID) {
			f.require(all, i)
		}
	}
	return true
}

// newestSaid is the index of the newest message that is no update; -1 where there is none.
func newestSaid(all []said) int {
	for i := range slices.Backward(all) {
		if !all[i].Update {
			return i
		}
	}
	return -1
}

// whole returns the messages that are printed whole.
func (f fitter) whole(all []said) []said {
	half := f
	if half.room /= wordsShare; !f.p.digests() || f.work != nil && f.p.acts() {
		half = f
	}
	return slices.DeleteFunc(f.since(all, half.oldest(all)), func(m said) bool { return f.quotesOf(m.ID) })
}

// quotesOf reports whether the prefix quotes a message.
func (f fitter) quotesOf(id format.ID) bool {
	return slices.ContainsFunc(f.quotes, func(q quote) bool { return q.entry == id })
}

// requests is how many of the user's last messages are printed whatever else is cut.
const requests = 3

// urgent lists the updates, without which the model believes what is not so any more, the user's last messages, and then those of first, of each the
// newest first.
func urgent(all []said, first map[format.ID]bool) []int {
	var updates, list, found []int
	for i := range slices.Backward(all) {
		if all[i].Update {
			updates = append(updates, i)
		}
	}
	for i := range slices.Backward(all) {
		if len(list) == requests && len(found) == len(first) {
			break
		}
		if all[i].Role == "user" && !all[i].isReplacement() && len(list) < requests {
			list = append(list, i)
		} else if first[all[i].ID] {
			found = append(found, i)
		}
	}
	return slices.Concat(updates, list, found)
}

// require adds message i, with what it cannot be without, to those that are printed in any case, if they all fit.
func (f *fitter) require(all []said, i int) bool {
	must := slices.Clone(f.must)
	for k := range all {
		must[k] = must[k] || all[k].start == all[i].start
	}
	try := *f
	try.must = must
	kept := try.since(all, len(all))
	if !try.fits(kept, len(all)-len(kept), 0) {
		return false
	}
	f.must = must
	return true
}

// shortenNewest prints the newest message alone, as much of it as there is room for.
func (f fitter) shortenNewest(all []said) ([]said, []Drop) {
	if len(all) == 0 {
		return nil, nil
	}
	newest := all[newestSaid(all)].start
	var shorter dropList
	kept := slices.DeleteFunc(since(all, newest), func(m said) bool {
		if m.Update {
			shorter.add(DropMessage, 1, m.ID)
		}
		return m.Update
	})
	kept, ok := f.shorten(kept, len(all)-len(kept))
	if !ok {
		return nil, before(all, len(all))
	}
	for _, m := range kept {
		if m.cut {
			shorter.add(DropShortened, 1, m.ID)
		}
	}
	return kept, merge(before(all, newest), shorter)
}

// since returns the messages that stay when everything older than index at is cut: those that can be without it, and those that are
// printed in any case.
func (f fitter) since(all []said, at int) []said {
	var kept []said
	for i, m := range all {
		if i >= at && m.start >= at || f.must[i] {
			kept = append(kept, m)
		}
	}
	return kept
}

// oldest returns the index of the oldest message from which on the tail fits, or len(all). It looks at no more than about
// twice what it returns, however long the tail is.
func (f fitter) oldest(all []said) int {
	n := len(all)
	fits := func(back int) bool {
		kept := f.since(all, n-back)
		return f.fits(kept, n-len(kept), 0)
	}
	good, bad := 0, n+1
	for step := 1; good < n; step *= 2 {
		back := min(good+step, n)
		if !fits(back) {
			bad = back
			break
		}
		good = back
	}
	// Sizes need not grow with every message, so each answer is one that was measured.
	for bad-good > 1 {
		if mid := good + (bad-good)/2; fits(mid) {
			good = mid
		} else {
			bad = mid
		}
	}
	return n - good
}

// fits reports whether kept can be printed where so many messages are dropped and so many shortened.
func (f fitter) fits(kept []said, dropped, shortened int) bool {
	r := f.r
	r.tail = slices.Concat(f.lead, kept)
	r.drops.Messages += dropped
	r.drops.Shortened += shortened
	return f.room.holds(cost(f.p.rest(r)))
}

// shorten cuts every text in messages that is longer than a limit, the largest limit that fits; dropped messages are not printed.
func (f fitter) shorten(messages []said, dropped int) ([]said, bool) {
	try := func(limit int) ([]said, bool) {
		out := make([]said, len(messages))
		n := 0
		for i, m := range messages {
			if out[i] = cutMessage(m, limit); out[i].cut {
				n++
			}
		}
		return out, f.fits(out, dropped, n)
	}
	most := max(int(f.room), 0)
	limit := sort.Search(most, func(n int) bool { _, ok := try(n); return !ok }) - 1
	if limit < 0 {
		return nil, false
	}
	return try(limit)
}

// cutMessage returns m with texts and results cut to limit and media replaced by notes.
func cutMessage(m said, limit int) said {
	items := make([]item, len(m.items))
	for i, it := range m.items {
		items[i] = it
		switch it.kind {
		case callItem:
			continue
		case mediaItem, otherItem:
			items[i].kind, items[i].raw = textItem, nil
			items[i].text = cutStart(it.text, limit, m.ID)
			m.cut = true
			continue
		}
		text := cutStart(withNotes(it), limit, m.ID)
		if text == it.text && len(it.parts) == 0 {
			continue
		}
		m.cut = true
		if it.kind == textItem {
			items[i] = textOf(text)
			continue
		}
		items[i] = resultOf(it.id, it.name, text, it.failed)
		items[i].wire, items[i].key = it.wire, it.key
	}
	m.items = items
	return m
}

// since returns the messages that can be without everything older than index at.
func since(all []said, at int) []said {
	var kept []said
	for _, m := range all[at:] {
		if m.start >= at {
			kept = append(kept, m)
		}
	}
	return kept
}

// before names the messages that since leaves out.
func before(all []said, at int) []Drop {
	var l dropList
	for i, m := range all {
		if i < at || m.start < at {
			l.add(DropMessage, 1, m.ID)
		}
	}
	return l
}
