package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// RedoSummary has a cluster summarised from its entries again, now, whatever summaries it has: they are dropped first, so that none of them comes back
// where the new one cannot be had. id names the cluster, or one of its summaries; a tombstone becomes a cluster again, and is evicted once more if it
// is still the oldest above the limit. The branches leave. ErrNotFound says that id names no cluster.
func (s *Store) RedoSummary(ctx context.Context, id format.ID, o CompactOptions) (Compaction, error) {
	r := &compaction{Store: s, o: o, force: true}
	var number uint64
	err := s.locked(ctx, func(t *tx) error {
		at, err := t.anyCluster(id)
		if err != nil {
			return err
		}
		r.forest, number = at.forest, at.number
		if err := t.bare(&at); err != nil || len(t.draftOf(at.forest).decided) == 0 {
			return err
		}
		return t.commit(&format.Operation{Verb: refs.VerbCompact})
	})
	if err == nil {
		err = r.summarise(ctx, []uint64{number})
	}
	if err == nil {
		err = r.finish(ctx)
	}
	return r.done, err
}

// ErrNoEarlier says that there is no summary before the one that is to be reverted.
var ErrNoEarlier = errors.New("no earlier summary")

// RevertSummary takes a summary away and puts back what was there before it, as the log tells: one summary, or those of the pieces that it was made of.
// Where these stand for fewer entries, the rest waits for the next compaction. id names the summary, or its cluster. The branches leave.
// ErrNotFound says that id names no cluster, ErrNoEarlier that nothing was there before which still fits.
func (s *Store) RevertSummary(ctx context.Context, id format.ID, o CompactOptions) (Compaction, error) {
	r := &compaction{Store: s, o: o, force: true}
	view, err := s.Refs.Read()
	if err != nil {
		return r.done, err
	}
	seen, earlier, err := (&tx{Store: s, view: view}).earlier(id) // the log can be long: it is not read under the lock
	if err != nil {
		return r.done, err
	}
	err = s.locked(ctx, func(t *tx) error {
		at, err := t.anyCluster(id)
		if err != nil {
			return err
		}
		if at.node != seen.node || !slices.Equal(at.covers, seen.covers) {
			return fmt.Errorf("%w: cluster %v has changed", ErrStale, at.node)
		}
		r.forest = at.forest
		if err := t.bare(&at); err != nil {
			return err
		}
		for _, v := range earlier {
			d := format.Decision{Kind: format.DecideSettle, Cluster: at.number, ID: v.Summary, Offset: v.Offset, Count: v.Count}
			if err := t.decideIn(at.forest, d); err != nil {
				return err
			}
		}
		if at.live.Dirty() {
			r.done.Carried = len(earlier)
		} else {
			r.done.Settled = len(earlier)
		}
		return t.commit(&format.Operation{Verb: refs.VerbCompact})
	})
	if err == nil {
		err = r.finish(ctx)
	}
	return r.done, err
}

// clusterAt is a cluster that somebody named.
type clusterAt struct {
	forest string
	number uint64
	live   *forest.Cluster // nil where it is a tombstone
	stone  format.ID       // zero where it is live
	node   format.ID       // over its members
	covers []format.Cover
}

// anyCluster finds the cluster that an id names, in the main forest or else in the flat one.
func (t *tx) anyCluster(id format.ID) (clusterAt, error) {
	at, err := t.clusterOf(MainForest, id)
	if errors.Is(err, ErrNotFound) && t.hasFlat() {
		return t.clusterOf(FlatForest, id)
	}
	return at, err
}

