package storm

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// checkMoves replays the log. Each operation must follow the one before, move each ref from its
// current value, and do to histories only what its verb may do.
func (h *history) checkMoves() {
	before := ""
	for i, op := range h.ops {
		if op.Number != uint64(i+1) {
			h.t.Fatalf("operation %d stands at place %d of the log", op.Number, i+1)
		}
		if op.Before != before {
			h.t.Errorf("operation %d follows %s, and the one before is %s", op.Number,
				short(op.Before), short(before))
		}
		before = op.Digest
		moved := map[string][2]string{}
		for _, u := range op.Refs {
			if h.refs[u.Name] != u.Old {
				h.t.Errorf("operation %d moves %s from %q, and it was %q", op.Number, u.Name, u.Old,
					h.refs[u.Name])
			}
			h.refs[u.Name] = u.New
			if strings.HasPrefix(u.Name, "sessions/") {
				moved[u.Name] = [2]string{tipOf(u.Old), tipOf(u.New)}
				h.moves[u.Name] = append(h.moves[u.Name], move{op.Number, tipOf(u.New)})
			}
		}
		for ref, m := range moved {
			if err := h.checkMove(op, ref, m[0], m[1], moved); err != nil {
				h.t.Errorf("operation %d, %s of %s: %v", op.Number, op.Verb, ref, err)
			}
		}
	}
	h.checkRefs()
}

// checkRefs compares the refs of the store with those that follow from the log.
func (h *history) checkRefs() {
	left := map[string]bool{}
	for name, value := range h.refs {
		if value != "" && name != "HEAD" {
			left[name] = true
		}
	}
	err := eachLine(h.program.Must(h.t, "show-ref", "--json"), func(line []byte) error {
		var r struct{ Name, ID string }
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		if r.Name != "HEAD" && (!left[r.Name] || tipOf(h.refs[r.Name]) != r.ID) {
			return fmt.Errorf("ref %s is %s, and the log has %q", r.Name, r.ID, h.refs[r.Name])
		}
		delete(left, r.Name)
		return nil
	})
	if err != nil || len(left) > 0 {
		h.t.Errorf("refs: %v; not there: %v", err, left)
	}
}

// checkMove returns an error for a wrong move of a branch's tip.
func (h *history) checkMove(op operation, ref, old, now string, moved map[string][2]string) error {
	parts := strings.Split(ref, "/")
	branch := parts[len(parts)-1]
	switch op.Verb {
	case "append":
		at := now
		for ; at != old; at = h.entries[at].first() {
			if at == "" {
				return fmt.Errorf("%s is not before %s", short(old), short(now))
			}
			e := h.entries[at]
			if e.kind != "message" {
				return fmt.Errorf("it brought a %s", e.kind)
			}
			if n, twice := h.said[at]; twice {
				return fmt.Errorf("operation %d brought %s already", n, short(at))
			}
			h.said[at] = op.Number
			if id, twice := h.texts[e.text]; twice {
				return fmt.Errorf("%q is there as %s already", e.text, short(id))
			}
			h.texts[e.text] = at
		}
		if at == now {
			return fmt.Errorf("it brought nothing")
		}
	case "fork":
		e := h.entries[now]
		from := old
		if old == "" {
			from = moved[strings.TrimSuffix(ref, branch)+"main"][0]
		}
		if e.kind != "fork" || e.first() != from ||
			old == "" && !slices.Contains(e.children, branch) {
			return fmt.Errorf("from %s to %s %s of %s", short(old), e.kind, short(now),
				short(e.first()))
		}
	case "join":
		if now == "" {
			return nil // a child, which is checked with its parent
		}
		e := h.entries[now]
		if e.kind != "join" || e.first() != old {
			return fmt.Errorf("from %s to %s %s of %s", short(old), e.kind, short(now),
				short(e.first()))
		}
		for i, child := range e.children {
			if m := moved[strings.TrimSuffix(ref, branch)+child]; m != [2]string{
				e.parents[i+1], "",
			} {
				return fmt.Errorf("child %s went from %s to %q", child, short(m[0]), m[1])
			}
		}
	case "rewind":
		e := h.entries[now]
		if e.kind != "rewind" || e.left != old {
			return fmt.Errorf("from %s to %s %s, which left %s", short(old), e.kind, short(now),
				short(e.left))
		}
		for at := old; at != e.first(); at = h.entries[at].first() {
			if at == "" {
				return fmt.Errorf("%s was not in the branch", short(e.first()))
			}
		}
	case "undo", "redo":
		if op.About < 1 || op.About >= op.Number {
			return fmt.Errorf("it is about operation %d", op.About)
		}
		for _, u := range h.ops[op.About-1].Refs {
			want := u.Old
			if op.Verb == "redo" {
				want = u.New
			}
			if u.Name == ref && tipOf(want) == now {
				return nil
			}
		}
		return fmt.Errorf("operation %d does not have %s with %s", op.About, ref, short(now))
	case "session-rm":
		if now != "" {
			return fmt.Errorf("its tip is %s", short(now))
		}
	case "compact", "graduate", "checkpoint":
		if now != old {
			return fmt.Errorf("its tip went from %s to %s", short(old), short(now))
		}
	default:
		return fmt.Errorf("nobody ran such a command")
	}
	return nil
}

