package view

import "sort"

// fitTail chooses what of the tail is printed after the prefix: as many of the newest messages as the room holds, no call
// without its result and no result without its call. Where not even the newest fits, long texts in it (and in what it cannot
// be without) lose their old ends; where that does not fit either, nothing of the tail is printed.
func fitTail(p printer, r rest, all []said, total room) ([]said, []Drop) {
	if total == endless {
		return all, nil
	}
	f := fitter{p: p, r: r, room: total - room(cost(r.prefix))}
	at := f.oldest(all)
	if kept := since(all, at); len(kept) > 0 || len(all) == 0 {
		return kept, before(all, at)
	}
	newest := all[len(all)-1].start
	kept, ok := f.shorten(since(all, newest), newest)
	if !ok {
		return nil, before(all, len(all))
	}
	var shorter dropList
	for _, m := range kept {
		if m.cut {
			shorter.add(DropShortened, 1, m.ID)
		}
	}
	return kept, merge(before(all, newest), shorter)
}

type fitter struct {
	p    printer
	r    rest
	room room
}

// oldest returns the index of the oldest message from which on the tail fits, or len(all). It looks at no more than about
// twice what it returns, however long the tail is.
func (f fitter) oldest(all []said) int {
	n := len(all)
	fits := func(back int) bool {
		kept := since(all, n-back)
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
	r.tail = kept
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

// since returns the messages that stay when everything older than index at is cut: those that can be without it.
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