// clusterOf finds the cluster of a forest that an id names: its node, now or when it was smaller, one of its summaries, or its tombstone.
func (t *tx) clusterOf(name string, id format.ID) (clusterAt, error) {
	notOne := fmt.Errorf("%w: %v names no cluster", ErrNotFound, id)
	if header, err := t.Objects.Header(id); err == nil {
		kind, _, err := format.HeaderKind(header)
		if err != nil || kind != "node" && kind != "summary" && kind != "tombstone" {
			return clusterAt{}, errors.Join(notOne, err)
		}
	}
	var run []format.ID
	if err := t.Members(t.view, id, func(e format.ID) error { run = append(run, e); return nil }); err != nil {
		return clusterAt{}, err
	}
	st, err := t.forestOf(name)
	if err != nil {
		return clusterAt{}, err
	}
	found, err := st.Find(map[format.ID]bool{run[0]: true})
	if err != nil {
		return clusterAt{}, err
	}
	place, ok := found[run[0]]
	if !ok {
		return clusterAt{}, notOne
	}
	at := clusterAt{forest: name, number: place.Cluster, live: st.Cluster(place.Cluster)}
	if err := t.fillCluster(st, &at); err != nil {
		return at, err
	}
	same, err := t.holds(st, &at, place.Offset, run)
	if err == nil && !same {
		err = notOne
	}
	return at, err
}

// fillCluster reads what the forest has of a cluster whose number is known.
func (t *tx) fillCluster(st *forest.State, at *clusterAt) (err error) {
	if at.live != nil {
		at.covers = at.live.Covers
		at.node, err = st.Node(at.live)
		return err
	}
	evicted, err := st.Evicted()
	if err != nil {
		return err
	}
	for _, e := range evicted {
		if e.Cluster != at.number {
			continue
		}
		stone, err := t.Loader().Tombstone(e.Tombstone)
		if err != nil {
			return err
		}
		at.stone, at.node = e.Tombstone, stone.Node
		at.covers = []format.Cover{{Summary: stone.Summary, Count: stone.Count}}
	}
	return nil
}

// holds reports whether a cluster has a run of members at an offset.
func (t *tx) holds(st *forest.State, at *clusterAt, offset uint64, run []format.ID) (bool, error) {
	members, err := t.membersOf(st, at)
	if err != nil || offset+uint64(len(run)) > uint64(len(members)) {
		return false, err
	}
	return slices.Equal(members[offset:offset+uint64(len(run))], run), nil
}

func (t *tx) membersOf(st *forest.State, at *clusterAt) ([]format.ID, error) {
	if at.live != nil {
		return st.Members(at.live)
	}
	var members []format.ID
	err := t.walk(at.node, func(id format.ID) error { members = append(members, id); return nil })
	return members, err
}

// bare makes a cluster live and takes every summary from it that is not interim. A tombstone comes back as it does for whoever takes a member out and
// puts it back.
func (t *tx) bare(at *clusterAt) error {
	st, err := t.forestOf(at.forest)
	if err != nil {
		return err
	}
	if at.live == nil {
		members, err := t.membersOf(st, at)
		if err != nil {
			return err
		}
		last := len(members) - 1
		out := format.Decision{Kind: format.DecideRetract, Cluster: at.number, ID: members[last], Offset: uint64(last)}
		back := out
		back.Kind = format.DecideRestore
		t.cands = nil
		if err := t.decideIn(at.forest, out, back); err != nil {
			return err
		}
		at.live = st.Cluster(at.number)
		return nil
	}
	for _, v := range realCovers(at.live.Covers, 0, at.live.Count()) {
		if err := t.decideIn(at.forest, format.Decision{Kind: format.DecideDrop, Cluster: at.number, ID: v.Summary}); err != nil {
			return err
		}
	}
	return nil
}

