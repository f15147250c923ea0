package repair

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/refs"
)

// line is what is known of the order of a session.
type line struct {
	members []format.ID        // in the order in which they graduated
	tips    []format.RefUpdate // to a lost entry, in the order of the log
	times   map[format.ID]time.Time
	least   map[format.ID]uint64 // of a tip that is no member: one more than the frontier
}

// place is where an entry stands.
type place struct {
	id   format.ID
	seq  uint64
	lost bool
}

// unplaced is the session of a lost entry of which nothing tells the session.
const unplaced = "unknown"

func (h *holes) line(session string) *line {
	if h.lines[session] == nil {
		h.lines[session] = &line{times: map[format.ID]time.Time{}, least: map[format.ID]uint64{}}
	}
	return h.lines[session]
}

// follow reads in the log in which order entries of each session came: as tips, and as members of
// clusters.
func (h *holes) follow() error {
	for _, name := range graph.SortedNames(h.refs[0]) {
		h.tip(format.RefUpdate{Name: name, New: h.refs[0][name]}, h.begin)
	}
	follow := func(rec refs.Record) bool {
		session := rec.Op.Session
		if h.begin.IsZero() {
			h.begin = rec.Op.Time
		}
		for _, u := range rec.Op.Refs {
			h.tip(u, rec.Op.Time)
			if rec.Op.Effects.Moves || rec.Op.Effects.Restores {
				h.left[u.Old.ID], h.left[u.New.ID] = true, false
				h.from[u.New.ID] = u.Old.ID
			}
		}
		if session == "" {
			session = h.onlyOneOf(rec.Op)
		}
		for name, d := range rec.Op.Decisions() {
			if d.Kind == format.DecideRetract || d.Kind == format.DecideRestore {
				h.left[d.ID] = d.Kind == format.DecideRetract
			}
			if name != history.MainForest || d.Kind != format.DecideJoin {
				continue
			}
			of := session
			if e, err := h.s.History.Header(d.ID); err == nil {
				of = e.Session
			}
			l := h.line(of)
			l.members = append(l.members, d.ID)
			if _, known := l.times[d.ID]; !known {
				l.times[d.ID] = rec.Op.Time
			}
		}
		return h.ctx.Err() == nil
	}
	err := h.s.Refs.Forward(follow)
	for _, rec := range h.later {
		follow(rec)
	}
	for _, name := range graph.SortedNames(h.refs[1]) {
		h.tip(format.RefUpdate{Name: name, New: h.refs[1][name]}, h.begin)
	}
	known := map[format.ID]bool{}
	for _, l := range h.lines {
		for id := range l.times {
			known[id] = true
		}
	}
	for id, kind := range h.lost {
		if kind != format.EntryKind || known[id] {
			continue
		}
		l, at := h.line(unplaced), h.begin
		if e := h.child[id]; e != nil {
			l, at = h.line(e.Session), e.Time
		}
		l.times[id] = at
		l.tips = append(l.tips, format.RefUpdate{New: format.Value{ID: id}})
	}
	return cmp.Or(err, h.ctx.Err())
}

// tip notes that a branch came to a lost entry.
func (h *holes) tip(u format.RefUpdate, at time.Time) {
	session, _, ok := history.BranchOfRef(u.Name)
	if !ok || !h.is(u.New.ID, format.EntryKind) {
		return
	}
	l := h.line(session)
	if _, known := l.times[u.New.ID]; !known {
		l.tips, l.times[u.New.ID] = append(l.tips, u), at
	}
	l.least[u.New.ID] = max(l.least[u.New.ID], u.New.Frontier+1)
}

// onlyOneOf returns the session of the lost entries that an operation about several sessions
// decided about, where all are of one.
func (h *holes) onlyOneOf(op *format.Operation) string {
	left := map[string]int{} // how many more messages of each have graduated than can be read
	for _, u := range op.Refs {
		if s, _, ok := history.BranchOfRef(u.Name); ok && u.New.Frontier > u.Old.Frontier {
			left[s] += int(u.New.Frontier - u.Old.Frontier)
		}
	}
	for name, d := range op.Decisions() {
		if e, err := h.s.History.Header(d.ID); name == history.MainForest &&
			d.Kind == format.DecideJoin && err == nil {
			left[e.Session]--
		}
	}
	only := unplaced
	for session, n := range left {
		if n > 0 && only != unplaced {
			return unplaced
		}
		if n > 0 {
			only = session
		}
	}
	return only
}

