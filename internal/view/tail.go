package view

import (
	"slices"
	"sort"
	"strings"

	"github.com/gemini-ctx/ctx/format"
)

// wordsShare is the divisor of the room of the tail for whole messages beside the required ones, if
// not all messages fit. The rest of the room holds sentences of the other messages.
const wordsShare = 2

// tail chooses what is printed of the tail. Required are the newest message, the updates, the
// newest prompts, and the messages of first. Then come as many of the newest messages as half of
// the room holds, and in the rest the best sentences of the others. No call is printed without its
// result, and no result without its call. If the newest message does not fit, its long texts are
// cut, and those of the messages on which it depends; if that does not fit either, nothing of the
// tail is printed. What the prefix quotes of the tail is not printed again, since the prefix quotes
// only what plan leaves out.
func (f fitter) tail(all []messageItems, total room) ([]messageItems, []Drop) {
	if total == endless {
		return all, nil
	}
	f.room = total - room(cost(f.r.prefix))
	if f.short { // lines of other sessions come last
		kept, drops := f.fit(all)
		lead := f.work.others(f.p, min(total/othersPart, f.leftBeside(kept, drops)), true)
		return slices.Concat(lead, kept), drops
	}
	f.lead = f.work.others(f.p, min(total/othersPart, f.room/othersLeft), false)
	kept, drops := f.fit(all)
	return slices.Concat(f.lead, kept), drops
}

// leftBeside returns the room that is left beside messages.
func (f fitter) leftBeside(kept []messageItems, drops []Drop) room {
	r := f.r
	r.tail = kept
	dropped := tallyOf(drops)
	r.drops.Messages += dropped.Messages
	r.drops.Shortened += dropped.Shortened
	return f.room - room(cost(f.p.suffix(r)))
}

// fit is tail without the lines of other sessions.
func (f fitter) fit(all []messageItems) ([]messageItems, []Drop) {
	if len(f.quotes) == 0 && f.holdsAll(all) {
		return all, nil
	}
	if !f.chooseRequired(all) {
		return f.shortenNewest(all)
	}
	return f.withDigest(all, f.whole(all))
}

// plan returns the messages that are printed whole with any prefix that costs at most most.
func (f fitter) plan(all []messageItems, total, most room) map[format.ID]bool {
	f.r, f.room = suffix{prefix: f.p.base()}, total-most
	if total == endless || f.holdsAll(all) {
		return idsOf(all)
	}
	if f.chooseRequired(all) {
		return idsOf(f.whole(all))
	}
	return idsOf(nil)
}

// printed is plan with the newest message, which is printed in any case, and with all messages on
// which it depends.
func (f fitter) printed(all []messageItems, total, most room) map[format.ID]bool {
	stay := f.plan(all, total, most)
	for _, m := range newestGroup(all) {
		stay[m.ID] = true
	}
	return stay
}

// newestGroup returns the newest message that is not an update, with those on which it depends.
func newestGroup(all []messageItems) []messageItems {
	newest := newestSaid(all)
	if newest < 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(all), func(m messageItems) bool {
		return m.start != all[newest].start || m.Update
	})
}

// The parts of a short rendering that the newest message gets, as divisors: at least the first, and
// at most the second if the message needs it.
const (
	leastNewest = 8
	mostNewest  = 2
)

// shortRoom returns the room of the tail in a short rendering.
func (f fitter) shortRoom(all []messageItems, total room) room {
	size := func(list []messageItems) room {
		return room(cost(f.p.suffix(suffix{tail: list, drops: worstTally(tally{})})))
	}
	newest := newestGroup(all)
	needed := size(newest)
	for _, m := range slices.Backward(all) {
		if m.Role != "user" || m.Update {
			continue
		}
		both := size(append([]messageItems{m}, newest...)) // with the prompt, if that is short
		if both <= total/mostNewest && both-needed <= total/leastNewest {
			needed = both
		}
		break
	}
	return min(max(needed, total/leastNewest), total/mostNewest)
}

type fitter struct {
	p        printer
	r        suffix
	room     room
	required []bool // by index
	first    map[format.ID]bool
	quotes   []quote // of the prefix
	work     *Work
	lead     []messageItems // printed before the tail
	short    bool           // the rendering is short: see brief.IsShort
}