// bound says that the operation number was recorded before a time, or after it.
type bound struct {
	at     time.Time
	number uint64
}

// match finds the operation that each command recorded. It begins with commands whose operation is
// known by an id, which give bounds for all others.
func (h *history) match(events []*event) {
	h.events = events
	taken := map[uint64]bool{}
	for _, e := range events {
		switch e.verb {
		case "append":
			for i, id := range e.ids {
				n, there := h.said[id]
				if !there {
					h.t.Errorf("%v: message %s is in no operation", e, short(id))
					continue
				}
				if m := h.entries[id]; m.text != e.texts[i] || m.session != e.session {
					h.t.Errorf("%v: message %s is %q of %s", e, short(id), m.text, m.session)
				}
				if !e.again {
					e.number = n
				}
			}
		case "fork", "join", "rewind":
			for _, id := range e.ids {
				e.number = h.movedTo(branchRef(e.session, e.branch), id)
				if e.number == 0 || h.ops[e.number-1].Verb != e.verb {
					h.t.Errorf("%v: no operation moved there", e)
				}
			}
		}
		if e.number != 0 {
			taken[e.number] = true
		}
	}
	h.order()
	h.matchRest(taken)
	h.order()
}

// movedTo returns the first operation that moved a branch to an entry.
func (h *history) movedTo(ref, id string) uint64 {
	for _, m := range h.moves[ref] {
		if m.tip == id {
			return m.number
		}
	}
	return 0
}

// matchRest assigns the remaining operations, by verb and session, to the commands that name no
// entry. The command that ended first gets the first operation that it can have recorded.
// Operations that remain belong to commands that were killed.
func (h *history) matchRest(taken map[uint64]bool) {
	var rest []*event
	for _, e := range h.events {
		switch e.verb {
		case "undo", "redo", "session-rm", "state", "rewind", "fork", "join":
			if e.number == 0 && (e.OK() || e.killed()) {
				rest = append(rest, e)
			}
		}
	}
	slices.SortFunc(rest, func(a, b *event) int {
		if a.killed() != b.killed() {
			if a.killed() {
				return 1
			}
			return -1
		}
		return a.End.Compare(b.End)
	})
	for _, e := range rest {
		lo, hi := h.bounds(e)
		for n := lo + 1; n <= hi; n++ {
			op := h.ops[n-1]
			if !taken[n] && op.Verb == e.verb && op.Session == e.session &&
				(e.killed() || op.About == e.about) && h.does(op, e) {
				taken[n], e.number = true, n
				break
			}
		}
		if e.OK() && e.number == 0 {
			h.t.Errorf("%v: no operation between %d and %d is this", e, lo, hi)
		}
	}
	for _, op := range h.ops {
		switch op.Verb {
		case "append", "compact", "graduate", "checkpoint":
		default:
			if !taken[op.Number] {
				h.t.Errorf("operation %d: nobody ran this %s of %s", op.Number, op.Verb, op.Session)
			}
		}
	}
}