// bridge lays entries in the place of the lost ones of a session, each on what stood below it.
func (h *holes) bridge(session string) error {
	l := h.lines[session]
	own := session
	if view, err := h.s.Refs.Read(); err == nil {
		if label, shared := history.Owner(view, session); shared {
			own = strings.TrimSuffix(session, "@"+label)
		}
	}
	var places []place
	for _, id := range h.tips {
		if e, err := h.s.History.Header(id); err == nil && e.Session == own {
			places = append(places, place{id: id, seq: e.Seq})
		}
	}
	places = append(places, h.estimate(l)...) // where both are the same far, the log knows
	slices.SortStableFunc(places, func(a, b place) int {
		if a.seq == b.seq && a.lost != b.lost {
			return map[bool]int{true: 1, false: -1}[a.lost]
		}
		return cmp.Compare(a.seq, b.seq)
	})
	var below place
	lost, entries := uint64(0), 0
	var from, to time.Time
	for _, p := range places {
		if !p.lost {
			if !h.left[p.id] {
				below = p
			}
			continue
		}
		if !h.is(p.id, format.EntryKind) {
			continue // it is there, in the end
		}
		e := &format.Entry{Seq: p.seq, Session: own, Kind: format.KindMessage, Role: "system",
			Time: cmp.Or(l.times[p.id], h.begin),
			Body: lostBody(p.id, format.NonceLen, format.MediaText)}
		if c := h.child[p.id]; c != nil {
			e.Time, e.Session = c.Time, c.Session
		}
		for at := h.from[p.id]; !at.IsZero(); { // a rewind stands on what it has left in part
			on, err := h.s.History.Header(at)
			if err != nil || on.Seq <= below.seq {
				break
			}
			if on.Seq <= p.seq && at != p.id {
				below = place{id: at, seq: on.Seq}
				break
			}
			at = history.FirstParent(on)
		}
		if session != unplaced && !below.id.IsZero() &&
			(below.seq < p.seq || !h.isAbove(below.id, p.id)) {
			e.Parents, h.laid[p.id] = []format.ID{below.id}, below.id
			if e.Seq <= below.seq {
				e.Kind, e.Seq = format.KindNote, below.seq
			}
		}
		header, err := e.Encode()
		if err == nil {
			err = h.lay(p.id, header)
		}
		if err != nil {
			return err
		}
		if entries++; entries == 1 {
			from = e.Time
		}
		lost += max(e.Seq, below.seq) - below.seq
		if to = e.Time; !h.left[p.id] {
			below = place{id: p.id, seq: e.Seq}
		}
	}
	switch {
	case entries == 0:
	case session == unplaced:
		h.repairer.lost("%d messages of which nothing tells the session", entries)
	default:
		h.repairer.lost("at least %d messages of session %s, %s to %s", lost, session,
			from.UTC().Format(time.RFC3339), to.UTC().Format(time.RFC3339))
	}
	return nil
}

// estimate returns where the entries of a line stand that are lost, or may stand below a lost one.
// The numbers of the lost ones follow from the entries beside them.
func (h *holes) estimate(l *line) []place {
	var list []place
	seen := map[format.ID]bool{}
	add := func(id format.ID, least uint64) {
		if id.IsZero() || seen[id] {
			return
		}
		seen[id] = true
		p := place{id: id, lost: h.is(id, format.EntryKind)}
		if e, err := h.s.History.Header(id); err == nil {
			p.seq = e.Seq
		} else if c := h.child[id]; c != nil {
			if p.seq = c.Seq; c.Kind == format.KindMessage {
				p.seq--
			}
		}
		p.seq = max(p.seq, least)
		list = append(list, p)
	}
	for _, id := range l.members {
		add(id, 0)
	}
	for k := range list { // from the ones before
		if k > 0 && list[k].seq == 0 && list[k-1].seq > 0 {
			list[k].seq = list[k-1].seq + 1
		}
	}
	for k := range slices.Backward(list) { // from the ones after
		if k+1 < len(list) && list[k].seq == 0 && list[k+1].seq > 1 {
			list[k].seq = list[k+1].seq - 1
		}
	}
	for k := range list {
		if list[k].seq == 0 {
			list[k].seq = uint64(k) + 1
		}
	}
	for _, u := range l.tips {
		add(u.Old.ID, 0)
		least := uint64(0)
		if h.child[u.New.ID] == nil {
			least = l.least[u.New.ID]
			for _, p := range list {
				if p.id == u.Old.ID {
					least = max(least, p.seq+1)
				}
			}
		}
		add(u.New.ID, least)
	}
	for k := range list {
		if list[k].lost {
			list[k].seq = max(list[k].seq, 1)
		}
	}
	return list
}

// isAbove reports whether an entry is another one, or stands on it.
func (h *holes) isAbove(id, below format.ID) bool {
	for !id.IsZero() && id != below {
		e, err := h.s.History.Header(id)
		switch {
		case !h.laid[id].IsZero():
			id = h.laid[id]
		case err != nil:
			return false
		default:
			id = history.FirstParent(e)
		}
	}
	return id == below
}