// holdsAll reports whether all messages fit. It reads a long tail only as far as the room could
// hold it, since a byte of text costs at least one.
func (f fitter) holdsAll(all []messageItems) bool {
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

// chooseRequired sets required, and reports whether the newest message fits.
func (f *fitter) chooseRequired(all []messageItems) bool {
	f.required = make([]bool, len(all))
	newest := newestSaid(all)
	if len(all) == 0 || newest >= 0 && !f.require(all, newest) {
		return false
	}
	requests := maxRequests
	if f.short || f.work != nil { // the block has the others, with their answers
		requests = 1
	}
	for _, i := range urgent(all, f.first, requests) {
		if !f.quotesOf(all[i].ID) {
			f.require(all, i)
		}
	}
	return true
}

// newestSaid returns the index of the newest message that is not an update, or -1.
func newestSaid(all []messageItems) int {
	for i := range slices.Backward(all) {
		if !all[i].Update {
			return i
		}
	}
	return -1
}

// whole returns the messages that are printed whole.
func (f fitter) whole(all []messageItems) []messageItems {
	half := f
	if half.room /= wordsShare; !f.p.digests() || f.work != nil {
		half = f
	}
	return slices.DeleteFunc(f.since(all, max(half.oldest(all), f.work.newestTurns(all))),
		func(m messageItems) bool { return f.quotesOf(m.ID) })
}

// quotesOf reports whether the prefix quotes a message.
func (f fitter) quotesOf(id format.ID) bool {
	return slices.ContainsFunc(f.quotes, func(q quote) bool { return q.entry == id })
}

// maxRequests is the number of newest prompts that are required, unless the rendering is short.
const maxRequests = 3

// urgent returns the indexes of the updates, without which the model would act on old values, then
// of so many of the newest prompts, and then of the messages of first, each newest first.
func urgent(all []messageItems, first map[format.ID]bool, requests int) []int {
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

// require adds message i, and the messages on which it depends, to the required ones if all of them
// fit.
func (f *fitter) require(all []messageItems, i int) bool {
	must := slices.Clone(f.required)
	for k := range all {
		must[k] = must[k] || all[k].start == all[i].start
	}
	try := *f
	try.required = must
	kept := try.since(all, len(all))
	if !try.fits(kept, len(all)-len(kept), 0) {
		return false
	}
	f.required = must
	return true
}

// shortenNewest returns the newest message alone, as much of it as fits.
func (f fitter) shortenNewest(all []messageItems) ([]messageItems, []Drop) {
	if len(all) == 0 {
		return nil, nil
	}
	newest := all[newestSaid(all)].start
	f.required = make([]bool, len(all))
	prompt := -1
	if f.work == nil { // else the prefix has it
		prompt = f.promptOf(all, newest)
	}
	if prompt >= 0 {
		f.required[prompt] = true
	}
	var shorter dropList
	kept := slices.DeleteFunc(f.since(all, newest), func(m messageItems) bool {
		if m.Update {
			shorter.add(DropMessage, 1, m.ID)
		}
		return m.Update
	})
	kept, ok := f.shorten(kept, len(all)-len(kept))
	if !ok {
		return nil, before(all, len(all), -1)
	}
	for _, m := range kept {
		if m.cut {
			shorter.add(DropShortened, 1, m.ID)
		}
	}
	return kept, merge(before(all, newest, prompt), shorter)
}

// promptOf returns the index of the prompt that the message at newest answers, if it is short
// beside the room, or -1: an answer says little without it.
func (f fitter) promptOf(all []messageItems, newest int) int {
	for i := range slices.Backward(all[:newest]) {
		if m := all[i]; m.Role == "user" && !m.Update && all[newest].Role != "user" {
			one := room(cost(f.p.suffix(suffix{tail: []messageItems{m}})))
			if one > f.room/leastNewest {
				return -1
			}
			return i
		}
	}
	return -1
}

// since returns the messages that stay if everything before index at is cut: those that do not
// depend on it, and the required ones.
func (f fitter) since(all []messageItems, at int) []messageItems {
	var kept []messageItems
	for i, m := range all {
		if i >= at && m.start >= at || f.required[i] {
			kept = append(kept, m)
		}
	}
	return kept
}

// oldest returns the smallest index from which on the tail fits, or len(all). It reads only about
// twice what fits.
func (f fitter) oldest(all []messageItems) int {
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
	// The size does not grow with every message, so only a measured index is an answer.
	for bad-good > 1 {
		if mid := good + (bad-good)/2; fits(mid) {
			good = mid
		} else {
			bad = mid
		}
	}
	return n - good
}

// fits reports whether kept fits if so many messages are dropped and so many are shortened.
func (f fitter) fits(kept []messageItems, dropped, shortened int) bool {
	r := f.r
	r.tail = slices.Concat(f.lead, kept)
	r.drops.Messages += dropped
	r.drops.Shortened += shortened
	return f.room.holds(cost(f.p.suffix(r)))
}

// shorten cuts every text in messages to a limit, the largest that fits.
func (f fitter) shorten(messages []messageItems, dropped int) ([]messageItems, bool) {
	try := func(limit int) ([]messageItems, bool) {
		out := make([]messageItems, len(messages))
		n := 0
		for i, m := range messages {
			if out[i] = cutMessage(m, limit, f.short); out[i].cut {
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

// before names the messages that since leaves out, if one of them may be required.
func before(all []messageItems, at, required int) []Drop {
	var l dropList
	for i, m := range all {
		if i != required && (i < at || m.start < at) {
			l.add(DropMessage, 1, m.ID)
		}
	}
	return l
}