// does reports whether an operation can be that of a command, judging by its children.
func (h *history) does(op operation, e *event) bool {
	if len(e.children) == 0 {
		return true
	}
	for _, u := range op.Refs {
		if u.Name == branchRef(e.session, e.children[0]) {
			return true
		}
	}
	return false
}

// order computes the bounds from the commands whose operation is known.
func (h *history) order() {
	h.byEnd, h.byFrom = nil, nil
	for _, e := range h.events {
		if e.number != 0 {
			h.byFrom = append(h.byFrom, bound{e.Start, e.number})
			h.byEnd = append(h.byEnd, bound{e.End, e.number})
		}
	}
	byTime := func(a, b bound) int { return a.at.Compare(b.at) }
	slices.SortFunc(h.byEnd, byTime)
	slices.SortFunc(h.byFrom, byTime)
	most := uint64(0)
	for i := range h.byEnd {
		most = max(most, h.byEnd[i].number)
		h.byEnd[i].number = most
	}
	least := uint64(math.MaxUint64)
	for i := range slices.Backward(h.byFrom) {
		least = min(least, h.byFrom[i].number)
		h.byFrom[i].number = least
	}
}

// bounds returns the operations between which a command ran: lo was recorded when it began, and the
// operations after hi were recorded after it had ended.
func (h *history) bounds(e *event) (lo, hi uint64) {
	hi = uint64(len(h.ops))
	i, _ := slices.BinarySearchFunc(h.byEnd, e.Start,
		func(b bound, at time.Time) int { return b.at.Compare(at) })
	if i > 0 {
		lo = h.byEnd[i-1].number
	}
	i, _ = slices.BinarySearchFunc(h.byFrom, e.End, func(b bound, at time.Time) int {
		if b.at.After(at) {
			return 1
		}
		return -1
	})
	if i < len(h.byFrom) {
		hi = h.byFrom[i].number - 1
	}
	return lo, hi
}

// checkOrder compares the log with the clock. An operation that was acknowledged before a command
// began must come before that command's operation. An operation that nobody was told of must have
// been recorded while its command ran.
func (h *history) checkOrder() {
	byText, again := map[string]*event{}, map[string]*event{}
	for _, e := range h.events {
		lo, hi := h.bounds(e)
		if e.number != 0 && (e.number <= lo || e.number > hi) {
			h.t.Errorf("%v: it is operation %d, and ran between %d and %d", e, e.number, lo, hi)
		}
		for _, text := range e.texts {
			if e.again {
				again[text] = e
			} else {
				byText[text] = e
			}
		}
	}
	for id, n := range h.said {
		e := byText[h.entries[id].text]
		if e == nil {
			if h.entries[id].session != "after" {
				h.t.Errorf("nobody said %q", h.entries[id].text)
			}
			continue
		}
		lo, hi := h.bounds(e)
		if a := again[h.entries[id].text]; a != nil {
			_, hi = h.bounds(a)
		}
		if n <= lo || n > hi {
			h.t.Errorf("%v: %q is in operation %d, and was said between %d and %d", e,
				h.entries[id].text, n, lo, hi)
		}
		if e.expect == "" || e.number == 0 {
			continue
		}
		for _, u := range h.ops[n-1].Refs {
			if u.Name == branchRef(e.session, e.branch) && tipOf(u.Old) != e.expect {
				h.t.Errorf("%v: it follows %s", e, short(tipOf(u.Old)))
			}
		}
	}
}