// earlier returns the cluster that id names, and the covers that it had before its newest summary, or before the one that id names, with those of its
// present ones that stay.
func (t *tx) earlier(id format.ID) (at clusterAt, covers []format.Cover, err error) {
	if at, err = t.anyCluster(id); err != nil {
		return at, nil, err
	}
	st, err := t.forestOf(at.forest)
	if err != nil {
		return at, nil, err
	}
	members, err := t.membersOf(st, &at)
	if err != nil {
		return at, nil, err
	}
	past := &pastCovers{tx: t, number: at.number, members: members, gone: map[format.ID]bool{}}
	for _, v := range at.covers {
		if !v.Interim {
			past.now = append(past.now, v)
		}
	}
	if i := slices.IndexFunc(past.now, func(v format.Cover) bool { return v.Summary == id }); i >= 0 {
		past.away = &past.now[i]
	}
	var failed error
	err = t.Refs.Backward(t.view, func(r refs.Record) bool {
		for _, f := range r.Op.Forests {
			if f.Name == at.forest && failed == nil {
				effect, _ := refs.EffectOf(r.Op.Verb)
				failed = past.record(effect, f.Decisions)
			}
		}
		return failed == nil && !past.done
	})
	if err := errors.Join(failed, err); err != nil {
		return at, nil, err
	}
	if len(past.found) == 0 {
		return at, nil, fmt.Errorf("%w: cluster %v", ErrNoEarlier, at.node)
	}
	for _, v := range past.now {
		if v != *past.away {
			past.found = append(past.found, v)
		}
	}
	return at, past.found, nil
}

// pastCovers reads the decisions about a cluster backward and finds what covered it before one of its summaries.
type pastCovers struct {
	*tx
	number  uint64
	members []format.ID
	now     []format.Cover // the real covers it has
	away    *format.Cover  // of these the one that goes; nil until it is known
	settled bool           // the decision that put it there was met
	gone    map[format.ID]bool
	found   []format.Cover
	done    bool
}

// record goes back over what an operation decided.
func (p *pastCovers) record(effect refs.Effect, decided []format.Decision) error {
	for _, d := range slices.Backward(decided) {
		if d.Cluster != p.number || p.done {
			continue
		}
		switch {
		case d.Kind == format.DecideRetract:
			// It left, or says something else since: a summary from before knows nothing of that. Where a tombstone was taken back nothing left.
			p.gone[d.ID] = p.gone[d.ID] || !effect.Summarises
		case d.Kind != format.DecideSettle || d.Interim:
		case !p.settled:
			p.settled = p.isNow(d.ID)
		default:
			if err := p.before(d.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// isNow reports whether a decision is the newest about the summary that goes.
func (p *pastCovers) isNow(id format.ID) bool {
	if p.away != nil {
		return p.away.Summary == id
	}
	at := slices.IndexFunc(p.now, func(v format.Cover) bool { return v.Summary == id })
	if at >= 0 {
		p.away = &p.now[at]
	}
	return at >= 0
}

// before takes a summary that was there before, if it fits the cluster as it is. One that was itself replaced by what is taken already ends the search,
// and so does the last one that there was room for.
func (p *pastCovers) before(id format.ID) error {
	v, ok, err := p.fitting(id)
	if err != nil || !ok {
		return err
	}
	for _, f := range p.found {
		if f.Offset < v.Offset+v.Count && v.Offset < f.Offset+f.Count {
			p.done = true
			return nil
		}
	}
	p.found = append(p.found, v)
	left := p.away.Count
	for _, f := range p.found {
		left -= min(left, f.Count)
	}
	p.done = left == 0
	return nil
}

// fitting returns the cover that a summary is, inside the run of the one that goes.
func (p *pastCovers) fitting(id format.ID) (v format.Cover, ok bool, err error) {
	header, _, err := p.text(id)
	var gone *objects.GoneError
	if errors.As(err, &gone) {
		return v, false, nil
	}
	if err != nil {
		return v, false, err
	}
	sum, err := format.DecodeSummary(header)
	if err != nil {
		return v, false, err
	}
	var run []format.ID
	if err := p.walk(sum.Node, func(e format.ID) error { run = append(run, e); return nil }); err != nil {
		return v, false, err
	}
	from, to := p.away.Offset, p.away.Offset+p.away.Count
	at := slices.Index(p.members[from:to], run[0])
	if at < 0 || at+len(run) > int(to-from) || !slices.Equal(p.members[int(from)+at:int(from)+at+len(run)], run) {
		return v, false, nil
	}
	if slices.ContainsFunc(run, func(e format.ID) bool { return p.gone[e] }) {
		return v, false, nil
	}
	return format.Cover{Summary: id, Offset: from + uint64(at), Count: uint64(len(run))}, true, nil
}