// checkCodes compares the errors of commands with the history. Only a command that names something
// missing during its run may report it as missing, and only a command that expects a value may
// report that it has moved.
func (h *history) checkCodes() {
	for _, e := range h.events {
		if e.OK() || e.killed() {
			continue
		}
		if first, rest, _ := strings.Cut(e.Err,
			"\n"); !strings.HasPrefix(first, `{"v":1,"error":`) &&
			(!strings.HasPrefix(first, "ctx: ") ||
				rest != "" && !strings.HasPrefix(rest, "hint: ")) {
			h.t.Errorf("%v: not said in a line", e)
		}
		lo, hi := h.bounds(e)
		missing := func(branch string) bool {
			return h.ever(branchRef(e.session, branch), lo, hi,
				func(tip string) bool { return tip == "" })
		}
		ok := false
		switch e.Code {
		case 12:
			moved := func(tip string) bool { return tip != e.expect }
			ok = e.verb == "undo" || e.verb == "redo" ||
				e.expect != "" && h.ever(branchRef(e.session, e.branch), lo, hi, moved)
		case 15:
			ok = e.verb == "undo" || e.verb == "redo" || e.verb == "rewind" || missing("main")
			if e.branch != "" && e.branch != "main" {
				ok = ok || missing(e.branch)
			}
			if e.verb == "join" {
				ok = ok || slices.ContainsFunc(e.children, missing)
			}
		}
		if !ok {
			h.t.Errorf("%v: it ran between %d and %d, and nothing there says why", e, lo, hi)
		}
	}
}

// checkReaders compares the output of each reader with the history: all of it must be of one
// moment, which was not over when the reader began.
func (h *history) checkReaders() {
	for _, e := range h.events {
		if e.seen == nil {
			continue
		}
		lo, hi := h.bounds(e)
		want := listOf(e.seen.ids)
		if !h.ever(branchRef(e.session, e.branch), lo, hi, func(tip string) bool {
			l := h.list(tip)
			if !e.seen.tail {
				return l.same(want)
			}
			for i := len(e.seen.ids) - 1; i >= 0; i-- {
				for i == 0 && l != nil && l.id != e.seen.ids[0] {
					l = l.prev // the prompt of a turn that goes on in the tail
				}
				if l == nil || l.id != e.seen.ids[i] {
					return false
				}
				l = l.prev
			}
			return true
		}) {
			h.t.Errorf("%v: what it saw (%d messages) was never there between operations %d and %d",
				e, len(e.seen.ids), lo, hi)
		}
	}
}

// checkSaid compares the content of the branches at the end with the acknowledged messages.
func (h *history) checkSaid() {
	shown := map[string]bool{} // messages in an existing branch
	for ref, value := range h.refs {
		parts := strings.Split(ref, "/")
		if parts[0] != "sessions" || value == "" {
			continue
		}
		ids := h.list(tipOf(value)).ids()
		var got []string
		err := eachLine(h.program.Must(h.t, "log", "-s", parts[1], "-b", parts[2],
			"--json"), func(line []byte) error {
			var m struct{ ID, Text string }
			err := json.Unmarshal(line, &m)
			if err == nil && m.Text != h.entries[m.ID].text {
				err = fmt.Errorf("message %s is %q, and its entry has %q", short(m.ID), m.Text,
					h.entries[m.ID].text)
			}
			got = append(got, m.ID)
			return err
		})
		if err != nil || !slices.Equal(got, ids) {
			h.t.Errorf("%s shows %d messages, and its history has %d: %v", ref, len(got),
				len(ids), err)
		}
		h.checkLine(ref, ids, shown)
	}
	for _, e := range h.events {
		for _, id := range e.ids {
			if e.verb == "append" && strings.HasPrefix(e.session, "open-") && !shown[id] {
				h.t.Errorf("%v: message %s was acknowledged, and no branch shows it", e, short(id))
			}
		}
	}
}

// checkLine checks that the messages of a branch are there once, and that those of each writer are
// in order.
func (h *history) checkLine(ref string, ids []string, shown map[string]bool) {
	once, newest := map[string]bool{}, map[int]int{}
	for _, id := range ids {
		if once[id] {
			h.t.Errorf("%s shows %s twice", ref, short(id))
		}
		once[id], shown[id] = true, true
		var w, n int
		if _, err := fmt.Sscanf(h.entries[id].text, "worker %d message %d:", &w, &n); err != nil {
			continue
		}
		if n <= newest[w] {
			h.t.Errorf("%s: message %d of worker %d comes after its message %d", ref,
				n, w, newest[w])
		}
		newest[w] = n
	}
}
